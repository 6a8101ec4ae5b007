"""
Our own documents and tables from files: through the chain, each counted once.
"""

from __future__ import annotations

from pathlib import Path
from zoneinfo import ZoneInfo

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enrich.backfill import ndjson, tsv
from enrich.backfill.files import Source
from enrich.backfill.options import Options
from enrich.backfill.readers import Format
from enrich.backfill.seen import Seen
from enrich.backfill.sink import StoreSink
from enrich.backfill.tally import Rejects, Tally
from leadline.formats import Document
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING
from shipper.writers import TSV

PROCESS: Document = {
    "dataset": "process",
    "@timestamp": "2026-11-01T09:59:30.000Z",
    "sample.time": "2026-11-01T10:00:00.000Z",
    "interval.seconds": 60.0,
    "host.name": "n1",
    "user.name": "alice",
    "process.entity_id": "17-1",
    "process.pid": 17,
    "process.name": "python3",
    "process.command_line": "python3 a\tb\\n.py",
    "cpu.percent": 50.0,
    "memory.rss.bytes": 4096,
    "job.local_id": "7",
    "core_seconds": 30.0,
}


def read(
    kind: Format, path: Path, seen: Path | None = None, cluster: str = "fox"
) -> tuple[MemoryStore, Tally]:
    store = MemoryStore()
    options = Options(cluster=cluster, zone=ZoneInfo("Europe/Oslo"))
    reader = kind.build(StoreSink(store), options, Rejects(None), path.parent)
    with Source(str(path)) as source:
        reader.read(source, Seen(seen), lambda position: None)
    assert reader.tally.adds_up, reader.tally
    return store, reader.tally


def stored(store: MemoryStore, dataset: str = "process") -> list[Document]:
    return [d for batch in store.scan(dataset, EVERYTHING, order=("@timestamp",)) for d in batch]


def test_our_own_documents_pass_the_chain(tmp_path: Path) -> None:
    """
    Programs are named, jobs qualified, what is no document refused; the rest arrives.
    """
    path = tmp_path / "samples"
    path.write_bytes(orjson.dumps(PROCESS) + b"\n{}\n\n" + orjson.dumps(PROCESS) + b"\n")

    store, tally = read(ndjson, path)
    [document] = stored(store)

    assert (tally.read, tally.inserted, tally.duplicate, tally.rejected.total()) == (3, 1, 1, 1)
    assert document["job.id"] == "fox/7"
    assert document["program.name"]
    assert document["local.day"] == "2026-11-01"


def test_a_run_is_stored_with_its_days(tmp_path: Path) -> None:
    """
    From 22:30 to 01:30 in Oslo is two days; that they are in the file, too, changes nothing.
    """
    path = tmp_path / "runs"
    run: Document = {
        "dataset": "job",
        "@timestamp": "2026-11-01T21:00:00.000Z",
        "cluster": "fox",
        "job.id": "fox/7",
        "job.run": "fox/7@1793566800",
        "record.version": 1,
        "job.start": "2026-11-01T21:30:00.000Z",
        "job.end": "2026-11-02T00:30:00.000Z",
        "job.wall.seconds": 10800.0,
        "job.cores": 2,
    }
    path.write_bytes(orjson.dumps(run))

    store, tally = read(ndjson, path)
    days = stored(store, "job_slice")
    path.write_bytes(b"\n".join(orjson.dumps(document) for document in (run, *days)))
    again, _ = read(ndjson, path)

    assert {"2026-11-01": 10800.0, "2026-11-02": 10800.0} == {
        str(day["local.day"]): day["core_seconds_allocated"] for day in days
    }
    assert (tally.read, tally.inserted) == (3, 3)
    assert len(stored(again, "job_slice")) == 2


def test_documents_may_say_their_cluster_themselves(tmp_path: Path) -> None:
    """
    With no cluster named, the record's own holds.
    """
    path = tmp_path / "samples"
    path.write_bytes(orjson.dumps({**PROCESS, "cluster": "wolf"}))

    [document] = stored(read(ndjson, path, cluster="")[0])

    assert document["cluster"] == "wolf"


def test_a_file_that_grew_costs_its_tail(tmp_path: Path) -> None:
    """
    What was read before is skipped, whatever the file is called now.
    """
    path, seen = tmp_path / "samples", tmp_path / "seen"
    first = orjson.dumps(PROCESS) + b"\n"
    path.write_bytes(first)
    read(ndjson, path, seen)
    later = {**PROCESS, "@timestamp": "2026-11-01T10:59:30.000Z"}
    renamed = tmp_path / "samples.1"
    renamed.write_bytes(first + orjson.dumps(later) + b"\n")

    _, tally = read(ndjson, renamed, seen)

    assert (tally.read, tally.inserted, tally.skipped_bytes) == (1, 1, len(first))


def test_the_table_comes_back(tmp_path: Path) -> None:
    """
    What the table says is what was sampled; the span is the time since the host's last snapshot.
    """
    path = tmp_path / "table"
    before = {**PROCESS, "sample.time": "2026-11-01T09:59:00.000Z"}
    path.write_bytes(TSV().head() + b"".join(TSV().lines([before, PROCESS])))

    first, second = stored(read(tsv, path)[0])

    assert "core_seconds" not in first
    names = set(PROCESS) - {"process.entity_id"}
    expected = PROCESS | {"@timestamp": PROCESS["sample.time"]}
    assert {n: second.get(n) for n in names} == {n: expected[n] for n in names}


def test_a_table_in_parts_and_whole_is_the_same(tmp_path: Path) -> None:
    """
    Its parts in turn, and then all of it once more: each snapshot is there once, with its span.
    """
    names = ["time", "host", "user", "cpu", "pid"]
    rows = [[f"2026-11-01T10:{minute:02d}:00Z", "n1", "alice", "50", "7"] for minute in range(4)]
    paths = []
    for name, part in (("1", rows[:2]), ("2", rows[2:]), ("whole", rows)):
        paths.append(tmp_path / name)
        paths[-1].write_text("\n".join("\t".join(row) for row in (names, *part)) + "\n")
    store = MemoryStore()
    reader = tsv.build(
        StoreSink(store),
        Options(cluster="fox", zone=ZoneInfo("Europe/Oslo")),
        Rejects(None),
        tmp_path,
    )

    for path in paths:
        with Source(str(path)) as source:
            reader.read(source, Seen(None), lambda position: None)

    assert [d.get("core_seconds") for d in stored(store)] == [None, 30, 30, 30]
    assert (reader.tally.inserted, reader.tally.unchanged) == (4, 4)


@pytest.mark.parametrize(
    ("column", "value"), [("cpu", "inf"), ("cpu", "-3"), ("time", "noon"), ("pid", "x")]
)
def test_broken_cells_are_refused(tmp_path: Path, column: str, value: str) -> None:
    """
    One broken line does not keep its neighbours out.
    """
    names = ["time", "host", "user", "cpu", "pid"]
    good = ["2026-11-01T10:00:00Z", "n1", "alice", "1.5", "7"]
    broken = [value if name == column else cell for name, cell in zip(names, good, strict=True)]
    path = tmp_path / "table"
    path.write_text("\n".join("\t".join(row) for row in (names, broken, good, good[:2])) + "\n")

    store, tally = read(tsv, path)

    assert (len(stored(store)), tally.rejected.total()) == (1, 2)


def test_both_are_recognised() -> None:
    """
    By content, and neither takes the other's.
    """
    documents, table = orjson.dumps(PROCESS) + b"\n", TSV().head()
    assert [kind.recognise(documents) for kind in (ndjson, tsv)] == [True, False]
    assert [kind.recognise(table) for kind in (ndjson, tsv)] == [False, True]
    assert not any(kind.recognise(b"\x7fELF\n") for kind in (ndjson, tsv))


@settings(max_examples=40, deadline=None)
@given(data=st.lists(st.binary(max_size=60), max_size=8), kind=st.sampled_from(["ndjson", "tsv"]))
def test_arbitrary_lines_add_up(
    tmp_path_factory: pytest.TempPathFactory, data: list[bytes], kind: str
) -> None:
    """
    Each line is counted once; nothing is raised.
    """
    path = tmp_path_factory.mktemp("any") / "file"
    path.write_bytes(b"\n".join([b"time\thost\tuser\tcpu" if kind == "tsv" else b"", *data]))

    read(tsv if kind == "tsv" else ndjson, path)
