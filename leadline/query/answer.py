"""
Answers: rows, others, total, shares, and how sure they are.

Top N is chosen on raw sums; others and totals are computed from joined parts, or asked again
where parts do not join, so that parts and others make the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from zoneinfo import ZoneInfo

from leadline.formats.times import parse_time
from leadline.query.compile import Source, canonical, sources
from leadline.query.coverage import Coverage, coverage, lost, nobody_looked, not_kept, oldest_of
from leadline.query.dimensions import Dimension, dimension
from leadline.query.gone import lost_counts
from leadline.query.hidden import apart, by_place, left_out
from leadline.query.kinds import node_kinds
from leadline.query.measure import Measure, Part, counted, nothing
from leadline.query.measures import measure
from leadline.query.moments import which_moment, whose_days
from leadline.query.parts import Key, Table, join_rows, joins
from leadline.query.periods import Period, parse_period, unit_text
from leadline.query.question import Question
from leadline.query.ranking import Ranked, rank
from leadline.query.rollups import complete_until
from leadline.query.sure import is_open
from leadline.query.tables import Asker, shown_conditions
from leadline.query.unfinished import still_running
from leadline.query.unowned import of_no_process
from leadline.settings.zones import local_zone
from leadline.store.contract import Store
from leadline.store.plan import Row, Scalar
from leadline.store.scope import Scope

Values = dict[str, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """
    What a question comes to. Rows are keyed by dimension, time bucket and measure names.
    """

    question: Question  # with every name in its one spelling
    period: Period
    asked: datetime
    rows: tuple[Row, ...]
    total: Values
    others: Values | None  # None: nothing is left out
    others_count: int | None  # how many rows are folded into others
    total_by_time: tuple[Row, ...] = ()  # with a time bucket: the same, bucket by bucket
    others_by_time: tuple[Row, ...] = ()
    shares: tuple[float | None, ...] = ()  # of the first measure, where it adds up
    coverage: Coverage = field(default_factory=Coverage)
    kept_from: Mapping[str, str] = field(default_factory=dict)  # by dataset not kept for all of it
    rejected: int | None = None  # documents no store would take; None: not counted here
    provisional: bool = False  # the period reaches into hours that are still being sampled
    multiple: bool = False  # rows may count a document more than once: they exceed the total
    notes: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()  # what answered

    @property
    def empty(self) -> bool:
        return not self.rows

    def label(self, key: str, value: Scalar | None) -> str:
        """
        A row's key as people read it.
        """
        if key == self.question.bucket:
            return time_label(key, value, self.period.zone)
        return dimension(key).label(value)


def ask(
    question: Question,
    store: Store,
    scope: Scope,
    now: datetime,
    *,
    zone: ZoneInfo | None = None,
    own: Mapping[str, ZoneInfo] | None = None,
    named: Mapping[str, str] | None = None,
    rolled: bool = True,
    rejected: Callable[[Period], int] | None = None,
) -> Answer:
    """
    Answer QUESTION as of NOW. ZONE counts the days, but those of clusters with a zone of their OWN;
    NAMED are the site's own periods; ROLLED takes closed hours from hourly usage; REJECTED counts
    dead letters, where they can be seen.
    """
    if scope.least:
        from leadline.query.public import ask_public

        return ask_public(question, store, scope, now, zone=zone, own=own, named=named)
    known = canonical(question)
    period = parse_period(known.period, now, zone or local_zone(), named, own)
    until = complete_until(store) if rolled else None
    asker = Asker(store, scope, period, until, now)
    found = sources(known, period, store, scope, rolled=until is not None)
    dims = [dimension(name) for name in known.by]
    chosen = rank(known, dims, found, asker)
    tables = [_levels(known, dims, chosen, source, asker) for source in found]
    rows = _rows(known, dims, chosen, tables)
    total = _ordered(known, _values(tables, [level.total(None).get((), {}) for level in tables]))
    others, others_by_time = _others(known, tables, chosen.hidden)
    by_time = _by_time(known, tables, [level.total(known.bucket) for level in tables])
    oldest = {name: oldest_of(store, name) for name in asker.leaned_on}
    kept_from = not_kept(oldest, period, store)
    gone = lost_counts(known, period, kept_from, oldest)
    rows = [{**row, **gone(row)} for row in rows]
    counted_again = [s for s in found if any(d.multiple_in(s.plan.dataset) for d in dims)]
    sure = coverage(known, period, store, now)
    refused = None if rejected is None else rejected(period)
    notes = [
        *whose_days(period),
        *which_moment(known, found),
        *asker.notes,
        *nobody_looked(found, store),
        *still_running(known, found, period, store, scope, now),
        *of_no_process(known, total, period, store, scope),
        *_more_than_once(known, counted_again, rows, others, total),
        *lost(kept_from, refused, sure),
    ]
    return Answer(
        question=known,
        period=period,
        asked=now,
        rows=tuple(rows),
        total={**total, **gone(total)},
        others=others if others is None else {**others, **gone(others)},
        others_count=chosen.hidden,
        total_by_time=tuple({**row, **gone(row)} for row in by_time),
        others_by_time=tuple({**row, **gone(row)} for row in others_by_time),
        shares=_shares(known, rows, total),
        coverage=sure,
        kept_from=kept_from,
        rejected=refused,
        provisional=is_open(period, now),
        multiple=bool(counted_again),
        notes=tuple(note for note in notes if note),
        datasets=tuple(asker.answered),
    )


@dataclass(frozen=True, slots=True)
class _Levels:
    """
    One source's parts at every level: rows, the rows that are left out, the whole.
    """

    asker: Asker
    source: Source
    dims: Sequence[Dimension]
    bucket: str | None
    shown: Sequence[Key]
    limited: bool  # only the shown rows are fetched

    @property
    def _field(self) -> str:
        name = self.dims[0].field_in(self.source.plan.dataset)
        assert name is not None
        return name

    @property
    def _single(self) -> bool:
        return not any(d.multiple_in(self.source.plan.dataset) for d in self.dims)

    def rows(self, bucket: str | None) -> Table:
        if not self.limited:
            return self.asker.table(self.source, self.dims, bucket)
        table: Table = {}
        for where in shown_conditions(self._field, [key[0] for key in self.shown]):
            table |= self.asker.table(self.source, self.dims, bucket, where)
        return table

    def total(self, bucket: str | None) -> Table:
        if bucket is None and self.bucket and joins(self.source):
            return join_rows(self.source, self.total(self.bucket), lambda key: ())
        if not self.dims or self.limited or not self._single or not joins(self.source):
            return self.asker.table(self.source, (), bucket)
        cut = len(self.dims)
        rows = join_rows(self.source, self.rows(bucket), lambda key: key[cut:])
        return rows or self.asker.table(self.source, (), bucket)

    def others(self, bucket: str | None) -> Table:
        """
        What no shown row holds.
        """
        if bucket is None and self.bucket and joins(self.source):
            return join_rows(self.source, self.others(self.bucket), lambda key: ())
        cut = len(self.dims)
        if not self.limited and self._single and joins(self.source):
            shown = set(self.shown)
            hidden = {k: v for k, v in self.rows(bucket).items() if k[:cut] not in shown}
            return join_rows(self.source, hidden, lambda key: key[cut:])
        dataset = self.source.plan.dataset
        by_kind = any(d.by_node_in(dataset) for d in self.dims)
        kinds = node_kinds(self.asker.store) if by_kind else {}
        places = apart(self.dims, dataset)
        if not places:
            hidden_by = left_out(self.dims, dataset, self.shown, kinds)
            return self.asker.table(self.source, (), bucket, without=hidden_by)
        found: Table = {}
        asked, cut = [self.dims[place] for place in places], len(places)
        rest = [known for place, known in enumerate(self.dims) if place not in places]
        shown_at = by_place(self.shown, places)
        for keys in {(), *shown_at.values()}:
            hidden_by = left_out(rest, dataset, keys, kinds)
            table = self.asker.table(self.source, asked, bucket, without=hidden_by)
            found |= {key: p for key, p in table.items() if shown_at.get(key[:cut], ()) == keys}
        return join_rows(self.source, found, lambda key: key[cut:])


def _levels(
    question: Question, dims: Sequence[Dimension], chosen: Ranked, source: Source, asker: Asker
) -> _Levels:
    told = [each.at(source.plan.time) for each in dims]
    return _Levels(asker, source, told, question.bucket, chosen.shown, chosen.limited)


def _values(tables: Sequence[_Levels], parts: Sequence[Mapping[str, Part]]) -> Values:
    """
    Measures from one joined row of parts per source.
    """
    values: Values = {}
    for level, known in zip(tables, parts, strict=True):
        functions = level.source.functions()
        for asked, names in zip(level.source.measures, level.source.parts, strict=True):
            values[asked.name] = asked.value(
                [counted(known.get(name, nothing(functions[name]))) for name in names]
            )
    return values


def _rows(
    question: Question, dims: Sequence[Dimension], chosen: Ranked, tables: Sequence[_Levels]
) -> list[Row]:
    found = [level.rows(question.bucket) for level in tables]
    keys: Sequence[Key] = chosen.shown
    if question.bucket is not None:
        keys = _in_time(question, len(dims), chosen, found)
    rows = []
    for key in keys:
        values = _values(tables, [table.get(key, {}) for table in found])
        if key in chosen.unused:
            values = {name: 0.0 if measure(name).adds else None for name in values}
        row: Row = dict(zip(question.keys, key, strict=True))
        rows.append({**row, **_ordered(question, values)})
    return rows


def _in_time(question: Question, cut: int, chosen: Ranked, found: Sequence[Table]) -> list[Key]:
    """
    The shown rows' keys bucket by bucket, in each by rank.
    """
    places = {key: place for place, key in enumerate(chosen.shown)}
    present = {key for table in found for key in table if key[:cut] in places}
    ordered = sorted(present, key=lambda key: places[key[:cut]])
    newest = question.order == question.bucket and not question.ascending
    ordered.sort(key=lambda key: str(key[cut]), reverse=newest)
    return ordered


def _ordered(question: Question, values: Values) -> Values:
    """
    The measures asked for, those worked out from others among them.
    """
    return {name: _worked_out(measure(name), values) for name in question.measures}


def _worked_out(asked: Measure, values: Values) -> float | None:
    return asked.value([values[name] for name in asked.of]) if asked.of else values[asked.name]


def _by_time(
    question: Question, tables: Sequence[_Levels], found: Sequence[Table]
) -> tuple[Row, ...]:
    if question.bucket is None:
        return ()
    keys = sorted({key for table in found for key in table}, key=str)
    return tuple(
        {
            question.bucket: key[0],
            **_ordered(question, _values(tables, [table.get(key, {}) for table in found])),
        }
        for key in keys
    )


def _others(
    question: Question, tables: Sequence[_Levels], hidden: int | None
) -> tuple[Values | None, tuple[Row, ...]]:
    if not hidden:
        return None, ()
    values = _values(tables, [level.others(None).get((), {}) for level in tables])
    if not question.bucket:
        return _ordered(question, values), ()
    in_time = [level.others(question.bucket) for level in tables]
    return _ordered(question, values), _by_time(question, tables, in_time)


def _shares(question: Question, rows: Sequence[Row], total: Values) -> tuple[float | None, ...]:
    name = question.measures[0]
    whole = total[name]
    if not measure(name).adds or not whole:
        return tuple(None for _ in rows)
    return tuple(None if (value := row[name]) is None else float(value) / whole for row in rows)


def _more_than_once(
    question: Question,
    found: Sequence[Source],
    rows: Sequence[Row],
    others: Values | None,
    total: Values,
) -> Iterator[str]:
    """
    How much of the first measure that adds up is in several rows of the sources FOUND to do so.
    """
    if not found:
        return
    if "partition" in question.by and any(s.plan.dataset == "capacity" for s in found):
        yield "a node in several partitions counts in each of them; the total counts it once"
        return
    told = {known.name for source in found for known in source.measures if known.adds}
    name = next((name for name in question.measures if name in told), None)
    if name is None or (question.bucket and measure(name).running):
        yield "rows may count a sample or a run more than once; the total counts each once"
        return
    parts = [float(value) for row in rows if (value := row[name]) is not None]
    again = sum(parts) + ((others or {}).get(name) or 0.0) - (total[name] or 0.0)
    if abs(again) > 1e-9 * abs(total[name] or 0.0):
        more, name = _amount(again, measure(name).unit), measure(name).title
        yield f"{more} of {name} counted in more than one row; the total counts each once"


def _amount(value: float, unit: str) -> str:
    if unit == "bytes":
        return f"{value / 2**30:,.1f} GiB"
    return f"{value:,.1f}" if unit else f"{value:,.0f}"


def time_label(bucket: str, value: Scalar | None, zone: ZoneInfo) -> str:
    """
    A bucket as people read it: the hour in the cluster's zone, 2026-10 for a month. Of an hour
    that comes twice it is said which.
    """
    if value is None:
        return "(none)"
    if bucket == "hour":
        hour = parse_time(str(value)).astimezone(zone)
        twice = hour.replace(fold=0).utcoffset() != hour.replace(fold=1).utcoffset()
        return f"{hour:{'%Y-%m-%d %H:%M %Z' if twice else '%Y-%m-%d %H:%M'}}"
    text = str(value)
    if bucket in ("quarter", "week"):
        return unit_text(bucket, date.fromisoformat(text[:10]))
    return text[: {"year": 4, "month": 7}.get(bucket, 10)]


def with_period(question: Question, period: Period) -> Question:
    """
    The same question about another period: for the arrows beside it, and to compare.
    """
    return replace(question, period=period.text)
