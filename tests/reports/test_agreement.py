"""
Samples and accounting of the same runs, side by side.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from leadline.formats import Document
from leadline.formats.times import parse_time
from leadline.reports.agreement import Agreement, agreement
from leadline.store.contract import Store
from leadline.store.lake import LakeStore
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING
from tests.store import documents

START, END = parse_time("2026-11-21T00:00:00.000Z"), parse_time("2026-11-22T00:00:00.000Z")


@pytest.fixture(params=["memory", "lake"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened: Store = MemoryStore() if request.param == "memory" else LakeStore(tmp_path / "lake")
    yield opened
    opened.close()


def sample(number: int, job: str, seconds: float = 1800.0) -> Document:
    return documents.process(number, **{"job.id": job, "core_seconds": seconds})


def run(number: int, more: Document | None = None, used: float | None = 7200.0) -> Document:
    accounted = {} if used is None else {"job.core_seconds.used": used}
    return documents.job(
        number,
        **{
            "job.id": f"fox/{number}",
            "job.start": "2026-11-21T04:00:00.000Z",
            "job.end": "2026-11-21T05:00:00.000Z",
            "job.wall.seconds": 3600.0,
            **accounted,
            **(more or {}),
        },
    )


def compared(store: Store, *found: Document) -> Agreement:
    samples = [document for document in found if document["dataset"] == "process"]
    assert store.write(samples, "create").accepted == len(samples)
    runs = [document for document in found if document["dataset"] == "job"]
    assert store.write(runs, "replace").accepted == len(runs)
    [answer] = agreement(store, EVERYTHING, START, END)
    return answer


def test_the_same_jobs_are_compared(store: Store) -> None:
    """
    3 of 4 core hours were seen in samples; the job that is furthest apart comes first.
    """
    answer = compared(
        store,
        *(sample(number, "fox/1") for number in range(4)),
        *(sample(number, "fox/2") for number in range(4, 6)),
        run(1),
        run(2),
    )

    assert (answer.jobs, answer.sampled, answer.accounted, answer.share) == (2, 3.0, 4.0, 0.75)
    assert [one.job for one in answer.worst] == ["fox/2", "fox/1"]
    assert str(answer) == "fox: samples saw 75.0 % of the 4.0 core hours accounted for 2 jobs."


def test_what_only_one_side_knows(store: Store) -> None:
    """
    A run never sampled counts as not seen unless it was short; one that nobody accounted is named.
    """
    answer = compared(
        store,
        *(sample(number, "fox/1") for number in range(4)),
        sample(10, "fox/9"),
        run(1),
        run(2),
        run(3, {"job.wall.seconds": 20.0}),
    )

    assert (answer.unseen, answer.unseen_hours) == (1, 2.0)
    assert (answer.unknown, answer.unknown_hours) == (1, 0.5)
    assert answer.share == 0.5
    assert "never sampled: 1 job (2.0 h); not accounted: 1 job (0.5 h)" in str(answer)


def test_what_cannot_be_compared_is_left_out(store: Store) -> None:
    """
    Runs over an edge of the time, running ones, sessions, and what no CPU time was accounted for.
    """
    answer = compared(
        store,
        *(sample(number, f"fox/{number}") for number in range(1, 5)),
        sample(6, "fox/c1-1/boot-17-3"),
        run(1, {"job.start": "2026-11-20T04:00:00.000Z"}),
        run(2, {"provisional": True}),
        run(3, used=None),
        run(4, {"job.end": "2026-11-22T05:00:00.000Z"}),
    )

    assert (answer.jobs, answer.unseen, answer.unknown, answer.share) == (0, 0, 0, None)
    assert str(answer) == "fox: no run was both sampled and accounted."


def test_nothing_known(store: Store) -> None:
    """
    Neither samples nor accounting: no cluster to speak of.
    """
    assert agreement(store, EVERYTHING, START, END) == []
