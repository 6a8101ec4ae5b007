"""
Nodes, queues and clusters that were there and that nobody used: the inventory knows them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from leadline.query.compile import conditions_of
from leadline.query.dimensions import dimension
from leadline.query.periods import Period
from leadline.query.question import Question
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Condition, Function, Group, Op, Plan, Row
from leadline.store.scope import EVERYTHING, Scope

# Who knows what there is, by dimension: dataset and field. Raw heartbeats only where nobody else.
KNOWN: dict[str, tuple[tuple[str, str], ...]] = {
    "host": (("capacity", "host.name"), ("node_state", "host.name"), ("node", "host.name")),
    "partition": (("capacity", "partitions"), ("node_state", "partitions")),
    "cluster": (("capacity", "cluster"), ("node_state", "cluster"), ("node", "cluster")),
}
BEFORE = timedelta(hours=26)  # a full set of states is sent each day
COUNT = Aggregate("n", Function.COUNT)
Name = tuple[str, str]  # cluster, and node, queue or cluster


def asks_unused(question: Question) -> bool:
    return question.ascending and len(question.by) == 1 and question.by[0] in KNOWN


def there_was(question: Question, period: Period, store: Store) -> Sequence[str]:
    """
    Every name of the question's one dimension, within its filters on places.
    """

    def where(dataset: str) -> tuple[Condition, ...]:
        plan = Plan(dataset, (COUNT,), (), (), period.start, period.end)
        return tuple(
            condition
            for known in question.where
            if known.dimension in KNOWN and dimension(known.dimension).field_in(dataset)
            for condition in conditions_of(known, plan, store, EVERYTHING)
            if condition.op is not Op.MISSING
        )

    found = there(store, EVERYTHING, question.by[0], where, period.start, period.end)
    return sorted({name for _, name in found})


def there(
    store: Store,
    scope: Scope,
    what: str,
    where: Callable[[str], tuple[Condition, ...]],
    start: datetime | None,
    end: datetime | None,
) -> set[Name]:
    """
    What there was of KNOWN[WHAT], under the conditions that WHERE has for a dataset. A node that
    was down or drained all the time could not be used: it is not told.
    """
    found: set[Name] = set()
    for dataset, field in KNOWN[what]:
        if dataset == "node" and found:
            break
        begin = start - BEFORE if start is not None and dataset == "node_state" else start
        by = tuple(dict.fromkeys((Group("cluster"), Group(field))))
        rows = store.ask(Plan(dataset, (COUNT,), by, where(dataset), begin, end), scope)
        found |= {(str(row["cluster"]), str(row[field])) for row in rows if row[field] is not None}
    if what != "host":
        return found
    up = nodes_up(store, scope, where("capacity"), start, end)
    never = {name for name, row in up.items() if row["up"] == 0 and not row["unknown"]}
    return found - never


def nodes_up(
    store: Store,
    scope: Scope,
    where: tuple[Condition, ...],
    start: datetime | None,
    end: datetime | None,
) -> dict[Name, Row]:
    """
    How long each node was up, how long nobody looked, and its cores.
    """
    amounts = (
        Aggregate("up", Function.SUM, "seconds.up"),
        Aggregate("unknown", Function.SUM, "seconds.unknown"),
        Aggregate("cores", Function.MAX, "node.cores"),
    )
    alone = (*where, Condition("gpu.model", Op.MISSING))
    by = (Group("cluster"), Group("host.name"))
    rows = store.ask(Plan("capacity", amounts, by, alone, start, end), scope)
    return {(str(row["cluster"]), str(row["host.name"])): row for row in rows}
