"""
The period before, to compare with: what is not over is set against as much of the one before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC

from leadline.language import _
from leadline.query import Answer
from leadline.query.dimensions import dimension
from leadline.query.measure import Measure
from leadline.query.periods import Period
from leadline.query.question import Filter, Question
from leadline.web.asking import desk
from leadline.web.links import MOST_ROWS
from leadline.web.sentences import short
from leadline.web.tables import Before
from leadline.web.words import change

LEAST_COVERED = 0.8


def in_words(asked: Question, answer: Answer, measure: Measure) -> str:
    """
    How the whole compares with the period before; empty where that says nothing.
    """
    before = _before(answer)
    if before is None or not measure.adds:
        return ""
    earlier = desk().ask(Question((measure.name,), where=asked.where, period=before.text))
    if not comparable(answer, earlier):
        return ""
    span = _("the same part of the span before") if _partly(answer) else _("the span before")
    return change(answer.total.get(measure.name), earlier.total.get(measure.name), span)


def by_rows(asked: Question, answer: Answer, measure: Measure) -> Before | None:
    """
    The rows shown, as they were in the period before; None where that says nothing.
    """
    before = _before(answer)
    if desk().scope.least or before is None or asked.bucket or not asked.by or not measure.adds:
        return None
    earlier = desk().ask(
        Question(
            (measure.name,),
            asked.by,
            (*asked.where, *_shown(asked, answer)),
            before.text,
            top=MOST_ROWS,
        )
    )
    whole = desk().ask(Question((measure.name,), where=asked.where, period=before.text))
    if not comparable(answer, whole):
        return None
    words = _("against the same part of {period}") if _partly(answer) else _("against {period}")
    named = answer.period.before() or before
    return Before(
        title=words.format(period=short(named, _("the span before"))),
        amounts={tuple(row[name] for name in asked.by): row[measure.name] for row in earlier.rows},
        total=whole.total.get(measure.name),
    )


def comparable(now: Answer, before: Answer) -> bool:
    """
    Whether it was looked at then as now: else a difference is one of looking.
    """
    covered = (before.coverage.share or 0.0) >= LEAST_COVERED * (now.coverage.share or 1.0)
    return covered and not before.kept_from


def _shown(asked: Question, answer: Answer) -> Sequence[Filter]:
    """
    Only what has a row; classes have edges, and are few.
    """
    name = asked.by[0]
    if dimension(name).edges:
        return ()
    values = (None if row[name] is None else str(row[name]) for row in answer.rows)
    return (Filter(name, tuple(dict.fromkeys(values))),)


def _partly(answer: Answer) -> bool:
    return answer.period.end is not None and answer.period.end > answer.asked


def _before(answer: Answer) -> Period | None:
    """
    The period before; of one that is not over as much as has gone by of this.
    """
    period, before = answer.period, answer.period.before()
    if not _partly(answer) or before is None or before.start is None or before.end is None:
        return before
    assert period.start is not None
    end = min(before.start + (answer.asked - period.start), before.end)
    if end <= before.start:
        return None
    begin, until = (f"{one.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" for one in (before.start, end))
    return desk().period(f"{begin}..{until}")
