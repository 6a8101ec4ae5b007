"""
What must be said of the times in an answer: whose days they are, and of which of a run's moments,
which is submitted, starts and ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from leadline.query.compile import Source
from leadline.query.dimensions import dimension
from leadline.query.periods import Period
from leadline.query.question import Question

SAID = {
    "@timestamp": "when runs were submitted",
    "job.start": "when runs started",
    "job.end": "when runs ended",
}


def which_moment(question: Question, sources: Sequence[Source]) -> Iterator[str]:
    """
    A note for each moment that hours of the day and weekdays are told of.
    """
    named = (*question.by, *(known.dimension for known in question.where))
    if not any(dimension(name).clock for name in named):
        return
    by_time: dict[str, list[str]] = {}
    for source in sources:
        if source.plan.dataset == "job":
            by_time.setdefault(source.plan.time, []).extend(m.name for m in source.measures)
    for time, names in by_time.items():
        yield f"{', '.join(names)}: hour and weekday are those {SAID[time]}"


def whose_days(period: Period) -> Iterator[str]:
    """
    A note where clusters lie in several zones.
    """
    if period.own:
        own = ", ".join(f"{name} {its.zone.key}" for name, its in period.own)
        yield f"each cluster counts its own days: {own}; all others {period.zone.key}"
