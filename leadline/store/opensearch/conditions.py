"""
Conditions, scopes and time ranges as the engine's query language.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from leadline.errors import StoreError
from leadline.formats import DATASETS, Field, Type
from leadline.formats.times import format_time
from leadline.store.clocks import Reading
from leadline.store.plan import Condition, Op
from leadline.store.scope import Scope
from leadline.store.values import flat_path, typed_all

Query = dict[str, object]

NOTHING: Query = {"match_none": {}}
CLOCKS = (
    "String shown = null; if (doc[params.instant].size() != 0) {"
    " String own = doc['cluster'].size() == 0 ? null : params.own[doc['cluster'].value];"
    " ZonedDateTime at = ZonedDateTime.ofInstant("
    "doc[params.instant].value.toInstant(), ZoneId.of(own == null ? params.zone : own));"
    " LocalDate day = at.toLocalDate();"
    " if (params.shows == 'week') { day = day.minusDays(day.getDayOfWeek().getValue() - 1); }"
    " if (params.shows == 'month' || params.shows == 'quarter') { day = day.withDayOfMonth(1); }"
    " if (params.shows == 'quarter') { day = day.minusMonths((day.getMonthValue() - 1) % 3); }"
    " if (params.shows == 'year') { day = day.withDayOfYear(1); }"
    " if (params.shows == 'hour') { shown = Integer.toString(at.getHour()); }"
    " else if (params.shows == 'weekday')"
    " { shown = Integer.toString(at.getDayOfWeek().getValue()); }"
    " else { shown = day.toString(); } }"
)


def query(
    dataset: str,
    scope: Scope,
    where: Sequence[Condition] = (),
    start: datetime | None = None,
    end: datetime | None = None,
    time: str = "@timestamp",
    fields: dict[str, Field] | None = None,
) -> Query:
    fields = DATASETS[dataset].by_name if fields is None else fields
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
    if isinstance(field, Reading):
        return of_clocks(condition, field)
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


def of_clocks(condition: Condition, field: Reading) -> Query:
    """
    A condition on what clocks showed; only equal or not.
    """
    there: Query = {"exists": {"field": field.instant}}
    if condition.op is Op.EXISTS:
        return there
    if condition.op is Op.MISSING:
        return none_of(there)
    if condition.op not in (Op.IN, Op.NOT_IN):
        raise StoreError(f"{field.name}: only compared as equal or not")
    one_of = f"{CLOCKS} return params.values.contains(shown)"
    values = [str(value) for value in typed_all(field, condition.values)]
    script = {"source": one_of, "params": {**clock_params(field), "values": values}}
    held: Query = {"bool": {"filter": [there, {"script": {"script": script}}]}}
    return held if condition.op is Op.IN else none_of(held)


def clock_params(field: Reading) -> dict[str, object]:
    clocks = field.clocks
    zones = {"zone": clocks.zone, "own": dict(clocks.own)}
    return {**zones, "instant": field.instant, "shows": field.shows}


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
