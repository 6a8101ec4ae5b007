"""
What is no record, or no record any more, in each format: refused with its reason, the rest is read.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

import orjson
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from enrich.backfill.files import Source
from enrich.backfill.options import Options
from enrich.backfill.readers import FORMATS
from enrich.backfill.seen import Seen
from enrich.backfill.sink import StoreSink
from enrich.backfill.tally import Rejects, Tally
from leadline.errors import FormatError
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING

HERE = Path(__file__).parent
FOREIGN = b"date,temperature,town\n2026-11-01,7,Oslo\n2026-11-02,6,Bergen\n"
BINARY = bytes(range(256)) * 64


@dataclass(frozen=True, slots=True)
class Kind:
    """
    A file's beginning, and a record of it by its number, its start, its end and its CPU time.
    """

    head: bytes
    record: Callable[[int, str, str, str], bytes]
    starts: bool = True  # its records have a start and an end


def _sge(number: int, start: str, end: str, cpu: str) -> bytes:
    zeros = ":".join(["0"] * 18)
    record = f"main.q:vm:erin:erin:a:{number}:sge:0:{start}:{start}:{end}:0:0:{zeros}"
    return f"{record}:geo:dep:NONE:1:0:{cpu}:0:0:NONE:0:NONE:0:0:0\n".encode()


def _sacct(number: int, start: str, end: str, cpu: str) -> bytes:
    return f"{number}|{number}|COMPLETED|{start}|{start}|{end}|{cpu}|2|erin\n".encode()


def _json(number: int, start: str, end: str, cpu: str) -> bytes:
    """
    A job of Sonar's.
    """
    job = f'"job_id":{number},"job_state":"COMPLETED","submit_time":"{start}","user_name":"erin"'
    times = f'"start_time":"{start}","end_time":"{end}","sacct":{{"UserCPU":{cpu}}}'
    body = f'"time":"2026-11-02T10:00:00Z","slurm_jobs":[{{{job},{times}}}]'
    return f'{{"meta":{{}},"data":{{"type":"job","attributes":{{{body}}}}}}}\n'.encode()


def _ndjson(number: int, start: str, end: str, cpu: str) -> bytes:
    fields = f'"host.name":"n1","process.entity_id":"{number}-1","core_seconds":{cpu}'
    return f'{{"dataset":"process","@timestamp":"{start}",{fields}}}\n'.encode()


def _tsv(number: int, start: str, end: str, cpu: str) -> bytes:
    return f"{start}\tn1\terin\t{cpu}\t{number}\n".encode()


KINDS = {
    "sge": Kind(b"# Version: 8.1.9\n", _sge),
    "sacct": Kind(b"JobIDRaw|JobID|State|Submit|Start|End|TotalCPU|AllocCPUS|User\n", _sacct),
    "sonar": Kind(b"", _json),
    "ndjson": Kind(b"", _ndjson, starts=False),
    "tsv": Kind(b"time\thost\tuser\tcpu\tpid\n", _tsv, starts=False),
}
WRITTEN = {  # 2026-11-01T10:00:00Z and an hour later, as each writes it
    "sge": ("1793527200", "1793530800"),
    "sacct": ("2026-11-01T10:00:00", "2026-11-01T11:00:00"),
}
USUAL = ("2026-11-01T10:00:00Z", "2026-11-01T11:00:00Z")
LATE = {
    "sge": ("2300000000", "2300003600"),
    "sacct": ("2042-11-19T11:33:20", "2042-11-19T12:33:20"),
}
USUALLY_LATE = ("2042-11-19T11:33:20Z", "2042-11-19T12:33:20Z")
AGES_AGO = {"sge": "86400", "sacct": "1970-01-02T00:00:00"}


def read(name: str, path: Path) -> tuple[int, Tally]:
    """
    How many documents are of runs or processes, and what was counted.
    """
    store = MemoryStore()
    options = Options(cluster="fox", zone=ZoneInfo("Europe/Oslo"))
    reader = FORMATS[name].build(StoreSink(store), options, Rejects(None), path.parent)
    try:
        with Source(str(path)) as source:
            reader.read(source, Seen(None), lambda position: None)
    finally:
        reader.close()
    assert reader.tally.adds_up, reader.tally
    found = ("job", "process")
    return sum(len(b) for each in found for b in store.scan(each, EVERYTHING)), reader.tally


def good(name: str, number: int) -> bytes:
    start, end = WRITTEN.get(name, USUAL)
    return KINDS[name].record(number, start, end, "1.5")


def between(name: str, broken: bytes) -> bytes:
    return KINDS[name].head + good(name, 1) + broken + good(name, 2)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(BINARY.replace(b"\n", b"") + b"\n", id="binary"),
        pytest.param(b"a\0b\0c:d|e\tf\n", id="NUL"),
        pytest.param(b"\xff\xfe:|\t\xc3(\n", id="no UTF-8"),
        pytest.param(b"x" * (10 << 20) + b"\n", id="10 MB"),
        pytest.param(FOREIGN, id="foreign CSV"),
    ],
)
def test_lines_of_something_else(name: str, broken: bytes, tmp_path: Path) -> None:
    """
    Records before and after them are read, and they are counted as refused.
    """
    path = tmp_path / "file"
    path.write_bytes(between(name, broken))

    found, tally = read(name, path)

    assert found == 2, tally
    assert tally.rejected.total() >= 1
    assert all(reason.strip() for reason in tally.rejected)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("cpu", ["inf", "nan", "NaN", "-inf", "-5", "1e400"])
def test_figures_that_are_none(name: str, cpu: str, tmp_path: Path) -> None:
    """
    Not finite, or negative: refused by name, or left out of a record that is good else.
    """
    start, end = WRITTEN.get(name, USUAL)
    path = tmp_path / "file"
    path.write_bytes(between(name, KINDS[name].record(3, start, end, cpu)))

    found, tally = read(name, path)

    assert found + tally.rejected.total() >= 3, tally
    assert found >= 2


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.starts])
def test_an_end_before_the_start(name: str, tmp_path: Path) -> None:
    """
    Refused with that reason.
    """
    start, end = WRITTEN.get(name, USUAL)
    path = tmp_path / "file"
    path.write_bytes(between(name, KINDS[name].record(3, end, start, "1")))

    found, tally = read(name, path)

    assert (found, tally.rejected.total()) == (2, 1)
    assert "end before" in str(tally.rejected)


@pytest.mark.parametrize("name", KINDS)
def test_years_far_away(name: str, tmp_path: Path) -> None:
    """
    After 2038 is a time like any other; 1970 is a clock that was never set.
    """
    start, end = LATE.get(name, USUALLY_LATE)
    path = tmp_path / "file"
    path.write_bytes(between(name, KINDS[name].record(3, start, end, "1")))
    assert read(name, path)[0] == 3

    if name in AGES_AGO:
        ago = AGES_AGO[name]
        path.write_bytes(between(name, KINDS[name].record(3, ago, end, "1")))
        found, tally = read(name, path)
        assert (found, [*tally.rejected]) == (2, [next(iter(tally.rejected))])
        assert "1990" in str(tally.rejected)


@pytest.mark.parametrize("name", KINDS)
def test_a_packed_file_that_was_cut(name: str, tmp_path: Path) -> None:
    """
    What could be unpacked is read; where nothing could, the reason is said.
    """
    records = b"".join(good(name, number) for number in range(1, 20_000))
    packed = gzip.compress(KINDS[name].head + records)
    path = tmp_path / "file.gz"
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(FormatError, match=r"broken gzip"):
        read(name, path)

    path.write_bytes(packed[:20])
    with pytest.raises(FormatError, match=r"broken gzip"):
        read(name, path)


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@example(pieces=[b"\r\n", b"\r", b"\n\n"])
@given(
    pieces=st.lists(
        st.binary(max_size=30)
        | st.text(max_size=20).map(str.encode)
        | st.sampled_from([b"\n", b"\r\n", b"\0", b":" * 44, b"|" * 9, b"{}", b"[", b"#", b"\t"]),
        max_size=8,
    )
)
def test_anything_at_all(
    name: str, tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes]
) -> None:
    """
    Nothing but FormatError is raised, and what is counted adds up.
    """
    path = tmp_path_factory.mktemp("any") / "file"
    path.write_bytes(between(name, b"".join(pieces) + b"\n"))
    with suppress(FormatError):
        read(name, path)


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_a_record_with_something_else_in_it(
    name: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """
    A good record into which anything was put in place of any part.
    """
    record = good(name, 3)
    at = data.draw(st.integers(0, len(record)))
    to = data.draw(st.integers(at, len(record)))
    middle = data.draw(
        st.binary(max_size=12) | st.sampled_from([b"-1", b"1e99", b"nan", b"9" * 40])
    )
    path = tmp_path_factory.mktemp("any") / "file"
    path.write_bytes(between(name, record[:at] + middle + record[to:]))
    with suppress(FormatError):
        read(name, path)


@pytest.mark.parametrize("name", ["sge", "sacct"])
@pytest.mark.parametrize("huge", [b"1e20", b"9" * 18, b"1e308", b"inf", b"-1e20"])
def test_a_number_that_is_too_big_costs_its_record_only(
    name: str, huge: bytes, tmp_path: Path
) -> None:
    """
    In whatever field it stands, the records around it are read.
    """
    separator = b":" if name == "sge" else b"|"
    fields = good(name, 3).rstrip(b"\n").split(separator)
    others = [
        separator.join([*fields[:place], huge, *fields[place + 1 :]]) + b"\n"
        for place in range(len(fields))
    ]
    path = tmp_path / "file"
    path.write_bytes(between(name, b"".join(others)))
    documents, _ = read(name, path)
    assert documents >= 2


@pytest.mark.parametrize("data", [b"", BINARY, FOREIGN, b"\n\n", b"# only a comment\n"])
def test_files_of_nobody_are_not_recognised(data: bytes) -> None:
    """
    No format takes an empty file, a binary, or somebody's table for its own.
    """
    assert [name for name, kind in FORMATS.items() if kind.recognise(data)] == []


def test_a_dump_in_json_that_is_none(tmp_path: Path) -> None:
    """
    Broken, cut, or of another shape: one line says it.
    """
    path = tmp_path / "dump"
    whole = orjson.dumps({"jobs": [], "meta": {"slurm": {}}})
    for data in (whole[:-3], b'{"meta": {"slurm": {}}, "jobs": 3}', b'{"jobs": [' + b"[" * 100_000):
        path.write_bytes(data)
        with pytest.raises(FormatError):
            read("sacct", path)
