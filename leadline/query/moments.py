"""
Which of a run's moments its hours and weekdays are of: a run is submitted, starts and ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from leadline.query.compile import Source
from leadline.query.dimensions import dimension
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
