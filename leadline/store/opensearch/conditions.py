"""
Conditions, scopes and time ranges as the engine's query language.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from leadline.errors import StoreError
from leadline.formats import DATASETS, Field, Type
from leadline.formats.times import format_time
from leadline.store.plan import Condition, Op
from leadline.store.scope import Scope
from leadline.store.values import flat_path, typed_all

Query = dict[str, object]

NOTHING: Query = {"match_none": {}}


def query(
    dataset: str,
    scope: Scope,
    where: Sequence[Condition] = (),
    start: datetime | None = None,
    end: datetime | None = None,
    time: str = "@timestamp",
) -> Query:
    fields = DATASETS[dataset].by_name
    filters: list[Query] = [{"term": {"dataset": dataset}}]
    if start is not None or end is not None:
        bounds = {"gte": start, "lt": end}
        written = {side: format_time(moment) for side, moment in bounds.items() if moment}
        filters.append({"range": {time: written}})
    filters += [compiled(condition, fields) for condition in where]
    if either := scope.conditions():
        filters.append(any_of([compiled(condition, fields) for condition in either]))
    return {"bool": {"filter": filters}}


def compiled(condition: Condition, fields: dict[str, Field]) -> Query:
    name = condition.field
    field = fields.get(name)
    if condition.op is Op.EXISTS:
        return {"exists": {"field": name}}
    if condition.op is Op.MISSING:
        return none_of({"exists": {"field": name}})
    if field is not None and field.type is not Type.FLAT:
        values = typed_all(field, condition.values)
    elif (path := flat_path(name, fields)) and path[0].name == "labels":
        values = [str(value) for value in condition.values]
    else:
        values = []  # nobody has such a field
    if condition.op is Op.IN:
        return {"terms": {name: values}} if values else NOTHING
    if condition.op is Op.NOT_IN:
        return none_of({"terms": {name: values}} if values else NOTHING)
    if condition.op is Op.PREFIX:
        texts = [str(value) for value in values]
        return any_of([{"prefix": {name: {"value": text}}} for text in texts])
    side = {Op.AT_LEAST: "gte", Op.BELOW: "lt"}[condition.op]
    return any_of([{"range": {name: {side: value}}} for value in values])


def all_of(conditions: Sequence[Condition], fields: dict[str, Field]) -> Query:
    return {"bool": {"filter": [compiled(condition, fields) for condition in conditions]}}


def any_of(queries: Sequence[Query]) -> Query:
    return {"bool": {"should": list(queries), "minimum_should_match": 1}} if queries else NOTHING


def none_of(unwanted: Query) -> Query:
    return {"bool": {"must_not": [unwanted]}}


def known_field(dataset: str, name: str) -> Field:
    field = DATASETS[dataset].by_name.get(name)
    if field is None or field.type is Type.FLAT:
        raise StoreError(f"{dataset} has no field {name} that OpenSearch can group or sum")
    return field
