"""
Rows by hour of the day, from a field of seconds by hour that the engine cannot group by: sums and
counts of each hour are scripts within the buckets of the other groups.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from leadline.errors import StoreError
from leadline.store.opensearch.conditions import Query, all_of, known_field
from leadline.store.plan import Aggregate, Bucket, Function, Group, Plan, Row, Scalar

HOURS = (*(f"{hour:02d}" for hour in range(24)), "")  # the last: documents that name none
SHARE = (
    "def all = params._source[params.hours]; double whole = 0;"
    " if (all != null) { for (def value : all.values()) { whole += value; } }"
    " double share = 0;"
    " if (whole == 0) { share = params.hour == '' ? 1 : 0; }"
    " else if (all.containsKey(params.hour)) { share = all[params.hour] / whole; }"
)
HELD = f"{SHARE} return share > 0 ? 1 : 0;"
HELD_VALUE = (
    f"{SHARE} return share > 0 && (params.field == '' || doc[params.field].size() > 0) ? 1 : 0;"
)
SUM = f"{SHARE} return doc[params.field].size() == 0 ? 0 : doc[params.field].value * share;"

Key = tuple[Scalar | None, ...]
Grouped = Callable[[Plan, dict[str, object]], list[tuple[Key, Any]]]


def clock_of(plan: Plan) -> Group | None:
    return next((group for group in plan.by if group.bucket is Bucket.CLOCK), None)


def by_clock(plan: Plan, clock: Group, fields: Any, grouped: Grouped) -> dict[Key, Row]:
    """
    GROUPED answers the plan without its clock, with the aggregations given.
    """
    place = plan.by.index(clock)
    rest = replace(plan, by=tuple(group for group in plan.by if group is not clock))
    found: dict[Key, Row] = {}
    for key, bucket in grouped(rest, _metrics(plan, clock, fields)):
        for hour in HOURS:
            if not bucket[f"n{hour}"]["value"]:
                continue
            at = (*key[:place], int(hour) if hour else None, *key[place:])
            found[at] = {
                a.name: _read(bucket, number, a, hour) for number, a in enumerate(plan.aggregates)
            }
    return found


def _metrics(plan: Plan, clock: Group, fields: Any) -> dict[str, object]:
    made: dict[str, object] = {}
    for hour in HOURS:
        params = {"hours": clock.field, "hour": hour}
        made[f"n{hour}"] = _script(HELD, params)
        for number, aggregate in enumerate(plan.aggregates):
            if aggregate.function not in (Function.SUM, Function.COUNT):
                raise StoreError(f"{aggregate.function} is not told apart by the hours of a run")
            if aggregate.field:
                known_field(plan.dataset, aggregate.field)
            own = {**params, "field": aggregate.field}
            inner = {"held": _script(HELD_VALUE, own)}
            if aggregate.function is Function.SUM:
                inner["sum"] = _script(SUM, own)
            among: Query = all_of(aggregate.where, fields)
            made[f"a{number}-{hour}"] = {"filter": among, "aggs": inner}
    return made


def _script(source: str, params: dict[str, str]) -> dict[str, object]:
    return {"sum": {"script": {"source": source, "params": params}}}


def _read(bucket: Any, number: int, aggregate: Aggregate, hour: str) -> Scalar | None:
    found = bucket[f"a{number}-{hour}"]
    held = int(found["held"]["value"])
    if aggregate.function is Function.COUNT:
        return held
    return float(found["sum"]["value"]) if held else None
