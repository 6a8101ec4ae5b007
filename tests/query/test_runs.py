"""
Samples told apart by what only the scheduler knows of their run.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from leadline.chores.rollup import roll_up
from leadline.errors import NotAllowedError, QuestionError
from leadline.formats import Document
from leadline.store.contract import Store
from leadline.store.scope import Scope
from tests.any_store import STORES
from tests.query.conftest import ZONE, answer, sample, stored
from tests.query.test_accounted import run


def ran(number: int, state: str, cores: int, day: str = "2026-11-20") -> Document:
    made = run(number, f"{day}T08:00", f"{day}T09:00", f"{day}T20:00")
    return {**made, "job.state": state, "job.cores": cores, "job.run": f"fox/{number}@1"}


def of_run(number: int, of: int | None, program: str, *tags: str) -> Document:
    known: Document = {} if of is None else {"job.run": f"fox/{of}@1"}
    tagged: Document = {"program.tags": sorted(tags)} if tags else {}
    return sample(number, **{"program.name": program, "user.name": program[0]}, **known, **tagged)


DOCUMENTS = [
    ran(1, "COMPLETED", 1),
    ran(2, "FAILED", 64),
    ran(3, "FAILED", 4, "2026-11-10"),  # long over: nothing of it can be in the period
    of_run(1, 1, "VASP", "mpi"),
    of_run(2, 2, "VASP", "mpi", "gpu"),
    of_run(3, 2, "GROMACS", "gpu"),
    of_run(4, 3, "GROMACS"),
    of_run(5, 9, "VASP"),  # never accounted
    of_run(6, None, "bash"),
]


@STORES
def test_by_state_and_program(other: Store) -> None:
    """
    Core hours by program and end state; samples of no accounted run are a row of their own.
    """
    assert not other.write(DOCUMENTS, "replace").rejected
    found = answer(other, "core_hours_used, memory_mean by program, state during 2026-11-20")
    assert {
        ("VASP", "COMPLETED"): 1.0,
        ("VASP", "FAILED"): 1.0,
        ("GROMACS", "FAILED"): 1.0,
        ("GROMACS", None): 1.0,
        ("VASP", None): 1.0,
        ("bash", None): 1.0,
    } == {(row["program"], row["state"]): row["core_hours_used"] for row in found.rows}
    assert 6.0 == found.total["core_hours_used"]
    assert not found.multiple
    by_size = answer(other, "samples, users by size during 2026-11-20")
    assert [("1 core", 1, 1), ("17–64", 2, 2), ("unknown", 3, 3)] == [
        (by_size.label("size", row["size"]), row["samples"], row["users"]) for row in by_size.rows
    ]
    daily = answer(other, "samples by size per day during 2026-11-19..2026-11-20")
    assert [1, 2, 3] == sorted(row["samples"] for row in daily.rows)  # type: ignore[type-var]


@STORES
def test_others_beside_tags(other: Store) -> None:
    """
    A sample with two tags is in two rows; others are what no shown row has.
    """
    other.write(DOCUMENTS, "replace")
    found = answer(other, "samples by tag, state during 2026-11-20 top 2")
    assert [(None, None, 3), ("gpu", "FAILED", 2)] == [tuple(row.values()) for row in found.rows]
    assert ({"samples": 1}, {"samples": 6}) == (found.others, found.total)


@STORES
def test_filters_by_run(other: Store) -> None:
    """
    Samples of failed runs; with != all others, those of no run too.
    """
    other.write(DOCUMENTS, "replace")
    for where, count in (
        ("state=FAILED", 2),
        ("state!=FAILED", 4),
        ("state=F*|COMPLETED", 3),
        ('size="17-64", program=VASP', 1),
        ("state=TIMEOUT", 0),
    ):
        found = answer(other, f"samples where {where} during 2026-11-20")
        assert count == found.total["samples"], where
    with pytest.raises(QuestionError, match="ask `by state`"):
        answer(other, "samples where state=(none) during 2026-11-20")


@STORES
def test_usage_knows_runs_too(other: Store) -> None:
    """
    Hourly usage answers it once samples have gone.
    """
    taken = {"event.ingested": "2026-11-20T12:00:00.000Z"}
    other.write([{**d, **taken} for d in DOCUMENTS], "replace")
    roll_up(other, datetime(2026, 11, 21, 9, tzinfo=UTC), lambda cluster: ZONE)
    found = answer(other, "core_hours_used by state during 2026-11-20")
    assert {"COMPLETED": 1.0, "FAILED": 2.0, None: 3.0} == {
        row["state"]: row["core_hours_used"] for row in found.rows
    }


def test_control_groups_by_user() -> None:
    """
    Control groups name the run, accounts name whose it was.
    """
    counted = {
        k: v
        for k, v in of_run(1, 1, "VASP").items()
        if not k.startswith(("program", "user", "pro"))
    }
    store = stored([*DOCUMENTS, {**counted, "dataset": "job_cgroup", "job.local_id": "1"}])
    found = answer(store, "core_hours_counted by user during 2026-11-20 top 1")
    assert [{"user": "alice", "core_hours_counted": 1.0}] == list(found.rows)


def test_what_does_not_add_up_is_refused() -> None:
    """
    A median of samples by state is not made of medians; who sees totals only sees no runs.
    """
    store = stored(DOCUMENTS)
    with pytest.raises(QuestionError, match="by state: samples only name their run"):
        answer(store, "memory_median by state during all")
    with pytest.raises(NotAllowedError):
        answer(store, "samples by state during all", Scope(totals_only=True))
