"""
How memory is distributed where raw samples have gone: hourly usage keeps how many samples lay in
each class of memory (leadline.store.classes).

Percentiles are worked out from the classes of usage and of what samples there are besides, within
1.6 %. Classes that people read reach from one power of two to another, so they are made of whole
ones, and their counts are exact.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

from leadline.query.parts import Key, Parts, Table
from leadline.query.rollups import MEMORY, Pieces
from leadline.store.classes import class_of, least_of, middle_of
from leadline.store.plan import Aggregate, Bucket, Condition, Function, Group, Op, Plan

Held = Counter[int | None]  # samples by class; None: without a figure of memory

COUNT = Aggregate("n", Function.COUNT)
CLASS = Group(MEMORY, Bucket.CLASS)


def told_class(number: int, count: int) -> str:
    """
    So many samples of a class, as hourly usage keeps it.
    """
    return f"{number}:{count}"


def by_class(plan: Plan) -> Plan | None:
    """
    The samples of each class where PLAN asks how memory is distributed; None where it does not, or
    classes cannot tell.
    """
    limits = _limits(plan)
    distributed = any(_is_of_memory(group) for group in plan.by) or any(
        a.function is Function.PERCENTILE for a in plan.aggregates
    )
    if not (distributed or limits) or not all(_from_counts(a) for a in plan.aggregates):
        return None
    if not all(_is_edge(condition) for conditions in limits for condition in conditions):
        return None
    by = (*(group for group in plan.by if not _is_of_memory(group)), CLASS)
    where = tuple(c for c in plan.where if c.field != MEMORY)
    without = tuple(each for each in plan.without if each not in limits)
    asked = replace(plan, where=where, without=without)
    return replace(asked, aggregates=(COUNT,), by=by, best="", limit=None)


def _limits(plan: Plan) -> list[tuple[Condition, ...]]:
    """
    Sets of conditions that speak of memory: what must hold, and what may not.
    """
    must = tuple(c for c in plan.where if c.field == MEMORY)
    never = [each for each in plan.without if any(c.field == MEMORY for c in each)]
    return [*([must] if must else []), *never]


def _is_edge(condition: Condition) -> bool:
    """
    Whether whole classes meet it or do not.
    """
    if condition.field != MEMORY:
        return False
    if condition.op in (Op.AT_LEAST, Op.BELOW):
        return all(least_of(class_of(int(edge))) == edge for edge in condition.values)
    return condition.op in (Op.EXISTS, Op.MISSING)


def _kept(plan: Plan, number: int | None) -> bool:
    """
    Whether samples of a class are asked for.
    """
    must = [c for c in plan.where if c.field == MEMORY]
    never = [each for each in plan.without if each in _limits(plan)]
    left_out = any(all(_meets(number, c) for c in each) for each in never)
    return all(_meets(number, c) for c in must) and not left_out


def _meets(number: int | None, condition: Condition) -> bool:
    if condition.op in (Op.MISSING, Op.EXISTS):
        return (number is None) == (condition.op is Op.MISSING)
    if number is None:
        return False
    return (least_of(number) >= condition.values[0]) == (condition.op is Op.AT_LEAST)  # type: ignore[operator]


def from_classes(plan: Plan, cut: Pieces, rows: Callable[[Plan], Table]) -> Table:
    """
    What PLAN asks, from the samples of each class in the pieces of `by_class(plan)`.
    """
    held: dict[Key, Held] = {}
    for raw in cut.raw:
        for key, parts in rows(raw).items():
            number = key[-1]
            found = held.setdefault(key[:-1], Counter())
            found[None if number is None else int(number)] += _count(parts)
    assert cut.usage is not None
    for key, several in _of_usage(cut.usage, rows).items():
        held.setdefault(key, Counter()).update(several)
    if not plan.by:
        held.setdefault((), Counter())
    return _folded(plan, held)


def _of_usage(usage: Plan, rows: Callable[[Plan], Table]) -> dict[Key, Held]:
    found: dict[Key, Held] = {}
    for key, parts in rows(usage).items():
        several = found.setdefault(key[:-1], Counter())
        if key[-1] is not None:
            number, count = str(key[-1]).split(":")
            several[int(number)] += int(count) * _count(parts)
    samples = Aggregate("n", Function.SUM, "sample.count")
    for key, parts in rows(replace(usage, by=usage.by[:-1], aggregates=(samples,))).items():
        several = found.setdefault(key, Counter())
        several[None] += _count(parts) - several.total()
    return found


def _folded(plan: Plan, held: Mapping[Key, Held]) -> Table:
    """
    Classes that people read take their place in the key again.
    """
    place = next((n for n, group in enumerate(plan.by) if _is_of_memory(group)), None)
    members: dict[Key, Held] = {}
    for key, every in held.items():
        several = Counter({n: count for n, count in every.items() if _kept(plan, n)})
        if place is None:
            if several.total() or not plan.by:
                members[key] = several
            continue
        for number, count in several.items():
            edge = _edge(plan.by[place], number)
            at = (*key[:place], edge, *key[place:])
            if count:
                members.setdefault(at, Counter())[number] += count
    return {
        key: {a.name: _value(a, several) for a in plan.aggregates}
        for key, several in members.items()
    }


def _edge(group: Group, number: int | None) -> float | None:
    if number is None:
        return None
    return max((edge for edge in group.edges if edge <= least_of(number)), default=None)


def _value(asked: Aggregate, several: Held) -> float | None:
    if asked.function is Function.PERCENTILE:
        return percentile(several, asked.percent)
    return several.total() - (several[None] if asked.field else 0)


def percentile(several: Held, percent: float) -> float | None:
    """
    What stands for the class of the least value that so many percent do not exceed.
    """
    known = sorted((number, n) for number, n in several.items() if number is not None and n)
    rank = max(1, math.ceil(sum(n for _, n in known) * percent / 100 - 1e-9))
    for number, count in known:
        rank -= count
        if rank <= 0:
            return middle_of(number)
    return None


def _is_of_memory(group: Group) -> bool:
    return group.field == MEMORY and bool(group.edges)


def _from_counts(asked: Aggregate) -> bool:
    if asked.where:
        return False
    if asked.function is Function.COUNT:
        return asked.field in ("", MEMORY)
    return asked.function is Function.PERCENTILE and asked.field == MEMORY


def _count(parts: Parts) -> int:
    value = parts["n"]
    return int(value) if isinstance(value, int | float) else 0
