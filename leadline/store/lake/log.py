"""
What the table's log knows without opening a file: how many rows there are, the first and the last.

How fresh a store is and since when it keeps something is asked with every question.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from leadline.formats.times import format_time, parse_time
from leadline.store.lake.table import INGESTED, TIME, File
from leadline.store.plan import Aggregate, Function, Op, Plan, Row, Scalar
from leadline.store.scope import Scope

TOLD = {
    Function.COUNT: ("", TIME),
    Function.MIN: (TIME,),
    Function.MAX: (TIME,),
}


def in_log(plan: Plan, scope: Scope) -> bool:
    """
    Whether PLAN asks for nothing but what the log knows of whole files.
    """
    if plan.by or plan.where or plan.without or scope.conditions() or plan.time != TIME:
        return False
    return not any(a.where or a.field not in TOLD.get(a.function, ()) for a in plan.aggregates)


def from_log(plan: Plan, files: Sequence[File]) -> Row | None:
    """
    The one row PLAN asks for of FILES, which overlap its span; None when they must be read.
    """
    found: Row = {}
    for asked in plan.aggregates:
        values = [_told(asked, file, plan.start, plan.end) for file in files]
        if None in values:
            return None
        found[asked.name] = _joined(asked, values)
    return found


def _told(
    asked: Aggregate, file: File, start: datetime | None, end: datetime | None
) -> Scalar | None:
    """
    None when rows outside the span may have made the file's figure.
    """
    begins = start is None or file.first >= start
    ends = end is None or file.last < end
    if asked.function is Function.COUNT:
        return file.rows if begins and ends else None
    if asked.function is Function.MIN:
        return format_time(file.first) if begins else None
    return format_time(file.last) if ends else None


def _joined(asked: Aggregate, values: Sequence[Scalar | None]) -> Scalar | None:
    if asked.function is Function.COUNT:
        return sum(int(str(value)) for value in values)
    texts = [str(value) for value in values]
    if not texts:
        return None
    return min(texts) if asked.function is Function.MIN else max(texts)


def came_in(plan: Plan, files: Sequence[File]) -> list[File]:
    """
    Those of FILES that may hold something that came in as late as PLAN wants it.
    """
    since = [
        parse_time(str(min(known.values)))
        for known in plan.where
        if known.field == INGESTED and known.op is Op.AT_LEAST and known.values
    ]
    return [
        file for file in files if file.ingested is None or all(file.ingested >= s for s in since)
    ]


def of_nothing(plan: Plan) -> list[Row]:
    """
    What PLAN comes to where no file overlaps its span: no group, and of no documents no count.
    """
    if plan.by:
        return []
    none = (Function.COUNT, Function.DISTINCT)
    return [{a.name: 0 if a.function in none else None for a in plan.aggregates}]
