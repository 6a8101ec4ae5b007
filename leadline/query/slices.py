"""
Hours of runs where a period begins or ends within a day, or hours are asked for.

A run's day says how many seconds of it lie in each hour by the cluster's clocks. Days that lie in
the period count whole; of a day that is cut, and for buckets of an hour, those hours are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta

from leadline.query.dimensions import Dimension, time_group
from leadline.query.measure import Part
from leadline.query.parts import Key, Parts, Table, join_parts, joined_tables
from leadline.query.periods import Period, first_of, midnight
from leadline.store.plan import Bucket, Condition, Function, Group, Op, Plan

CLOCK = Group("hours", Bucket.CLOCK)


@dataclass(frozen=True, slots=True)
class Cut:
    """
    Where PERIOD cuts days. What has not come yet is not there to be cut off.
    """

    period: Period
    now: datetime | None

    @property
    def days(self) -> tuple[str, ...]:
        edges = (self.period.start, self.end)
        found = [e.astimezone(self.period.zone).date() for e in edges if e and self._within(e)]
        return tuple(dict.fromkeys(day.isoformat() for day in found))

    @property
    def end(self) -> datetime | None:
        end = self.period.end
        return None if end is None or (self.now is not None and end >= self.now) else end

    def _within(self, moment: datetime) -> bool:
        local = moment.astimezone(self.period.zone)
        return midnight(local.date(), self.period.zone) != moment

    def applies(self, plan: Plan, bucket: str | None) -> bool:
        sums = all(a.function is Function.SUM for a in plan.aggregates)
        return plan.dataset == "job_slice" and sums and bool(bucket == "hour" or self.days)

    def span(self, day: str, hour: int) -> tuple[datetime, datetime]:
        """
        An hour by the clocks; where they are put back it comes twice, and lasts two.
        """
        first = date.fromisoformat(day)
        begin = datetime.combine(first, time(hour), self.period.zone).astimezone(UTC)
        after = midnight(first + timedelta(days=1), self.period.zone)
        if hour < 23:
            after = datetime.combine(first, time(hour + 1), self.period.zone).astimezone(UTC)
        return begin, max(begin, after)

    def share(self, day: str, hour: int) -> float:
        """
        How much of an hour lies in the period.
        """
        begin, after = self.span(day, hour)
        length = (after - begin).total_seconds()
        if not length:
            return 1.0  # clocks were put forward: nothing ran in it, or they were wrong
        first = begin if self.period.start is None else max(begin, self.period.start)
        last = after if self.end is None else min(after, self.end)
        return max(0.0, (last - first).total_seconds()) / length


def sliced(
    cut: Cut,
    plan: Plan,
    by: Sequence[Dimension],
    bucket: str | None,
    ask: Callable[[Plan], Table],
) -> Table:
    """
    Parts of PLAN by BY and BUCKET, days taken apart where they must be.
    """
    groups = tuple(known.group_in(plan.dataset) for known in by)
    functions = {a.name: a.function for a in plan.aggregates}
    of_cut: tuple[Condition, ...] = ()
    tables: list[Table] = []
    if bucket != "hour":
        of_cut = (Condition("local.day", Op.IN, cut.days),)
        others = Condition("local.day", Op.NOT_IN, cut.days)
        whole = (*groups, time_group(bucket)) if bucket else groups
        tables.append(ask(replace(plan, by=whole, where=(*plan.where, others))))
    clocks = groups if CLOCK in groups else (*groups, CLOCK)
    place, asked = clocks.index(CLOCK), (*clocks, time_group("day"))
    members: dict[Key, list[Parts]] = {}
    for key, parts in ask(replace(plan, by=asked, where=(*plan.where, *of_cut))).items():
        day, hour = str(key[-1]), key[place]
        share = 1.0 if hour is None else cut.share(day, int(hour))
        if share:
            values: Parts = {n: _of(share, value) for n, value in parts.items()}
            label = () if bucket is None else (_label(cut, day, hour, bucket),)
            members.setdefault((*key[: len(groups)], *label), []).append(values)
    tables.append({key: join_parts(functions, several) for key, several in members.items()})
    return joined_tables(functions, tables)


def _of(share: float, value: Part) -> Part:
    return share * value if isinstance(value, int | float) else value


def _label(cut: Cut, day: str, hour: object, bucket: str) -> str:
    if bucket == "hour":
        begin, _ = cut.span(day, 0 if hour is None else int(str(hour)))
        return f"{begin:%Y-%m-%dT%H}:00:00.000Z"
    return first_of(date.fromisoformat(day), bucket).isoformat()
