"""
Counts of what is kept no longer: where there is nothing to count any more, 0 would be a lie.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from leadline.query.measures import measure
from leadline.query.periods import Period
from leadline.query.question import Question
from leadline.query.rollups import rolls

Lost = Callable[[Mapping[str, object]], dict[str, None]]


def lost_counts(question: Question, period: Period, kept_from: Mapping[str, str]) -> Lost:
    """
    Of a row, or of the total: its counts of 0 from before the first day that is kept.
    """
    counts = {
        name: kept_from[asked.dataset]
        for name in question.measures
        if (asked := measure(name)).dataset in kept_from and not rolls(asked)
    }
    last = "9999" if period.end is None else period.end.astimezone(period.zone).date().isoformat()

    def of(row: Mapping[str, object]) -> dict[str, None]:
        bucket = question.bucket
        begun = str(row[bucket])[:10] if bucket and bucket in row else None
        return {
            name: None
            for name, first in counts.items()
            if row[name] == 0 and (last <= first if begun is None else begun < first)
        }

    return of
