"""
Grid Engine's accounting: golden cases, made by real daemons or by hand, and files that grow.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from zoneinfo import ZoneInfo

import orjson
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from enrich.backfill.files import PACKED, Source
from enrich.backfill.options import Options
from enrich.backfill.seen import Seen
from enrich.backfill.sge import SgeReader, recognise
from enrich.backfill.sge_lines import FIELDS, read_record
from enrich.backfill.sink import LakeSink, StoreSink
from enrich.backfill.tally import Rejects, Tally
from leadline.errors import FormatError
from leadline.formats.validate import check
from leadline.store.contract import Store
from leadline.store.lake import LakeStore
from leadline.store.memory import MemoryStore
from leadline.store.plan import Aggregate, Function, Group, Plan
from leadline.store.scope import EVERYTHING

CASES = sorted((Path(__file__).parent / "cases" / "sge").iterdir())
REAL = Path(__file__).parent / "cases" / "sge" / "8.1.9_real_jobs" / "input"
REAL_LINES = REAL.read_bytes().splitlines()
REAL_RUNS = {line for line in REAL_LINES if line[:1] != b"#" and b":1.localhost:" not in line}
OSLO = Options(cluster="fox", zone=ZoneInfo("Europe/Oslo"))


def import_file(
    store: Store, path: Path, seen: Path | None = None, options: Options = OSLO
) -> Tally:
    sink = LakeSink(store) if isinstance(store, LakeStore) else StoreSink(store)
    rejects = Rejects(path.with_name("rejects"))
    reader = SgeReader(sink, options, rejects, path.parent)
    with Source(str(path)) as source:
        reader.read(source, Seen(seen))
    reader.close()
    rejects.close()
    assert reader.tally.adds_up, reader.tally
    return reader.tally


def stored(store: Store, dataset: str) -> list[dict[str, object]]:
    order = ("@timestamp", "job.run", "local.day")
    found = [d for batch in store.scan(dataset, EVERYTHING, order=order) for d in batch]
    for document in found:
        del document["event.ingested"]
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_golden(case: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """
    Each case's jobs, slices, counts and refused lines are what they were.
    """
    store = MemoryStore()
    path = tmp_path / "input"
    path.write_bytes((case / "input").read_bytes())

    tally = import_file(store, path)

    refused = tmp_path / "rejects"
    reasons = [
        line.decode("utf-8", "replace").removeprefix(f"# {path}:")
        for line in (refused.read_bytes().split(b"\n") if refused.exists() else [])
        if line.startswith(b"# /")
    ]
    lines = [*tally.lines(), *reasons]
    lines += [orjson.dumps(d).decode() for d in stored(store, "job")]
    lines += [orjson.dumps(d).decode() for d in stored(store, "job_slice")]
    expected = case / "expected"
    if request.config.getoption("--update-golden", default=False):
        expected.write_text("\n".join(lines) + "\n")
    assert "\n".join(lines) + "\n" == expected.read_text()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_document_is_valid(case: Path, tmp_path: Path) -> None:
    """
    What SQL makes is what the gate lets pass, and a day's hours add up to its seconds.
    """
    store = MemoryStore()
    path = tmp_path / "input"
    path.write_bytes((case / "input").read_bytes())
    import_file(store, path)

    for document in stored(store, "job") + stored(store, "job_slice"):
        assert check(dict(document)) == document
    slices = stored(store, "job_slice")
    walls: dict[object, float] = {}
    for day in slices:
        hours = day["hours"]
        assert isinstance(hours, dict)
        seconds = float(str(day["wall.seconds"]))
        assert sum(hours.values()) == seconds
        walls[day["job.run"]] = walls.get(day["job.run"], 0) + seconds
    jobs = {d["job.run"]: d.get("job.wall.seconds", 0) for d in stored(store, "job")}
    assert walls == {run: wall for run, wall in jobs.items() if wall}


def test_lake_and_memory_hold_the_same(tmp_path: Path) -> None:
    """
    The bulk way into the lake stores what goes through any store's contract.
    """
    lake, memory = LakeStore(tmp_path / "lake"), MemoryStore()
    path = tmp_path / "input"
    path.write_bytes(b"".join((case / "input").read_bytes() for case in CASES))

    import_file(lake, path)
    import_file(memory, path)

    assert stored(lake, "job") == stored(memory, "job")
    assert stored(lake, "job_slice") == stored(memory, "job_slice")
    lake.close()


def test_sums_are_those_of_qacct(tmp_path: Path) -> None:
    """
    CPU seconds by owner as the real qacct 8.1.9 printed them for the same file.
    """
    lake = LakeStore(tmp_path / "lake")
    path = tmp_path / "input"
    path.write_bytes(REAL.read_bytes())
    import_file(lake, path)

    rows = lake.ask(
        Plan(
            "job",
            (Aggregate("cpu", Function.SUM, "job.core_seconds.used"),),
            by=(Group("user.name"),),
        ),
        EVERYTHING,
    )

    assert {row["user.name"]: round(float(str(row["cpu"])), 3) for row in rows} == {
        "dave": 0.150,
        "erin": 2.894,
    }
    lake.close()


def test_reading_again_changes_nothing(tmp_path: Path) -> None:
    """
    A known file is skipped; read whole, each of its runs is unchanged.
    """
    lake = LakeStore(tmp_path / "lake")
    path, seen = tmp_path / "input", tmp_path / "seen"
    path.write_bytes(REAL.read_bytes())
    first = import_file(lake, path, seen)
    version = lake.table("job").version()

    known, whole = import_file(lake, path, seen), import_file(lake, path)

    assert (known.read, known.skipped_bytes) == (0, path.stat().st_size)
    assert (whole.inserted, whole.updated, whole.unchanged) == (0, 0, first.inserted)
    assert lake.table("job").version() == version
    lake.close()


@pytest.mark.parametrize("cut", [0, 100, 900, 2500, 5000])
def test_a_file_that_grew_costs_its_tail(tmp_path: Path, cut: int) -> None:
    """
    Only what was added is read, also under another name and inode; the result is the same.
    """
    lake = LakeStore(tmp_path / "lake")
    whole, seen = REAL.read_bytes(), tmp_path / "seen"
    cut = whole.rfind(b"\n", 0, cut) + 1
    path, renamed = tmp_path / "accounting", tmp_path / "accounting.1"
    path.write_bytes(whole[:cut])
    if cut:
        import_file(lake, path, seen)
    path.unlink()
    renamed.write_bytes(whole)

    tally = import_file(lake, renamed, seen)

    assert tally.skipped_bytes == cut
    assert len(stored(lake, "job")) == 21
    lake.close()


def test_a_changed_head_is_read_whole_and_doubles_nothing(tmp_path: Path) -> None:
    """
    A file that was rotated or cut is another file; runs it shares with the old one stay single.
    """
    lake = LakeStore(tmp_path / "lake")
    path, seen = tmp_path / "accounting", tmp_path / "seen"
    lines = REAL.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines))
    import_file(lake, path, seen)
    path.write_bytes(b"".join(lines[10:]))

    tally = import_file(lake, path, seen)

    assert (tally.inserted, tally.skipped_bytes) == (0, 0)
    assert len(stored(lake, "job")) == 21
    lake.close()


def test_a_slave_waits_for_its_master(tmp_path: Path) -> None:
    """
    A run whose hosts' records came before the import ended is whole after the next one.
    """
    lake = LakeStore(tmp_path / "lake")
    case = next(case for case in CASES if case.name == "one_line_for_each_host")
    lines = (case / "input").read_bytes().splitlines(keepends=True)
    path, seen = tmp_path / "accounting", tmp_path / "seen"
    path.write_bytes(b"".join(lines[:2]))
    early = import_file(lake, path, seen)
    path.write_bytes(b"".join(lines))

    late = import_file(lake, path, seen)

    assert (early.inserted, early.waiting) == (0, 2)
    assert (late.inserted, late.merged, late.waiting) == (1, 2, 0)
    [run] = stored(lake, "job")
    assert run["job.nodes"] == ["n1", "n2", "n3"]
    assert run["job.core_seconds.used"] == pytest.approx(410.75)
    assert run["job.core_seconds.allocated"] == 800
    lake.close()


def test_mended_rejects_can_be_read_back(tmp_path: Path) -> None:
    """
    The rejects file is a file of the same format: comments say what was wrong.
    """
    store = MemoryStore()
    path = tmp_path / "accounting"
    good = REAL.read_bytes().splitlines()[4]
    path.write_bytes(good.replace(b":1795239781:", b":17952397x1:") + b"\n")
    import_file(store, path)
    rejects = tmp_path / "rejects"
    mended = tmp_path / "mended"
    mended.write_bytes(rejects.read_bytes().replace(b"17952397x1", b"1795239781"))

    tally = import_file(store, mended)

    assert (tally.read, tally.inserted) == (1, 1)


def test_only_the_time_asked_for(tmp_path: Path) -> None:
    """
    Runs that ended outside are counted and left out.
    """
    store = MemoryStore()
    path = tmp_path / "input"
    path.write_bytes(REAL.read_bytes())
    options = Options(cluster="fox", zone=ZoneInfo("UTC"), since=1795239790, until=1795239800)

    tally = import_file(store, path, options=options)

    ends = {str(d.get("job.end")) for d in stored(store, "job")}
    assert tally.outside > 0
    assert min(ends) >= "2026-11-21T05:43:10"
    assert max(ends) < "2026-11-21T05:43:20"


def test_accounting_is_recognised_by_content() -> None:
    """
    Whatever the file is called.
    """
    assert recognise(REAL.read_bytes()[:4096])
    assert not recognise(b"time,host,cores\n1,2,3\n")
    assert not recognise(b"\x7fELF\x02\x01")
    assert not recognise(b"")


@given(st.binary(max_size=300))
def test_arbitrary_lines_raise_format_errors_only(line: bytes) -> None:
    """
    Whatever a line holds, it is a record, a comment or refused.
    """
    try:
        record = read_record(line)
    except FormatError:
        return
    assert record is None or len(record) == FIELDS


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.binary(max_size=60) | st.sampled_from(REAL.read_bytes().splitlines()), max_size=20)
)
def test_arbitrary_files_add_up(lines: list[bytes]) -> None:
    """
    Each line of any file is counted in exactly one place; real records among the noise arrive.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        text = b"\n".join(lines) + b"\n"
        assume(not text.startswith(tuple(PACKED)))
        path.write_bytes(text)
        store = MemoryStore()
        import_file(store, path)
        runs = REAL_RUNS & set(path.read_bytes().split(b"\n"))
        assert len(stored(store, "job")) >= len(runs)


def test_following_through_rotation_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """
    Read while it grows, line by line and half a line, renamed, begun anew: each run once.
    """
    lake = LakeStore(tmp_path / "lake")
    options = Options(cluster="fox", zone=ZoneInfo("UTC"), whole=False)
    path, old, seen = tmp_path / "accounting", tmp_path / "accounting.0", tmp_path / "seen"
    lines = REAL.read_bytes().splitlines(keepends=True)
    for written in (lines[:8], [*lines[:9], lines[9][:40]], lines[:12]):
        path.write_bytes(b"".join(written))
        import_file(lake, path, seen, options)
    path.write_bytes(b"".join(lines[:15]))
    path.rename(old)
    path.write_bytes(b"".join([*lines[:4], *lines[15:]]))

    for name in (path, old):
        import_file(lake, name, seen, options)

    assert len(stored(lake, "job")) == 21
    lake.close()
