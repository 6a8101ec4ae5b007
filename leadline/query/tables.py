"""
Raw parts by key: what plans return before any measure is computed, and how rows join.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from leadline.errors import QuestionError
from leadline.formats.times import parse_time
from leadline.query.classes import by_class, from_classes
from leadline.query.compile import Source, between
from leadline.query.coverage import unclassed
from leadline.query.dimensions import DIMENSIONS, Dimension, dimension, time_group
from leadline.query.kinds import narrowed, node_kinds, of_kind
from leadline.query.measure import JOINED
from leadline.query.parts import (
    Key,
    Parts,
    Table,
    any_of,
    join_parts,
    joined_tables,
    numbers,
    values_of,
)
from leadline.query.periods import Period, first_of, midnight, move
from leadline.query.rollups import Pieces, holds, hour_of, mixes, pieces
from leadline.query.runs import Facts, by_run, facts_of
from leadline.query.slices import Cut, sliced
from leadline.query.spans import by_clocks
from leadline.store.contract import Store
from leadline.store.plan import (
    ROWS,
    Aggregate,
    Condition,
    Function,
    Group,
    Op,
    Plan,
    Scalar,
)
from leadline.store.scope import Scope

Span = tuple[datetime | None, datetime | None]

COUNT = Aggregate("n", Function.COUNT)
MOST_LOOKED_UP = 5000  # keys named in one condition
MOST_BUCKETS = 1000  # where each bucket is a plan of its own


@dataclass(frozen=True, slots=True)
class Asker:
    """
    Asks one store for one question's tables, each once.
    """

    store: Store
    scope: Scope
    period: Period
    until: datetime | None = None  # hourly usage is complete before it
    now: datetime | None = None  # nothing runs after it yet
    seen: dict[tuple[object, ...], Table] = field(default_factory=dict)
    answered: dict[str, None] = field(default_factory=dict)  # datasets that were asked
    cut: dict[Plan, int] = field(default_factory=dict)  # rows there are, where few were sent
    leaned_on: dict[str, None] = field(default_factory=dict)  # those that bear the period
    outlived: dict[Span, bool] = field(default_factory=dict)  # by usage, of samples that have gone
    facts: dict[tuple[str, ...], Facts] = field(default_factory=dict)  # of runs, by dimensions
    notes: dict[str, None] = field(default_factory=dict)  # what must be said of the rows

    def table(
        self,
        source: Source,
        by: Sequence[Dimension],
        bucket: str | None,
        where: tuple[Condition, ...] = (),
        without: tuple[tuple[Condition, ...], ...] = (),
    ) -> Table:
        """
        Parts by the values of BY and the time bucket (last in the key, when there is one).
        """
        if without:
            hidden = (*source.plan.without, *without)
            source = replace(source, plan=replace(source.plan, without=hidden))
        by = [known.at(source.plan.time) for known in by]
        key = (source.plan, tuple(known.name for known in by), bucket, where)
        if key not in self.seen:
            if source.running and bucket is not None:
                self.seen[key] = self._running(source, by, bucket, where)
            else:
                plan = replace(source.plan, where=(*source.plan.where, *where))
                ask = self._with_sets if source.listed else self._ask
                found = ask(plan, by, bucket)
                if source.running:  # runs before the period are looked at, too, and not counted
                    found = {k: p for k, p in found.items() if not k or any_of(plan, p)}
                self.seen[key] = found
        return self.seen[key]

    def cuts_days(self, plan: Plan, bucket: str | None) -> bool:
        """
        Whether runs' days must be taken apart by hour, by anybody's clocks.
        """
        return any(Cut(span, self.now).applies(plan, bucket) for span in self.period.spans)

    def rows(self, plan: Plan) -> Table:
        """
        Parts by the plan's own groups.
        """
        return self._rows(plan)

    def _running(
        self,
        source: Source,
        by: Sequence[Dimension],
        bucket: str,
        where: tuple[Condition, ...],
    ) -> Table:
        """
        What overlaps each bucket, up to now: a run of three days is in each of them.
        """
        tables: list[Table] = []
        for cluster, span in by_clocks(self.period):
            table: Table = {}
            for label, start, end in self._buckets(source.plan, span, bucket):
                if self.now is not None and start >= self.now:
                    break
                plan = between(source, start, end)
                part = self._ask(replace(plan, where=(*plan.where, *cluster, *where)), by, None)
                table |= {(*key, label): p for key, p in part.items() if any_of(plan, p)}
            tables.append(table)
        return joined_tables(source.functions(), tables)

    def _with_sets(self, plan: Plan, by: Sequence[Dimension], bucket: str | None) -> Table:
        """
        Distinct values as sets, which join: one look at the store for rows, others and the whole.
        """
        distinct = [a for a in plan.aggregates if a.function is Function.DISTINCT]
        rest = tuple(a for a in plan.aggregates if a not in distinct)
        table: Table = {}
        if rest or any(a.where for a in distinct):
            table = self._ask(replace(plan, aggregates=rest or (COUNT,)), by, bucket)
        for aggregate in distinct:
            (values,) = [d for d in DIMENSIONS if d.field_in(plan.dataset) == aggregate.field]
            asked = replace(plan, aggregates=(COUNT,), where=(*plan.where, *aggregate.where))
            sets: dict[Key, set[object]] = {}
            for key in self._ask(asked, (*by, values), bucket):
                place = len(by)
                sets.setdefault((*key[:place], *key[place + 1 :]), set()).add(key[place])
            table = table or {key: {} for key in sets}
            for key, parts in table.items():
                parts[aggregate.name] = frozenset(sets.get(key, set()) - {None})
        return table

    def _ask(self, plan: Plan, by: Sequence[Dimension], bucket: str | None) -> Table:
        if told := [known for known in by if known.by_run_in(plan.dataset)]:
            names = tuple(known.name for known in told)
            if names not in self.facts:
                self.facts[names] = facts_of(plan, told, self.store, self.scope)
            return by_run(plan, by, bucket, self.facts[names], self._ask)
        if any(known.by_node_in(plan.dataset) for known in by):
            return self._by_kind(plan, by, bucket)
        if self.cuts_days(plan, bucket):
            return joined_tables(
                {a.name: a.function for a in plan.aggregates},
                [
                    sliced(Cut(span, self.now), narrowed(plan, *cluster), by, bucket, self._rows)
                    for cluster, span in by_clocks(self.period)
                ],
            )
        groups = tuple(known.group_in(plan.dataset) for known in by)
        if bucket is None:
            return self._rows(replace(plan, by=groups))
        return self._rows(replace(plan, by=(*groups, time_group(bucket, plan.time))))

    def _by_kind(self, plan: Plan, by: Sequence[Dimension], bucket: str | None) -> Table:
        """
        By what nodes are: asked by node and joined, or of each kind on its own.
        """
        kinds = node_kinds(self.store)
        place = next(n for n, known in enumerate(by) if known.by_node_in(plan.dataset))
        before, after = by[:place], by[place + 1 :]
        functions = {a.name: a.function for a in plan.aggregates}
        several = by[place].multiple_in(plan.dataset)  # a run on two nodes of a kind counts once
        if several or not all(function in JOINED for function in functions.values()):
            table: Table = {}
            for kind in (*sorted(set(kinds.values())), None):
                asked = of_kind(plan, kinds, kind)
                parts_of = [self._ask(each, (*before, *after), bucket) for each in asked]
                part = joined_tables(functions, parts_of) if len(asked) > 1 else parts_of[0]
                table |= {
                    (*key[:place], kind, *key[place:]): parts
                    for key, parts in part.items()
                    if key or any_of(plan, parts)
                }
            return table
        nodes = (dimension("cluster"), dimension("host"))
        members: dict[Key, list[Parts]] = {}
        for key, parts in self._ask(plan, (*before, *nodes, *after), bucket).items():
            kind = kinds.get((str(key[place]), str(key[place + 1])))
            members.setdefault((*key[:place], kind, *key[place + 2 :]), []).append(parts)
        return {key: join_parts(functions, several) for key, several in members.items()}

    def _whole_hours(self) -> bool:
        """
        Whether clocks differ from UTC by whole hours, so that hours make up their days; and hours
        make up what is left out where clocks differ.
        """
        spans, hour = self.period.spans, timedelta(hours=1)
        for edges in ({span.start for span in spans}, {span.end for span in spans}):
            if len(edges) > 1 and any(edge and edge != hour_of(edge) for edge in edges):
                return False
        for span in spans:
            moments = (span.start, span.end, datetime(2026, 1, 1, tzinfo=UTC))
            offsets = [m.astimezone(span.zone).utcoffset() for m in moments if m is not None]
            if any((offset or timedelta()) % hour for offset in offsets):
                return False
        return True

    def _rows(self, plan: Plan) -> Table:
        """
        Rows of raw samples, hourly usage or both, each document once.
        """
        until = self.until if self._whole_hours() else None
        if until is not None and (classes := by_class(plan)) is not None:
            parts_of = pieces(classes, until)
            if parts_of.usage is not None and self._outlived(parts_of.usage):
                self.leaned_on["usage"] = None
                return from_classes(plan, parts_of, self._plain)
        if until is not None and plan.dataset == "process" and not self.scope.totals_only:
            listed = [a for a in plan.aggregates if a.function is Function.DISTINCT]
            if listed and all(mixes(plan, a, until) for a in listed):
                return self._listed(plan, listed)
        cut = pieces(plan, until)
        self.leaned_on[cut.usage.dataset if cut.usage else plan.dataset] = None
        if plan.best and plan.limit and cut.raw and cut.usage and len(plan.by) == 1:
            return self._best(plan, cut)
        tables = [self._plain(each) for each in cut.raw]
        if cut.usage is not None:
            counts = [a.name for a in plan.aggregates if a.function is Function.COUNT]
            tables.append(self._plain(cut.usage))
            for parts in tables[-1].values():
                parts.update({name: parts[name] or 0 for name in counts})  # sums of nothing, there
        return joined_tables({a.name: a.function for a in plan.aggregates}, tables)

    def _outlived(self, usage: Plan) -> bool:
        """
        Whether usage knows of samples that are no longer there to be asked; notes what it lacks.
        """
        span = (usage.start, usage.end)
        if span not in self.outlived:
            self.outlived[span] = not holds(self.store, *span)
            if self.outlived[span]:
                said = unclassed(self.store, *span, self.period.zone)
                self.notes.update(dict.fromkeys(said))
        return self.outlived[span]

    def _best(self, plan: Plan, cut: Pieces) -> Table:
        """
        The best of raw samples and usage together, without every row of usage: what raw does not
        know stands as usage has it, and what raw knows is looked up.
        """
        functions = {a.name: a.function for a in plan.aggregates}
        raw = joined_tables(functions, [self._plain(each) for each in cut.raw])
        assert cut.usage is not None
        assert plan.limit is not None
        if len(raw) > MOST_LOOKED_UP:
            return joined_tables(functions, [raw, self._plain(cut.usage)])
        few = replace(cut.usage, limit=plan.limit + len(raw))
        best = self._plain(few)
        name = plan.by[0].field
        for where in shown_conditions(name, [key[0] for key in raw if key not in best]):
            asked = replace(cut.usage, where=(*cut.usage.where, *where), best="", limit=None)
            best |= self._plain(asked)
        if few in self.cut:
            self.cut[plan] = self.cut[few] + sum(key not in best for key in raw)
        return joined_tables(functions, [raw, best])

    def _listed(self, plan: Plan, distinct: Sequence[Aggregate]) -> Table:
        """
        Distinct values of raw samples and usage together.
        """
        rest = tuple(a for a in plan.aggregates if a not in distinct)
        table: Table = {}
        if rest:
            table = self._rows(replace(plan, aggregates=rest, best="", limit=None))
        for aggregate in distinct:
            counts = self._counted(plan, aggregate)
            table = table or {key: {} for key in counts}
            for key, parts in table.items():
                parts[aggregate.name] = counts.get(key, 0)
        return table

    def _counted(self, plan: Plan, aggregate: Aggregate) -> Mapping[Key, int]:
        """
        Usage counts its own values; those of raw samples that it has not are added.
        """
        by = (*plan.by, Group(aggregate.field))
        asked = replace(plan, aggregates=(COUNT,), by=by, best="", limit=None)
        cut = pieces(asked, self.until)
        assert cut.usage is not None
        new = values_of(key for each in cut.raw for key in self._plain(each))
        names = sorted(frozenset[Scalar]().union(*new.values()), key=str)
        if len(names) > MOST_LOOKED_UP:
            both = values_of(
                (*self._plain(cut.usage), *((*k, v) for k in new for v in (*new[k], None)))
            )
            return {key: len(values) for key, values in both.items()}
        counted = self._plain(replace(cut.usage, aggregates=(aggregate,), by=plan.by))
        counts = {key: int(parts[aggregate.name] or 0) for key, parts in counted.items()}  # type: ignore[arg-type]
        if names:
            where = (*cut.usage.where, Condition(aggregate.field, Op.IN, tuple(names)))
            held = values_of(self._plain(replace(cut.usage, where=where)))
            for key, values in new.items():
                counts[key] = counts.get(key, 0) + len(values - held.get(key, set()))
        return counts

    def _plain(self, plan: Plan) -> Table:
        self.answered[plan.dataset] = None
        names = [group.field for group in plan.by]
        found = self.store.ask(plan, self.scope)
        if found and ROWS in found[0]:
            self.cut[plan] = int(found[0][ROWS] or 0)
        return {tuple(row[n] for n in names): numbers(plan, row) for row in found}

    def _buckets(
        self, plan: Plan, span: Period, bucket: str
    ) -> Iterable[tuple[str, datetime, datetime]]:
        """
        Calendar buckets in which runs may have run, cut to SPAN.
        """
        start, end, zone = span.start, span.end or self.now, span.zone
        if start is None or end is None:
            first, last = self._span(plan)
            if first is None or last is None:
                return
            start, end = start or first, end or last + timedelta(milliseconds=1)
        for count in range(MOST_BUCKETS + 1):
            if start >= end:
                return
            if bucket == "hour":
                begin = start.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
                after, label = begin + timedelta(hours=1), f"{begin:%Y-%m-%dT%H}:00:00.000Z"
            else:
                day = first_of(start.astimezone(zone).date(), bucket)
                after, label = midnight(move(day, bucket, 1), zone), day.isoformat()
            if count == MOST_BUCKETS:
                raise QuestionError(f"more than {MOST_BUCKETS} buckets; ask a shorter period")
            yield label, start, min(after, end)
            start = after

    def _span(self, plan: Plan) -> tuple[datetime | None, datetime | None]:
        edges = (
            Aggregate("first", Function.MIN, plan.time),
            Aggregate("last", Function.MAX, plan.time),
        )
        (row,) = self.store.ask(replace(plan, aggregates=edges), self.scope)
        first, last = row["first"], row["last"]
        return first and parse_time(str(first)), last and parse_time(str(last))  # type: ignore[return-value]


def shown_conditions(
    field_name: str, values: Sequence[Scalar | None]
) -> list[tuple[Condition, ...]]:
    """
    Documents that have one of VALUES: one set of conditions, or two when None is among them.
    """
    known = tuple(value for value in values if value is not None)
    found: list[tuple[Condition, ...]] = []
    if known:
        found.append((Condition(field_name, Op.IN, known),))
    if None in values:
        found.append((Condition(field_name, Op.MISSING),))
    return found
