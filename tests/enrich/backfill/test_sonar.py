"""
Sonar's files of all generations, made by hand from what is known of each.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import orjson
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from enrich.backfill.files import PACKED, Source
from enrich.backfill.options import Options
from enrich.backfill.seen import Seen
from enrich.backfill.sink import StoreSink
from enrich.backfill.sonar import build, recognise
from enrich.backfill.sonar_jobs import true_time
from enrich.backfill.tally import Rejects, Tally
from leadline.formats import Document
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING

CASES = sorted((Path(__file__).parent / "cases" / "sonar").iterdir())
DATASETS = ("process", "process_gpu", "node", "gpu", "node_state", "job", "job_slice")
CHANGING = ("event.ingested", "rules.version", "schema.version", "program.rule", "command.shape")


def read(path: Path, store: MemoryStore | None = None) -> tuple[list[Document], Tally]:
    store = store or MemoryStore()
    options = Options(cluster="fox", zone=ZoneInfo("Europe/Oslo"))
    reader = build(StoreSink(store), options, Rejects(None), path.parent)
    with Source(str(path)) as source:
        reader.read(source, Seen(None), lambda position: None)
    assert reader.tally.adds_up, reader.tally
    found = [
        {n: v for n, v in document.items() if n not in CHANGING}
        for name in DATASETS
        for batch in store.scan(name, EVERYTHING, order=("@timestamp",))
        for document in batch
    ]
    return found, reader.tally


def case(name: str, dataset: str = "process") -> list[Document]:
    [folder] = [c for c in CASES if c.name == name]
    return [d for d in read(folder / "input")[0] if d["dataset"] == dataset]


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_golden(folder: Path, request: pytest.FixtureRequest) -> None:
    """
    Each case's documents and counts are what they were, and it is known for what it is.
    """
    found, tally = read(folder / "input")

    made = sorted(orjson.dumps(d, option=orjson.OPT_SORT_KEYS).decode() for d in found)
    lines = [*tally.lines(), *made]
    expected = folder / "expected"
    if request.config.getoption("--update-golden", default=False):
        expected.write_text("\n".join(lines) + "\n")
    assert "\n".join(lines) + "\n" == expected.read_text()
    assert recognise((folder / "input").read_bytes()[:4096])


def test_totals_become_differences() -> None:
    """
    150 s of CPU in five minutes; a total that falls is no difference, the life's average speaks.
    """
    first, second, third = [d for d in case("json_samples") if d.get("job.local_id") == "7"]

    assert "core_seconds" not in first
    assert (second["core_seconds"], second["cpu.percent"]) == (150, 50)
    assert second["io.read.bytes"] == 150 << 10
    assert "io.read.bytes" not in third
    assert third["core_seconds"] == 5
    assert (first["host.name"], first["job.id"]) == ("gpu-2", "fox/7")


def test_sessions_are_of_their_host_and_boot() -> None:
    """
    A number with an epoch is no scheduler's.
    """
    jobs = {d["job.id"] for d in case("json_samples")}

    assert jobs == {"fox/7", "fox/gpu-2/30000000-9"}


def test_early_utilisation_is_scaled() -> None:
    """
    Before 0.16 it was a hundred times too small.
    """
    assert 90.0 in [d["cpu.percent"] for d in case("json_before_0.16")]


def test_the_newest_record_of_a_job_holds() -> None:
    """
    Also when an older one is read later; the limit is in seconds and two, the state has a tail.
    """
    [job] = case("json_jobs_sent_again", "job")

    assert (job["job.state"], job["job.cancelled_by"]) == ("CANCELLED", "2101037")
    assert job["job.limit.seconds"] == 1209600
    assert (job["job.cores"], job["job.gpus"], job["job.source"]) == (4, 1, "sonar")
    assert job["job.memory.peak.bytes"] == 2048 << 10


def test_reading_again_changes_nothing(tmp_path: Path) -> None:
    """
    Every document's key is the same, and those that are replaced are compared by content.
    """
    store = MemoryStore()
    path = tmp_path / "all"
    path.write_bytes(b"".join((folder / "input").read_bytes() for folder in CASES))
    first, _ = read(path, store)

    again, tally = read(path, store)

    assert again == first
    assert (tally.inserted, tally.updated) == (0, 0)
    assert tally.unchanged == len(first)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.binary(max_size=40)
        | st.sampled_from(
            [line for folder in CASES for line in (folder / "input").read_bytes().splitlines()]
        ),
        max_size=8,
    )
)
def test_arbitrary_lines_add_up(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    """
    Whatever stands in a file, nothing is raised and each document counted once.
    """
    path = tmp_path_factory.mktemp("any") / "file"
    text = b"\n".join(lines) + b"\n#"
    assume(not text.startswith(tuple(PACKED)))
    path.write_bytes(text)

    read(path)


def test_lookalikes_are_not_recognised() -> None:
    """
    Neither other JSON nor other tables.
    """
    for head in (b"", b"\x7fELF", b"a,b,c\n1,2,3\n", b'{"dataset": "process"}', b"a=1,b=2\n"):
        assert not recognise(head)


@pytest.mark.parametrize(
    ("written", "told", "expected"),
    [
        ("2026-10-20T10:00:00+01:00", "2026-11-01T10:00:00+01:00", "2026-10-20T10:00:00+02:00"),
        ("2026-11-01T09:00:00+01:00", "2026-11-01T10:00:00+01:00", "2026-11-01T09:00:00+01:00"),
        ("2026-10-20T10:00:00+02:00", "2026-11-01T10:00:00+01:00", "2026-10-20T10:00:00+02:00"),
        ("2026-10-20T10:00:00Z", "2026-11-01T10:00:00Z", "2026-10-20T10:00:00Z"),
        ("2026-10-20T10:00:00", "2026-11-01T10:00:00+01:00", "2026-10-20T10:00:00"),
    ],
)
def test_clocks_that_were_changed_since(written: str, told: str, expected: str) -> None:
    """
    sacct's local times get the offset of the day they are sent on; it is taken back where wrong.
    """
    found = true_time(written, datetime.fromisoformat(told), ZoneInfo("Europe/Oslo"))

    assert found == expected
