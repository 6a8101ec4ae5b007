"""
What sacct's words mean.
"""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from leadline.errors import FormatError
from leadline.formats.sacct import (
    asked_memory,
    duration,
    exit_of,
    gpus,
    instant,
    measured,
    memory_peak,
    place,
    size,
    state,
)

OSLO = ZoneInfo("Europe/Oslo")


def test_values() -> None:
    """
    Times, durations, sizes and TRES as Slurm writes them.
    """
    assert duration("2-03:04:05") == 183845
    assert duration("45:21.005") == pytest.approx(2721.005)
    assert size("384G") == 384 << 30
    assert size("317032K") == 317032 << 10
    assert gpus("gres/gpu=4,gres/gpu:a100=4") == (4, ["A100"])
    assert gpus("gres/gpu:a100=1,gres/gpu:v100=2") == (3, ["A100", "V100"])
    assert state("CANCELLED by 17") == ("CANCELLED", "17")
    assert instant("2026-07-01T12:00:00", OSLO) == instant("2026-07-01T12:00:00+02:00", OSLO)
    assert instant("2026-12-01T12:00:00", OSLO) == instant("2026-12-01T12:00:00+01:00", OSLO)


def test_what_was_not_measured() -> None:
    """
    A step killed at once has 0, and `16?` is 2^64 - 1: neither is a peak.
    """
    assert [measured(text) for text in ("0", "16?", "16E", "", "3204K")] == [None] * 4 + [
        3204 << 10
    ]


def test_memory_of_the_largest_step() -> None:
    """
    All its tasks' total; the largest task's only where it is the only one.
    """
    one = {"NTasks": "1", "MaxRSS": "500M"}
    two = {"NTasks": "2", "MaxRSS": "900M"}
    total = {"NTasks": "2", "MaxRSS": "900M", "TRESUsageInTot": "cpu=1,mem=1500M"}

    assert memory_peak([one, two]) == (500 << 20, "task")
    assert memory_peak([one, total]) == (1500 << 20, "step")
    assert memory_peak([]) == (None, None)


def test_memory_asked_for() -> None:
    """
    384G for the whole run, however many nodes; of old 4Gc for each core and 4Gn for each node.
    """
    run = {"ReqCPUS": "8", "NNodes": "2"}

    assert asked_memory({**run, "ReqTRES": "cpu=8,mem=384G", "ReqMem": "4Gn"}) == 384 << 30
    assert asked_memory({**run, "ReqMem": "384G"}) == 384 << 30
    assert asked_memory({**run, "ReqMem": "4Gc"}) == 32 << 30
    assert asked_memory({**run, "ReqMem": "4Gn"}) == 8 << 30
    assert asked_memory(run) is None


def test_arrays_and_parts() -> None:
    """
    4_3 is a task, 19+1 a part, 4_[5-9] tasks that wait.
    """
    assert place({"JobID": "4_3"}) == {"job.array.id": "4", "job.array.task": "3"}
    assert place({"JobID": "19+1"}) == {"job.het.id": "19", "job.het.offset": 1}
    assert place({"JobID": "4_[5-9]"}) == {}
    assert exit_of({"ExitCode": "0:9"}) == {"job.exit_code": 0, "job.exit_signal": 9}
    assert exit_of({"ExitCode": ""}) == {}


@example("²")
@example("gres/gpu:a100=x")
@given(st.text(max_size=30))
def test_any_text(text: str) -> None:
    """
    A value or FormatError, nothing else.
    """
    for read in (duration, size, lambda word: instant(word, OSLO), gpus):
        try:
            read(text)
        except FormatError as error:
            assert str(error)  # noqa: PT017 - most texts raise nothing
    row = dict.fromkeys(("ReqMem", "NNodes", "JobID", "ExitCode"), text)
    assert asked_memory(row) is None or asked_memory(row)
    assert isinstance(place(row) | exit_of(row), dict)
