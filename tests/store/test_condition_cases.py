"""
Every store: which documents a condition or a scope lets through.
"""

from __future__ import annotations

import pytest

from leadline.errors import StoreError
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Condition, Function, Group, Op, Plan
from leadline.store.scope import Scope
from tests.store.cases import COUNT, HOURS, PEOPLE, TOTALS, count, everything
from tests.store.documents import process


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (Condition("user.name", Op.IN, ("alice", "bob")), {1, 2}),
        (Condition("user.name", Op.IN, ()), set()),
        (Condition("user.name", Op.NOT_IN, ("alice",)), {2, 3, 4}),
        (Condition("user.name", Op.NOT_IN, ()), {1, 2, 3, 4}),
        (Condition("user.name", Op.EXISTS), {1, 2, 4}),
        (Condition("user.name", Op.MISSING), {3}),
        (Condition("user.name", Op.PREFIX, ("ali",)), {1, 4}),
        (Condition("core_seconds", Op.AT_LEAST, (2.0,)), {2, 3}),
        (Condition("core_seconds", Op.BELOW, (2,)), {1}),
        (Condition("core_seconds", Op.IN, ("2",)), {2}),
        (Condition("process.pid", Op.IN, (42,)), {4}),
        (Condition("process.pid", Op.IN, ("forty-two",)), set()),
        (Condition("process.pid", Op.NOT_IN, ("forty-two",)), {1, 2, 3, 4}),
        (Condition("rolled_up", Op.IN, (True,)), {3}),
        (Condition("rolled_up", Op.IN, ("true",)), {3}),
        (Condition("program.tags", Op.IN, ("gpu",)), {1}),
        (Condition("program.tags", Op.NOT_IN, ("gpu",)), {2, 3, 4}),
        (Condition("program.tags", Op.EXISTS), {1, 2}),
        (Condition("program.tags", Op.MISSING), {3, 4}),
        (Condition("process.start", Op.AT_LEAST, ("2026-11-20T01:00:00+01:00",)), {3}),
        (Condition("process.start", Op.BELOW, ("2026-11-20T00:00:00Z",)), set()),
        (Condition("local.day", Op.IN, ("2026-11-21",)), {1, 2, 3, 4}),
        (Condition("local.day", Op.BELOW, ("2026-11-21",)), set()),
        (Condition("labels.colour", Op.IN, ("red",)), {4}),
        (Condition("no.such.field", Op.IN, ("x",)), set()),
        (Condition("no.such.field", Op.MISSING), {1, 2, 3, 4}),
        (Condition("user.name", Op.IN, ("o'brien; DROP TABLE",)), set()),
    ],
)
def test_conditions(store: Store, condition: Condition, expected: set[int]) -> None:
    """
    Absent fields satisfy only `not in` and `missing`; a set holds each of its values.
    """
    store.write(PEOPLE, "create")

    found = everything(store, where=(condition,))

    assert {d["sample.uptime"] for d in found} == expected
    assert count(store, condition) == len(expected)


def test_all_conditions_must_hold(store: Store) -> None:
    """
    Conditions are AND-ed.
    """
    store.write(PEOPLE, "create")

    assert count(store, PEOPLE_MPI, Condition("user.name", Op.PREFIX, ("a",))) == 1


PEOPLE_MPI = Condition("program.tags", Op.IN, ("mpi",))


def test_a_scope_shows_users_or_groups(store: Store) -> None:
    """
    A leader sees documents of the group or of herself; everything else is not there.
    """
    store.write(
        [
            process(1, **{"user.name": "alice", "user.group": "ml"}),
            process(2, **{"user.name": "bob", "user.group": "bio"}),
            process(3, **{"user.name": "carol", "user.group": "ml"}),
            process(4),
        ],
        "create",
    )
    leader = Scope(users=frozenset({"bob"}), groups=frozenset({"ml"}))

    assert count(store, scope=leader) == 3
    assert count(store, Condition("user.name", Op.IN, ("alice",)), scope=leader) == 1
    assert count(store, scope=Scope()) == 0
    assert [len(batch) for batch in store.scan("process", Scope(users=frozenset({"bob"})))] == [1]


def test_totals_only_sees_no_person(store: Store) -> None:
    """
    Sums and counts are answered; documents, command lines and names are not.
    """
    store.write(PEOPLE, "create")
    users = Aggregate("users", Function.DISTINCT, "user.name")

    assert store.ask(Plan("process", (COUNT, HOURS, users)), TOTALS)[0]["users"] == 3
    assert store.ask(Plan("process", (COUNT,), by=(Group("program.tags"),)), TOTALS)
    with pytest.raises(StoreError):
        list(store.scan("process", TOTALS))
    with pytest.raises(StoreError):
        store.search("gmx", TOTALS)
    for plan in (
        Plan("process", (COUNT,), by=(Group("user.name"),)),
        Plan("process", (COUNT,), by=(Group("process.command_line"),)),
        Plan("process", (COUNT,), where=(Condition("user.name", Op.IN, ("alice",)),)),
        Plan("process", (Aggregate("first", Function.MIN, "user.name"),)),
    ):
        with pytest.raises(StoreError):
            store.ask(plan, TOTALS)
