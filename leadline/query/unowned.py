"""
GPU time of nobody: some drivers tell how busy a card is and not with whose process, so hours summed
over processes say less than the cards do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from leadline.query.compile import conditions_of
from leadline.query.dimensions import dimension
from leadline.query.periods import Period
from leadline.query.question import Question
from leadline.query.rollups import capacity_until, hour_of, next_hour
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Condition, Function, Op, Plan
from leadline.store.scope import EVERYTHING, Scope

MEASURE = "gpu_hours_busy"
BUSY = Aggregate("busy", Function.SUM, "gpu_seconds")
CARDS = Condition("gpu.model", Op.EXISTS)
WHERE = {"cluster", "host"}  # a filter on anything else leaves out what cards cannot tell
HOUR = 3600.0
SHARE, LEAST = 0.1, 1.0  # of the cards' hours, and hours: below it is two ways of measuring


def of_no_process(
    question: Question,
    total: Mapping[str, float | None],
    period: Period,
    store: Store,
    scope: Scope,
) -> list[str]:
    """
    A note on busy hours that cards tell of and processes do not, in whole hours of the period.
    """
    names = {dimension(each.dimension).name for each in question.where}
    if MEASURE not in question.measures or scope != EVERYTHING or not names <= WHERE:
        return []
    start, end = _hours(period, store)
    if end is None or (start is not None and start >= end):
        return []
    plan = Plan("capacity", (BUSY,), (), (CARDS,), start, end)
    known = [c for each in question.where for c in conditions_of(each, plan, store, scope)]
    (row,) = store.ask(replace(plan, where=(CARDS, *known)), scope)
    busy = float(row["busy"] or 0) / HOUR
    missing = busy - (total.get(MEASURE) or 0.0)
    if missing < max(LEAST, SHARE * busy):
        return []
    return [
        f"cards were busy {missing:,.1f} hours more, of processes that their drivers do not tell"
    ]


def _hours(period: Period, store: Store) -> tuple[datetime | None, datetime | None]:
    until = capacity_until(store)
    if until is None:
        return None, None
    start = None if period.start is None else next_hour(period.start)
    return start, until if period.end is None else min(until, hour_of(period.end))
