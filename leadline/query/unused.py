"""
Nodes, queues and clusters that were there and that nobody used: the inventory knows them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from leadline.query.compile import conditions_of
from leadline.query.dimensions import dimension
from leadline.query.periods import Period
from leadline.query.question import Question
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Function, Group, Op, Plan
from leadline.store.scope import EVERYTHING

# Who knows what there is, by dimension: dataset and field. Raw heartbeats only where nobody else.
KNOWN: dict[str, tuple[tuple[str, str], ...]] = {
    "host": (("capacity", "host.name"), ("node_state", "host.name"), ("node", "host.name")),
    "partition": (("capacity", "partition"), ("node_state", "partitions")),
    "cluster": (("capacity", "cluster"), ("node_state", "cluster"), ("node", "cluster")),
}
BEFORE = timedelta(hours=26)  # a full set of states is sent each day


def asks_unused(question: Question) -> bool:
    return question.ascending and len(question.by) == 1 and question.by[0] in KNOWN


def there_was(question: Question, period: Period, store: Store) -> Sequence[str]:
    """
    Every name of the question's one dimension, within its filters on places.
    """
    names: set[str] = set()
    for dataset, field in KNOWN[question.by[0]]:
        if dataset == "node" and names:
            break
        start = period.start
        if start is not None and dataset == "node_state":
            start -= BEFORE
        plan = Plan(
            dataset, (Aggregate("n", Function.COUNT),), (Group(field),), (), start, period.end
        )
        where = [
            condition
            for known in question.where
            if known.dimension in KNOWN and dimension(known.dimension).field_in(dataset)
            for condition in conditions_of(known, plan, store, EVERYTHING)
            if condition.op is not Op.MISSING
        ]
        asked = Plan(dataset, plan.aggregates, plan.by, tuple(where), start, period.end)
        rows = store.ask(asked, EVERYTHING)
        names |= {str(row[field]) for row in rows if row[field] is not None}
    return sorted(names)
