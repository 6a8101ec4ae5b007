"""
From a question to plans: which dataset tells each measure, which conditions and groups it takes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from leadline.errors import QuestionError
from leadline.formats.times import format_time
from leadline.query.dimensions import DIMENSIONS, WEEKDAYS, Dimension, dimension
from leadline.query.kinds import kind_conditions
from leadline.query.measure import Measure
from leadline.query.measures import measure
from leadline.query.periods import Period
from leadline.query.question import Filter, Prefix, Question
from leadline.query.refusals import CARD, knows, refusal
from leadline.query.rollups import rolls
from leadline.query.spans import hull, running_since, running_within, within
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Condition, Function, Group, Op, Plan, Scalar
from leadline.store.scope import Scope

SIZES = {"few": 100, "some": 1000, "many": 1_000_000}
MOST_LISTED = 1_000_000
LEFT = timedelta(days=1)  # how long after its run something may still be there
MOST_RUNS = 20_000  # named in one condition


@dataclass(frozen=True, slots=True)
class Source:
    """
    What one plan answers: measures of one dataset that go by one time.
    """

    plan: Plan  # without groups; its conditions and its span are complete
    measures: tuple[Measure, ...]
    parts: tuple[tuple[str, ...], ...]  # the plan's aggregates each measure is made from
    listed: bool = False  # distinct values are few enough to be listed, so that they join

    @property
    def running(self) -> bool:
        """
        Whether it counts what overlaps a span, so that parts of a period do not make the whole.
        """
        return any(known.running for known in self.measures)

    def functions(self) -> dict[str, Function]:
        return {aggregate.name: aggregate.function for aggregate in self.plan.aggregates}


def canonical(question: Question) -> Question:
    """
    Every name in its one spelling; unknown names are refused here.
    """
    return replace(
        question,
        measures=tuple(dict.fromkeys(measure(name).name for name in question.measures)),
        by=tuple(dict.fromkeys(dimension(name).name for name in question.by)),
        where=tuple(replace(f, dimension=dimension(f.dimension).name) for f in question.where),
        order=_ordered(question),
    )


def _ordered(question: Question) -> str:
    if not question.order or question.order == question.bucket:
        return question.order
    if question.order in question.by:
        return dimension(question.order).name
    return measure(question.order).name


def sources(
    question: Question, period: Period, store: Store, scope: Scope, *, rolled: bool = False
) -> list[Source]:
    """
    One source per dataset and time, the one that ranks rows first. What joins is asked apart from
    what does not: its others and its total need no asking. ROLLED: so are what hourly usage keeps
    and what only raw samples tell.
    """
    groups: dict[object, list[Measure]] = {}
    named = (*question.by, *(known.dimension for known in question.where))
    for known in {m.name: m for m in _plain(question.measures)}.values():
        if known.cards is not None and CARD in named:
            known = known.cards
        apart = known.percentile, known.distinct if question.by else ()
        key = (known.source, apart, rolled and rolls(known))
        groups.setdefault(key, []).append(known)
    found = [_source(members, question, period, store, scope) for members in groups.values()]
    found.sort(key=lambda s: question.ranked_by not in [m.name for m in s.measures])
    return found


def _plain(names: Sequence[str]) -> Iterator[Measure]:
    """
    Measures that have parts of their own; those worked out from others stand for these.
    """
    for name in names:
        known = measure(name)
        yield from map(measure, known.of) if known.of else (known,)


def _source(
    measures: list[Measure], question: Question, period: Period, store: Store, scope: Scope
) -> Source:
    first = measures[0]
    for name in question.by:
        _check_known(dimension(name), first)
    base = Plan(first.dataset, (), where=first.where, time=first.time, clocks=period.clocks)
    base = running_within(base, period) if first.running else within(base, period)
    aggregates: dict[Aggregate, str] = {}
    parts = []
    for known in measures:
        wanted = _overlapping(known.parts[0], hull(period)[0]) if known.running else known.parts
        parts.append(tuple(aggregates.setdefault(a, f"p{len(aggregates)}") for a in wanted))
    named = tuple(replace(a, name=name) for a, name in aggregates.items())
    conditions: list[Condition] = []
    for known_filter in question.where:
        _check_known(dimension(known_filter.dimension), first)
        conditions += conditions_of(known_filter, base, store, scope)
    plan = replace(base, aggregates=named, where=(*base.where, *conditions))
    return Source(plan, tuple(measures), tuple(parts), _listed(question, plan, scope))


def _listed(question: Question, plan: Plan, scope: Scope) -> bool:
    """
    Whether the distinct values that are counted are few, by row and all together, and may be seen.
    """
    distinct = [a.field for a in plan.aggregates if a.function is Function.DISTINCT]
    known = {d.field_in(plan.dataset): d for d in DIMENSIONS}
    if not distinct or scope.totals_only or question.bucket is not None:
        return False
    if not all(field in known for field in distinct):
        return False
    rows = math.prod(SIZES[dimension(name).size] for name in question.by)
    return all(rows * SIZES[known[field].size] <= MOST_LISTED for field in distinct)


def _check_known(known: Dimension, asked: Measure) -> None:
    if not knows(asked, known):
        raise QuestionError(refusal(asked, known))


def _overlapping(part: Aggregate, start: datetime | None) -> tuple[Aggregate, ...]:
    """
    Ended after START, or not yet.
    """
    ended = Condition("job.end", Op.AT_LEAST, (running_since(start),))
    return (
        replace(part, where=(*part.where, ended)),
        replace(part, where=(*part.where, Condition("job.end", Op.MISSING))),
    )


def between(source: Source, start: datetime, end: datetime) -> Plan:
    """
    A running source's plan for a span of its own.
    """
    (known,) = source.measures
    ((first, second),) = source.parts
    where = tuple(c for c in source.plan.where if (c.field, c.op) != ("job.start", Op.BELOW))
    before = Condition("job.start", Op.BELOW, (format_time(end),))
    ended, still = _overlapping(known.parts[0], start)
    aggregates = (replace(ended, name=first), replace(still, name=second))
    return replace(source.plan, where=(*where, before), aggregates=aggregates)


def conditions_of(known: Filter, plan: Plan, store: Store, scope: Scope) -> list[Condition]:
    """
    A filter as the conditions of a plan; lists that mix words are looked up first.
    """
    asked = dimension(known.dimension).at(plan.time)
    if asked.by_node_in(plan.dataset):
        return kind_conditions(known, store, plan.dataset)
    if asked.by_run_in(plan.dataset):
        return [_of_runs(known, plan, store, scope)]
    field = asked.field_in(plan.dataset)
    if field is None:
        raise QuestionError(
            f"where {known}: not told of what is listed here; ask `by {asked.name}`"
        )
    if asked.edges:
        return _class_conditions(asked, field, known)
    if asked.parts_in(plan.dataset):
        raise QuestionError(f"where {known}: runs are not told by it; ask `by {asked.name}`")
    values = [None if value == asked.none else value for value in known.values]
    exact: tuple[Scalar, ...] = tuple(
        _stored(asked, value) for value in values if isinstance(value, str)
    )
    prefixes = tuple(value.text for value in values if isinstance(value, Prefix))
    none = None in values
    if known.negated:
        if prefixes:
            exact = (*exact, *_looked_up(field, prefixes, plan, store, scope))
        missing = [Condition(field, Op.EXISTS)] if none else []
        return [Condition(field, Op.NOT_IN, exact), *missing] if exact else missing
    if prefixes and not exact and not none:
        return [Condition(field, Op.PREFIX, prefixes)]
    if prefixes:
        exact = (*exact, *_looked_up(field, prefixes, plan, store, scope))
    if not none:
        return [Condition(field, Op.IN, exact)]
    if not exact:
        return [Condition(field, Op.MISSING)]
    if asked.multiple_in(plan.dataset):
        raise QuestionError(f"where {known}: ask for (none) on its own")
    others = set(_looked_up(field, (), plan, store, scope)) - set(exact)
    return [Condition(field, Op.NOT_IN, tuple(sorted(others, key=str)))]


def runs_within(start: datetime | None, end: datetime | None) -> Plan:
    """
    Runs that may have been sampled from START to END, by run: what they left behind, too.
    """
    where = (Condition("job.start", Op.BELOW, (format_time(end + LEFT),)),) if end else ()
    over = ((Condition("job.end", Op.BELOW, (format_time(start - LEFT),)),),) if start else ()
    counted = (Aggregate("n", Function.COUNT),)
    return Plan("job", counted, (Group("job.run"),), where, without=over)


def _of_runs(known: Filter, plan: Plan, store: Store, scope: Scope) -> Condition:
    """
    A filter on what only accounts know: samples of the runs that it means.
    """
    asked = dimension(known.dimension)
    if None in known.values or (asked.edges and asked.classes[0] in known.values):
        raise QuestionError(f"where {known}: samples only name their run; ask `by {asked.name}`")
    runs = runs_within(plan.start, plan.end)
    held = conditions_of(replace(known, negated=False), runs, store, scope)
    rows = store.ask(replace(runs, where=(*runs.where, *held)), scope)
    if len(rows) > MOST_RUNS:
        raise QuestionError(
            f"where {known}: that are {len(rows):,} runs, more than can be named at once; "
            f"ask `by {asked.name}`, or a shorter period"
        )
    op = Op.NOT_IN if known.negated else Op.IN
    return Condition("job.run", op, tuple(str(row["job.run"]) for row in rows))


def _looked_up(
    field: str, prefixes: Sequence[str], plan: Plan, store: Store, scope: Scope
) -> tuple[Scalar, ...]:
    where = (*plan.where, Condition(field, Op.PREFIX, tuple(prefixes))) if prefixes else plan.where
    counted = (Aggregate("n", Function.COUNT),)
    rows = store.ask(replace(plan, aggregates=counted, by=(Group(field),), where=where), scope)
    values = [row[field] for row in rows]
    starts = tuple(prefixes) or ("",)
    return tuple(v for v in values if v is not None and str(v).startswith(starts))


def _stored(asked: Dimension, text: str) -> str:
    """
    The value as documents hold it: Monday is 1, 08–09 is 8, yes is true.
    """
    if asked.name == "weekday":
        numbers = {day[:3].lower(): str(number) for number, day in enumerate(WEEKDAYS, 1)}
        day = numbers.get(text[:3].lower(), text)
        if day not in numbers.values():
            raise QuestionError(f"weekday={text}: write Monday, or 1 to 7")
        return day
    if asked.name == "hour_of_day":
        hour = text.partition("–")[0]
        if not (hour.isdecimal() and int(hour) < 24):
            raise QuestionError(f"hour_of_day={text}: write 0 to 23")
        return str(int(hour))
    if asked.name == "stray":
        return {"yes": "true", "no": "false"}.get(text, text)
    return text


def _class_conditions(asked: Dimension, field: str, known: Filter) -> list[Condition]:
    if len(known.values) != 1 or known.negated or not isinstance(known.values[0], str):
        raise QuestionError(f"where {known}: {asked.name} takes one class, with =")
    label = known.values[0].replace("-", "–")
    if label not in asked.classes:
        raise QuestionError(f"where {known}: classes are {', '.join(asked.classes)}")
    place = asked.classes.index(label)
    if place == 0:
        return [Condition(field, Op.MISSING)]
    conditions = [Condition(field, Op.AT_LEAST, (asked.edges[place - 1],))]
    if place < len(asked.edges):
        conditions.append(Condition(field, Op.BELOW, (asked.edges[place],)))
    return conditions
