"""
sacct --json says the same of a job as sacct -P.
"""

from __future__ import annotations

import os
from pathlib import Path
from zoneinfo import ZoneInfo

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enrich.backfill.files import Source
from enrich.backfill.options import Options
from enrich.backfill.sacct import SacctReader, recognise
from enrich.backfill.seen import Seen
from enrich.backfill.sink import StoreSink
from enrich.backfill.tally import Rejects, Tally
from leadline.errors import FormatError
from leadline.formats import Document
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING

CAPTURES = Path(__file__).parent / "captures" / "slurm-22.05.8"
# Not in the JSON of 22.05, or by name instead of by number.
ELSEWHERE = {"event.ingested", "record.version", "user.id", "job.command_line", "job.cancelled_by"}
ELSEWHERE |= {"job.reservation", "job.name"}  # 22.05 writes a number; -P turns quotes
ELSEWHERE |= {"job.io.write.bytes", "labels"}  # not asked for; rounded to 10 KiB


def read(path: Path) -> tuple[dict[str, Document], Tally]:
    store = MemoryStore()
    options = Options(cluster="fox", zone=ZoneInfo("UTC"))
    reader = SacctReader(StoreSink(store), options, Rejects(None), path.parent)
    with Source(str(path)) as source:
        reader.read(source, Seen(None), lambda position: None)
    assert reader.tally.adds_up, reader.tally
    found = [d for batch in store.scan("job", EVERYTHING, order=("job.run",)) for d in batch]
    return {str(d["job.run"]): d for d in found}, reader.tally


def test_the_same_jobs_as_the_text() -> None:
    """
    Each job of the real dump is, field for field, the one read from sacct -P.
    """
    objects, tally = read(CAPTURES / "sacct.json")
    texts, _ = read(CAPTURES / "sacct_wide.txt")

    assert tally.rejected.total() == 0
    assert len(objects) == 41
    assert objects.keys() <= texts.keys()
    for run, job in objects.items():
        plain = {n: v for n, v in texts[run].items() if n not in ELSEWHERE}
        found = {n: v for n, v in job.items() if n not in ELSEWHERE}
        if job["job.state"] != "COMPLETED" and "job.exit_code" not in job:
            del plain["job.exit_code"]  # 22.05 writes 0 where sacct -P knows better
        if job["job.local_id"] in ("14", "18"):  # separators in their texts: -P cannot tell them
            assert {found.pop("job.comment"), found.pop("job.work_dir")}
        assert found.keys() == plain.keys()
        for name, value in found.items():
            # -P cuts microseconds to milliseconds, and each step's alone.
            same = pytest.approx(plain[name], abs=0.01) if "core_sec" in name else plain[name]
            assert value == same, (run, name)


NEWER = {
    "job_id": 7,
    "user": "alice",
    "account": "ml",
    "partition": "gpu",
    "name": "train",
    "state": {"current": ["CANCELLED", "LAUNCH_FAILED"], "reason": "None"},
    "kill_request_user": "root",
    "array": {"job_id": 4, "task_id": {"set": True, "infinite": False, "number": 3}},
    "exit_code": {
        "status": ["SIGNALED"],
        "return_code": {"set": False, "infinite": False, "number": 0},
        "signal": {"id": {"set": True, "infinite": False, "number": 9}, "name": "Killed"},
    },
    "time": {
        "submission": 1795239957,
        "eligible": 1795239957,
        "start": 1795239959,
        "end": 1795243559,
        "elapsed": 3600,
        "limit": {"set": True, "infinite": True, "number": 0},
        "total": {"seconds": 2721, "microseconds": 5000},
    },
    "tres": {
        "allocated": [
            {"type": "cpu", "name": "", "count": 4},
            {"type": "gres", "name": "gpu:a100", "count": 2},
            {"type": "mem", "name": "", "count": 100},
        ],
        "requested": [{"type": "mem", "name": "", "count": 100}],
    },
    "steps": [{"tres": {"requested": {"total": [{"type": "mem", "count": 4096}]}}}],
}


def write(folder: Path, *jobs: object) -> Path:
    path = folder / "dump"
    path.write_bytes(orjson.dumps({"jobs": jobs, "meta": {"slurm": {"release": "25.11"}}}))
    os.utime(path, (1795250000, 1795250000))
    return path


def test_newer_shapes(tmp_path: Path) -> None:
    """
    Lists of flags and numbers that say whether they are set.
    """
    [job] = read(write(tmp_path, NEWER))[0].values()

    assert (job["job.state"], job["job.cancelled_by"]) == ("CANCELLED", "root")
    assert (job["job.array.id"], job["job.array.task"]) == ("4", "3")
    assert (job["job.exit_code"], job["job.exit_signal"]) == (0, 9)
    assert "job.limit.seconds" not in job
    assert job["job.core_seconds.used"] == pytest.approx(2721.005)
    assert (job["job.cores"], job["job.gpus"], job["gpu.models"]) == (4, 2, ["A100"])
    assert job["job.asked.memory.bytes"] == 100 << 20
    assert job["job.memory.peak.bytes"] == 4096


@pytest.mark.parametrize(
    "broken", [3, {"job_id": 8}, {**NEWER, "time": {"submission": -1}}, {**NEWER, "job_id": True}]
)
def test_a_broken_job_is_refused_alone(tmp_path: Path, broken: object) -> None:
    """
    Its neighbours arrive.
    """
    found, tally = read(write(tmp_path, broken, NEWER))

    assert len(found) == 1
    assert tally.rejected.total() == 1


def test_what_is_no_dump_is_refused(tmp_path: Path) -> None:
    """
    JSON of other kinds, and JSON that breaks off.
    """
    path = tmp_path / "dump"
    for text in ('{"jobs": [{]', '{"meta": {"slurm": {}}}'):
        path.write_text(text)
        with pytest.raises(FormatError, match=r"JSON|jobs"):
            read(path)
    assert recognise((CAPTURES / "sacct.json").read_bytes()[:4096])
    assert not recognise(b'{"dataset": "process"}')


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(NEWER)), JSON)
def test_any_value_anywhere_adds_up(
    tmp_path_factory: pytest.TempPathFactory, name: str, value: object
) -> None:
    """
    A job is a run or refused, whatever one of its values is.
    """
    path = tmp_path_factory.mktemp("any") / "dump"
    path.write_bytes(orjson.dumps({"jobs": [{**NEWER, name: value}], "meta": {"slurm": {}}}))

    _, tally = read(path)

    assert tally.read
