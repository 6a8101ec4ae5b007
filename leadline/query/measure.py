"""
What a measure is: a formula over parts, and how parts join.

A measure is a formula over parts; a part is what a store can sum, count or compare. Parts of
several rows join to the part of all of them (sums add, the greatest of maxima), so "others" and
totals are formulas over joined parts and never averages of averages. What cannot be joined
(distinct values, percentiles) is asked again for the others and for the whole. A measure may also
be worked out from measures of other datasets (`of`), again after those were joined.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from leadline.store.plan import Aggregate, Condition, Function

Parts = Sequence[float | None]
Part = float | frozenset[object] | None  # a set: the values themselves, where those are listed

JOINED = (Function.SUM, Function.COUNT, Function.MIN, Function.MAX)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    name: str
    title: str
    unit: str  # hours, bytes, seconds, percent, kWh, or empty for a count
    formula: str
    sentence: str
    dataset: str
    parts: tuple[Aggregate, ...]  # their names are given when a plan is made
    value: Callable[[Parts], float | None]
    time: str = "@timestamp"  # what decides the period a document belongs to
    where: tuple[Condition, ...] = ()
    adds: bool = False  # parts and others add up to the total
    approximate: bool = False  # on OpenSearch within 2 %
    running: bool = False  # overlaps the period, rather than lies in it
    cards: Measure | None = None  # the same card by card, for questions by card model
    of: tuple[str, ...] = ()  # measures it is worked out from, instead of parts of its own

    @property
    def joins(self) -> bool:
        return all(part.function in JOINED for part in self.parts)

    @property
    def percentile(self) -> bool:
        return any(part.function is Function.PERCENTILE for part in self.parts)

    @property
    def distinct(self) -> tuple[str, ...]:
        """
        The fields whose values are counted.
        """
        return tuple(part.field for part in self.parts if part.function is Function.DISTINCT)

    @property
    def source(self) -> tuple[str, str, tuple[Condition, ...], bool]:
        """
        Measures of one source are answered by one plan.
        """
        return self.dataset, self.time, self.where, self.running


def joined(function: Function, values: Sequence[Part]) -> Part:
    """
    One part of several rows together.
    """
    if function is Function.DISTINCT:
        return frozenset[object]().union(*(v for v in values if isinstance(v, frozenset)))
    known = [value for value in values if isinstance(value, int | float)]
    if function is Function.COUNT:
        return sum(known)
    if not known:
        return None
    if function is Function.SUM:
        return math.fsum(known)
    return min(known) if function is Function.MIN else max(known)


def counted(value: Part) -> float | None:
    """
    A part as the number that formulas take.
    """
    return len(value) if isinstance(value, frozenset) else value


def nothing(function: Function) -> float | None:
    """
    A part of no documents at all: no count is 0, anything else is not measured.
    """
    return 0 if function in (Function.COUNT, Function.DISTINCT) else None


def part(
    function: Function, field: str = "", *where: Condition, percent: float = 50.0
) -> Aggregate:
    return Aggregate("", function, field, percent, where)


def same(parts: Parts) -> float | None:
    return parts[0]


def summed(parts: Parts) -> float | None:
    known = [value for value in parts if value is not None]
    return math.fsum(known) if known else None


def per_hour(parts: Parts) -> float | None:
    return None if parts[0] is None else parts[0] / 3600


def ratio(parts: Parts) -> float | None:
    """
    The first part per unit of the second; not measured when there is nothing to divide by.
    """
    over, under = parts[0], parts[1]
    return None if over is None or not under else over / under


def percent(parts: Parts) -> float | None:
    found = ratio(parts)
    return None if found is None else 100 * found
