"""
Counts of what is kept no longer, or was never taken in: where there is nothing to count, 0 would
be a lie.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from leadline.query.measures import measure
from leadline.query.periods import Period
from leadline.query.question import Question
from leadline.query.rollups import rolls

NEVER = "9999-12-31"

Lost = Callable[[Mapping[str, object]], dict[str, None]]


def lost_counts(
    question: Question,
    period: Period,
    kept_from: dict[str, str],
    oldest: Mapping[str, datetime | None],
) -> Lost:
    """
    Of a row, or of the total: its counts of 0 from before the first day that is kept, and those of
    a dataset of which there never was anything.
    """
    never = {name: NEVER for name, first in oldest.items() if first is None}
    known = kept_from | never

    def first_day(dataset: str, rolled: bool) -> str:
        """
        From which on there is something to count; nothing where that is all of the period.
        """
        told_by = (dataset, "usage") if rolled else (dataset,)
        return min((known.get(name, "") for name in told_by if name in oldest), default="")

    measures = {name: measure(name) for name in question.measures}
    counts = {name: first_day(asked.dataset, rolls(asked)) for name, asked in measures.items()}
    last = NEVER if period.end is None else period.end.astimezone(period.zone).date().isoformat()

    def of(row: Mapping[str, object]) -> dict[str, None]:
        bucket = question.bucket
        begun = str(row[bucket])[:10] if bucket and bucket in row else None
        return {
            name: None
            for name, first in counts.items()
            if first and row[name] == 0 and (last <= first if begun is None else begun < first)
        }

    return of
