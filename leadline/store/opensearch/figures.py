"""
How the engine's buckets become what rows carry. Readers are made once for a plan: an answer may
have hundreds of thousands of rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from leadline.formats import Field, Type
from leadline.formats.times import format_time
from leadline.store.opensearch.conditions import known_field
from leadline.store.plan import Aggregate, Bucket, Function, Group, Plan, Scalar

Figure = Callable[[Any, int], Scalar | None]  # a bucket's aggregations, its count of documents


def reader(plan: Plan, group: Group) -> Callable[[Any], Scalar | None]:
    """
    How a bucket's key becomes what a row carries.
    """
    if group.bucket is Bucket.HOUR:
        return instant
    if group.bucket is Bucket.CLASS:
        return lambda value: None if value is None else int(value)
    if group.bucket is not None:
        return day
    field = plan.fields.get(group.field)
    return value_reader(field) if field is not None else lambda value: value


def value_reader(field: Field) -> Callable[[Any], Scalar | None]:
    if field.type is Type.DATE:
        return instant
    if field.type is Type.DAY:
        return day
    if field.type is Type.BOOLEAN:
        return lambda value: None if value is None else value in (True, 1, "true")
    if field.type is Type.LONG:
        return lambda value: None if value is None else int(value)
    return lambda value: value


def instant(milliseconds: Any) -> str | None:
    if milliseconds is None:
        return None
    return format_time(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds))


def day(milliseconds: Any) -> str | None:
    if isinstance(milliseconds, str):
        return milliseconds[:10]
    text = instant(milliseconds)
    return None if text is None else text[:10]


def figures(plan: Plan) -> dict[str, Figure]:
    """
    What reads each aggregate of the plan from a bucket that `metrics` asked for, by name.
    """
    return {a.name: _placed(plan, a, f"a{place}") for place, a in enumerate(plan.aggregates)}


def _placed(plan: Plan, aggregate: Aggregate, place: str) -> Figure:
    """
    What stands at PLACE in a bucket, or below a filter there; where no index is there, nothing.
    """
    read = _figure(plan, aggregate)
    filtered = aggregate.where or aggregate.function is Function.PERCENTILE

    def below(bucket: Any, _: int) -> Scalar | None:
        found = bucket.get(place, {})
        return read(found.get("m", {}), found.get("doc_count", 0))

    return below if filtered else lambda bucket, count: read(bucket.get(place, {}), count)


def _figure(plan: Plan, aggregate: Aggregate) -> Figure:
    function = aggregate.function
    if function is Function.COUNT and aggregate.field:
        return lambda found, _: int(found.get("doc_count", 0))
    if function is Function.COUNT:
        return lambda _, count: count
    if function is Function.DISTINCT:
        return lambda _found, _count: 0  # counted in a second pass
    if function is Function.PERCENTILE:
        return _percentile
    convert = value_reader(known_field(plan.dataset, aggregate.field))

    def value(found: Any, _: int) -> Scalar | None:
        if found.get("buckets"):
            return convert(found["buckets"][0]["key"])
        return convert(found[function.value]) if found.get("count") else None

    return value


def _percentile(found: Any, _: int) -> Scalar | None:
    value = next((item["value"] for item in found.get("values", [])), None)
    return None if value is None or math.isnan(value) else float(value)
