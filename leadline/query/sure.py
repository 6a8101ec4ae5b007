"""
How sure a list is: jobs, findings and hits of a period rest on the same samples as answers do, and
say the same about them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from leadline.query.coverage import Coverage, coverage, lost
from leadline.query.periods import Period
from leadline.query.question import Filter, Question
from leadline.store.contract import Store

OPEN = timedelta(hours=1)  # samples of the last hour are still coming in


@dataclass(frozen=True, slots=True)
class Sure:
    """
    What stands below an answer, without one.
    """

    period: Period
    coverage: Coverage
    provisional: bool
    rejected: int | None
    notes: tuple[str, ...] = ()


def how_sure(
    where: Sequence[Filter],
    period: Period,
    store: Store,
    now: datetime,
    rejected: Callable[[Period], int] | None = None,
) -> Sure:
    """
    Of the nodes that WHERE leaves.
    """
    known = coverage(Question(where=tuple(where)), period, store, now)
    refused = None if rejected is None else rejected(period)
    notes = tuple(lost({}, refused, known))
    return Sure(period, known, is_open(period, now), refused, notes)


def is_open(period: Period, now: datetime) -> bool:
    return period.end is None or period.end > now - OPEN
