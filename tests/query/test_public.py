"""Answers for everybody: totals without names, of five users or more, nothing to subtract."""

from __future__ import annotations

import random

import pytest

from leadline.errors import NotAllowedError
from leadline.query import MEASURES, Answer
from leadline.query.public import DIMENSIONS, TOLD
from leadline.store.memory import MemoryStore
from leadline.store.plan import Aggregate, Condition, Function, Op, Plan
from leadline.store.scope import EVERYTHING, LEAST, PUBLIC
from tests.query.conftest import answer, sample, stored

MONTH = "during 2026-10"
PROGRAMS = {"VASP": 12, "GROMACS": 7, "ORCA": 5, "secret": 1, "rare": 2}


@pytest.fixture(scope="module")
def store() -> MemoryStore:
    """
    October: programs of twelve, seven and five users, one of one and one of two.
    """
    documents = []
    for program, users in PROGRAMS.items():
        for user in range(users):
            moment = f"2026-10-{10 + user:02d}T{user:02d}:00:00.000Z"
            documents.append(
                sample(
                    len(documents),
                    **{
                        "@timestamp": moment,
                        "local.day": moment[:10],
                        "local.hour": user,
                        "user.name": f"user{user}",
                        "program.name": program,
                        "core_seconds": 3600.0 * (user + 1),
                    },
                )
            )
    return stored(documents)


def told(store: MemoryStore, text: str) -> Answer:
    return answer(store, text, scope=PUBLIC)


def users_behind(store: MemoryStore, shown: list[object]) -> int:
    """
    How many people are behind what is not SHOWN.
    """
    people = Aggregate("n", Function.DISTINCT, "user.name")
    where = (Condition("program.name", Op.NOT_IN, tuple(map(str, shown))),)
    (row,) = store.ask(Plan("process", (people,), where=where), EVERYTHING)
    return int(str(row["n"]))


def test_rows_of_few_users_are_among_the_others(store: MemoryStore) -> None:
    """
    Programs of one and two users are not named; total and others still add up.
    """
    found = told(store, f"core_hours_used by program {MONTH}")
    assert [row["program"] for row in found.rows] == ["VASP", "GROMACS"]
    assert found.others is not None
    assert found.others["core_hours_used"] == pytest.approx(15 + 1 + 3)
    assert found.others_count == 3
    assert "fewer than 5 users" in found.notes[-1]


@pytest.mark.parametrize("top", ["", "top 1", "top 2"])
@pytest.mark.parametrize(
    "measure", ["core_hours_used", "samples", "users", "hosts", "gpu_hours_busy"]
)
def test_what_is_left_is_of_five_users_or_more(store: MemoryStore, measure: str, top: str) -> None:
    """
    The total less what is shown is never of fewer than five, whatever is asked, however ordered.
    """
    for order in ("", f"order {measure} ascending"):
        found = told(store, f"{measure} by program {MONTH} {top} {order}")
        shown = [row["program"] for row in found.rows]
        assert not {"secret", "rare"} & set(shown)
        assert users_behind(store, shown) >= LEAST


def test_the_same_rows_are_left_out_of_every_measure(store: MemoryStore) -> None:
    """
    Two tables of the same month hide the same rows: one is not the key to the other.
    """
    names = [m.name for m in MEASURES if m.dataset == "process" and not m.of]
    names = [
        m.name for m in MEASURES if m.name in names and all(p.function in TOLD for p in m.parts)
    ]
    assert len(names) > 5
    shown = {
        frozenset(str(row["program"]) for row in told(store, f"{name} by program {MONTH}").rows)
        for name in names
    }
    assert shown == {frozenset({"VASP", "GROMACS"})}


@pytest.mark.parametrize(
    "asked",
    [
        f"core_hours_used by user {MONTH}",
        f"core_hours_used by project {MONTH}",
        f"core_hours_used by program, cluster {MONTH}",
        f"core_hours_used by program per day {MONTH}",
        f"core_hours_used where program=secret {MONTH}",
        f"core_hours_used where user=user1 {MONTH}",
        f"memory_max {MONTH}",
        "core_hours_used during last 30 days",
        "core_hours_used during 2026-10-01..2026-10-30",
        "core_hours_used during this month",
        "core_hours_used during 2026",
    ],
)
def test_what_could_be_subtracted_is_refused(store: MemoryStore, asked: str) -> None:
    """
    Names, filters, tables of two dimensions, parts of months and maxima are not for everybody.
    """
    with pytest.raises(NotAllowedError):
        told(store, asked)


@pytest.mark.parametrize("measure", ["memory_efficiency", "job_memory_mean"])
def test_how_a_peak_was_measured_is_nobodys_secret(store: MemoryStore, measure: str) -> None:
    """
    Measures that look at it are sums as others are, and answered as they are.
    """
    assert told(store, f"{measure} {MONTH}").question.measures == (measure,)


def test_a_month_of_few_users_is_not_told_at_all() -> None:
    """
    Four people are too few for any total.
    """
    documents = [
        sample(n, **{"@timestamp": "2026-10-10T00:00:00.000Z", "user.name": f"user{n}"})
        for n in range(4)
    ]
    found = told(stored(documents), f"core_hours_used by program {MONTH}")
    assert found.rows == ()
    assert found.total == {"core_hours_used": None}


def test_plans_of_their_own_are_refused(store: MemoryStore) -> None:
    """
    Whoever sees totals of several users only asks questions, not stores.
    """
    with pytest.raises(NotAllowedError):
        store.ask(Plan("process", (Aggregate("n", Function.COUNT),)), PUBLIC)
    with pytest.raises(NotAllowedError):
        list(store.scan("process", PUBLIC))
    with pytest.raises(NotAllowedError):
        store.search("gmx", PUBLIC)


@pytest.mark.parametrize("seed", range(8))
def test_no_table_of_random_months_tells_a_small_cell(seed: int) -> None:
    """
    Every table the public can ask, of random users, leaves five or more behind what it hides.
    """
    dice = random.Random(seed)
    documents = [
        sample(
            number,
            **{
                "@timestamp": f"2026-10-{dice.randint(1, 28):02d}T12:00:00.000Z",
                "user.name": f"user{dice.randint(0, 12)}",
                "program.name": f"p{int(dice.expovariate(0.5))}",
                "cluster": dice.choice(["fox", "fox", "fox", "betzy"]),
                "local.hour": dice.randint(0, 23),
                "local.weekday": dice.randint(1, 7),
            },
        )
        for number in range(60)
    ]
    store = stored(documents)
    for name, field in (("program", "program.name"), ("cluster", "cluster")):
        shown = {row[name] for row in told(store, f"core_hours_used by {name} {MONTH}").rows}
        people = {
            value: {d["user.name"] for d in documents if d[field] == value}
            for value in {d[field] for d in documents}
        }
        assert all(len(people[value]) >= LEAST for value in shown)
        behind = set().union(*(people[v] for v in people if v not in shown), set())
        assert not behind or len(behind) >= LEAST
    assert "program" in DIMENSIONS
