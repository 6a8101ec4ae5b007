"""
Every store: what the clusters' clocks showed at an instant of a document.
"""

from __future__ import annotations

import pytest

from leadline.store.clocks import Clocks, shown
from leadline.store.contract import Store
from leadline.store.plan import Condition, Group, Op, Plan, Row
from leadline.store.scope import EVERYTHING
from tests.store.cases import COUNT, table
from tests.store.documents import job

CLOCKS = Clocks("Europe/Oslo", (("betzy", "America/New_York"), ("delhi", "Asia/Kolkata")))
ENDS = (  # summer time ends in Oslo at 01:00 UTC
    ("fox", "2026-10-25T00:30:00.000Z"),
    ("fox", "2026-10-25T01:30:00.000Z"),
    ("fox", "2026-12-31T23:30:00.000Z"),
    ("betzy", "2026-10-26T03:59:59.999Z"),
    ("delhi", "2026-10-25T18:30:00.000Z"),
    ("fox", None),
)


def ended(number: int, cluster: str, end: str | None) -> dict[str, object]:
    known = {"cluster": cluster, "job.run": f"{cluster}/{number}@1"}
    return job(number, **known, **({"job.end": end} if end else {}))


def ask(store: Store, **plan: object) -> list[Row]:
    documents = [ended(number, *each) for number, each in enumerate(ENDS)]
    assert not store.write(documents, "create").rejected
    return store.ask(Plan("job", (COUNT,), clocks=CLOCKS, **plan), EVERYTHING)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("hour", {2: 2, 0: 2, 23: 1, None: 1}),
        ("weekday", {7: 3, 5: 1, 1: 1, None: 1}),
        ("day", {"2026-10-25": 3, "2027-01-01": 1, "2026-10-26": 1, None: 1}),
        ("week", {"2026-10-19": 3, "2026-12-28": 1, "2026-10-26": 1, None: 1}),
        ("month", {"2026-10-01": 4, "2027-01-01": 1, None: 1}),
        ("quarter", {"2026-10-01": 4, "2027-01-01": 1, None: 1}),
        ("year", {"2026-01-01": 4, "2027-01-01": 1, None: 1}),
    ],
)
def test_groups(store: Store, what: str, expected: dict[object, int]) -> None:
    """
    Each cluster's documents go by its own clocks; the hour that comes twice is one.
    """
    name = shown(what, "job.end")
    assert table(ask(store, by=(Group(name),)), name) == expected


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        (Condition("hour of job.end", Op.IN, (2, "23")), 3),
        (Condition("hour of job.end", Op.NOT_IN, (2,)), 4),
        (Condition("weekday of job.end", Op.IN, ("7", "x")), 3),
        (Condition("hour of job.end", Op.MISSING), 1),
        (Condition("day of job.end", Op.EXISTS), 5),
        (Condition("week of job.end", Op.IN, ("2026-10-26",)), 1),
    ],
)
def test_conditions(store: Store, condition: Condition, count: int) -> None:
    """
    They hold, and what is left out is the rest.
    """
    (row,) = ask(store, where=(condition,))
    (rest,) = store.ask(Plan("job", (COUNT,), clocks=CLOCKS, without=((condition,),)), EVERYTHING)
    assert (row["n"], rest["n"]) == (count, len(ENDS) - count)


def test_two_at_once(store: Store) -> None:
    """
    Hour and weekday of one instant stand beside each other.
    """
    rows = ask(store, by=(Group("weekday of job.end"), Group("hour of job.end")))
    assert {(row["weekday of job.end"], row["hour of job.end"]): row["n"] for row in rows} == {
        (7, 2): 2,
        (5, 0): 1,
        (7, 23): 1,
        (1, 0): 1,
        (None, None): 1,
    }
