"""
Which rows are shown: the top N by raw sums, ties by name, so that every store shows the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from math import inf

from leadline.query.compile import Source
from leadline.query.dimensions import Dimension
from leadline.query.measure import Measure, counted, nothing
from leadline.query.measures import measure
from leadline.query.parts import Key, Parts, Table, join_rows, joins
from leadline.query.question import Question
from leadline.query.tables import Asker
from leadline.query.unused import asks_unused, there_was
from leadline.store.plan import Aggregate, Function, Group, Scalar

LENGTH = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(days=7)}
MOST_ROWS = 20_000  # so many are fetched at once rather than the shown, the others, the whole


@dataclass(frozen=True, slots=True)
class Ranked:
    shown: tuple[Key, ...]
    hidden: int | None  # rows left out; None when nobody counted
    limited: bool = False  # only shown rows are worth fetching
    unused: frozenset[Key] = frozenset()  # known from the inventory alone: they used nothing


def rank(
    question: Question, dims: Sequence[Dimension], sources: Sequence[Source], asker: Asker
) -> Ranked:
    """
    The first source ranks; keys that only another one knows come last.
    """
    if not dims:
        return Ranked(((),), 0)
    source = sources[0]
    if _worth_limiting(question, dims, source) and not asker.cuts_days(source.plan, None):
        return _rank_few(question, dims[0], source, asker)
    tables = [_whole(question, dims, each, asker) for each in sources]
    present = {key for table in tables for key in table}
    unused = _never_used(question, source, asker, present)
    keys = ranked(question, dims, sources, [{**tables[0], **unused}, *tables[1:]])
    top = len(keys) if question.top is None else question.top
    shown = tuple(own_order(question, dims, keys[:top]))
    return Ranked(shown, max(0, len(keys) - top), unused=frozenset(unused))


def _whole(question: Question, dims: Sequence[Dimension], source: Source, asker: Asker) -> Table:
    """
    Every row over the whole period, joined from its time buckets where that can be.
    """
    if question.bucket is None or not joins(source):
        return asker.table(source, dims, None)
    cut = len(dims)
    return join_rows(source, asker.table(source, dims, question.bucket), lambda key: key[:cut])


def ranked(
    question: Question,
    dims: Sequence[Dimension],
    sources: Sequence[Source],
    tables: Sequence[Table],
) -> list[Key]:
    """
    Keys in the order asked for; rows without a value come last, whichever way.
    """
    keys = sorted({key for table in tables for key in table}, key=_as_text)
    if question.order in question.by:
        place = question.by.index(question.order)
        keys.sort(key=lambda key: _sortable(key[place]), reverse=_descending(question))
        return keys
    by_measure = question.ranked_by != question.bucket
    asked = measure(question.ranked_by if by_measure else question.measures[0])
    values = {key: _value(asked, key, sources, tables) for key in keys}
    known = [key for key in keys if values[key] is not None]
    known.sort(key=lambda key: values[key] or 0.0, reverse=not question.ascending)
    return known + [key for key in keys if values[key] is None]


def _value(
    asked: Measure, key: Key, sources: Sequence[Source], tables: Sequence[Table]
) -> float | None:
    if asked.of:
        return asked.value([_value(measure(name), key, sources, tables) for name in asked.of])
    for source, table in zip(sources, tables, strict=True):
        for known, names in zip(source.measures, source.parts, strict=True):
            if known.name == asked.name:
                parts, functions = table.get(key, {}), source.functions()
                return known.value(
                    [counted(parts.get(name, nothing(functions[name]))) for name in names]
                )
    return None


def own_order(question: Question, dims: Sequence[Dimension], keys: Sequence[Key]) -> Sequence[Key]:
    """
    The shown KEYS of hours and classes in their own order, unless another one is asked for.
    """
    asked = question.ascending or question.order not in ("", question.bucket)
    if asked or len(dims) != 1 or not dims[0].ordered:
        return keys
    return sorted(keys, key=lambda key: _sortable(key[0]))


def _descending(question: Question) -> bool:
    return bool(question.order) and not question.ascending


def _sortable(value: Scalar | None) -> tuple[bool, float, str]:
    if isinstance(value, int | float):
        return False, float(value), ""
    return value is None, 0.0, str(value)


def _as_text(key: Key) -> tuple[tuple[bool, str], ...]:
    return tuple((value is None, str(value)) for value in key)


def _worth_limiting(question: Question, dims: Sequence[Dimension], source: Source) -> bool:
    """
    Where values are many and one number ranks them, the store need only send the best.
    """
    if question.top is None or len(dims) != 1 or question.order in question.by:
        return False
    if dims[0].by_run_in(source.plan.dataset):
        return False
    if dims[0].edges or question.ranked_by == question.bucket or asks_unused(question):
        return False
    asked = measure(question.ranked_by)
    busy = question.bucket in ("hour", "day", "week") and dims[0].size == "some"
    return (dims[0].size == "many" or busy) and len(asked.parts) == 1 and not asked.running


def _rank_few(question: Question, dim: Dimension, source: Source, asker: Asker) -> Ranked:
    """
    The store sends one row more than is shown, when it can rank; then the rest is only counted.
    """
    asked = measure(question.ranked_by)
    names = dict(zip([m.name for m in source.measures], source.parts, strict=True))
    (part,) = names[asked.name]
    aggregates = tuple(a for a in source.plan.aggregates if a.name == part)
    assert question.top is not None
    group = dim.group_in(source.plan.dataset)
    plan = replace(
        source.plan,
        aggregates=aggregates,
        by=(group,),
        best=f"-{part}" if question.ascending else part,
        limit=question.top + 1,
    )
    if dim.size != "many":
        keys = ranked(question, [dim], [source], [asker.rows(replace(plan, best="", limit=None))])
        few = len(keys) * _buckets(question, asker) <= MOST_ROWS
        return Ranked(tuple(keys[: question.top]), max(0, len(keys) - question.top), not few)
    keys = ranked(question, [dim], [source], [asker.rows(plan)])
    shown = tuple(keys[: question.top])
    rows = asker.cut.get(plan, len(keys))
    if plan not in asker.cut and len(keys) == question.top + 1:
        rows = _count(source, group, asker)
    return Ranked(shown, max(0, rows - len(shown)), limited=True)


def _buckets(question: Question, asker: Asker) -> float:
    """
    How many time buckets the period has, about.
    """
    start, end = asker.period.start, asker.period.end
    if start is None or end is None or question.bucket is None:
        return inf
    return (end - start) / LENGTH[question.bucket]


def _count(source: Source, group: Group, asker: Asker) -> int:
    """
    How many values there are, absence being one.
    """
    wanted = (
        Aggregate("values", Function.DISTINCT, group.field),
        Aggregate("all", Function.COUNT),
        Aggregate("with", Function.COUNT, group.field),
    )
    found = asker.rows(replace(source.plan, aggregates=wanted))[()]
    values, whole, held = (counted(found[a.name]) or 0 for a in wanted)
    return int(values) + (whole > held)


def _never_used(question: Question, source: Source, asker: Asker, present: set[Key]) -> Table:
    """
    The least used nodes, queues and clusters include those nobody used.
    """
    if not asks_unused(question) or not asker.scope.everything:
        return {}
    names = there_was(question, asker.period, asker.store)
    unused: Parts = dict.fromkeys(source.functions(), 0)
    return {(name,): unused for name in names if (name,) not in present}
