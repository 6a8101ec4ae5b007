"""
Plans and conditions as DuckDB SQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from leadline.formats import Field, Type
from leadline.formats.field import STRINGS
from leadline.formats.times import format_time
from leadline.store.classes import BITS, PER_DOUBLING
from leadline.store.clocks import NUMBERS, Reading
from leadline.store.lake.schema import fields_of, literal, quote
from leadline.store.plan import Aggregate, Bucket, Condition, Function, Group, Op, Plan, Scalar
from leadline.store.scope import Scope
from leadline.store.values import flat_path, typed_all

ISO = "%Y-%m-%dT%H:%M:%S.%gZ"
COMPARED = {Op.AT_LEAST: ">=", Op.BELOW: "<"}


class Query:
    """
    A statement in the making: its values are parameters, never text.
    """

    def __init__(self, dataset: str, fields: dict[str, Field] | None = None) -> None:
        self.fields = fields_of(dataset) if fields is None else fields
        self.values: list[object] = []
        self.share = ""  # what sums are multiplied with: a document's share in a row

    def value(self, value: object) -> str:
        self.values.append(value)
        return f"${len(self.values)}"

    def filters(
        self,
        where: Sequence[Condition],
        scope: Scope,
        start: datetime | None = None,
        end: datetime | None = None,
        time: str = "@timestamp",
    ) -> str:
        parts = [self.condition(condition) for condition in where]
        if either := scope.conditions():
            parts.append(f"({' OR '.join(self.condition(c) for c in either)})")
        if start is not None:
            parts.append(f"{self.column(time)} >= {instant(format_time(start))}")
        if end is not None:
            parts.append(f"{self.column(time)} < {instant(format_time(end))}")
        return " AND ".join(parts) or "true"

    def column(self, name: str) -> str:
        """
        A field's column; a field the dataset does not have is absent everywhere.
        """
        field = self.fields.get(name)
        if isinstance(field, Reading):
            return read(field)
        if field is not None:
            return quote(name)
        if path := flat_path(name, self.fields):
            pointer = path[1].replace("~", "~0").replace("/", "~1")
            return f"json_extract_string({quote(path[0].name)}, {self.value('/' + pointer)})"
        return "NULL::VARCHAR"

    def condition(self, condition: Condition) -> str:
        name, op = condition.field, condition.op
        if op is Op.EXISTS:
            return f"({self.column(name)} IS NOT NULL)"
        if op is Op.MISSING:
            return f"({self.column(name)} IS NULL)"
        if op is Op.NOT_IN:
            held = self.condition(Condition(name, Op.IN, condition.values))
            return f"(NOT coalesce({held}, false))"
        field = self.fields.get(name)
        if field is None or field.type is Type.FLAT:
            values: list[Scalar] = [str(value) for value in condition.values]
        else:
            values = typed_all(field, condition.values)
        if not values:
            return "false"
        if op is Op.IN:
            return self._in(self.column(name), field, values)
        tests = [self._compared(self.column(name), field, op, value) for value in values]
        return f"({' OR '.join(tests)})"

    def none_of(self, conditions: Sequence[Condition]) -> str:
        """
        Rows that do not match all of CONDITIONS.
        """
        held = " AND ".join(self.condition(condition) for condition in conditions)
        return f"(NOT coalesce({held}, false))"

    def _in(self, column: str, field: Field | None, values: list[Scalar]) -> str:
        placed = ", ".join(self._typed(field, value) for value in values)
        if field is not None and field.type is Type.SET:
            return f"list_has_any({column}, [{placed}])"
        return f"({column} IN ({placed}))"

    def _compared(self, column: str, field: Field | None, op: Op, value: Scalar) -> str:
        if op is Op.PREFIX:
            test = f"starts_with({{}}, {self.value(str(value))})"
        else:
            test = f"{{}} {COMPARED[op]} {self._typed(field, value)}"
        if field is not None and field.type is Type.SET:
            return f"len(list_filter({column}, lambda item: {test.format('item')})) > 0"
        if op is Op.PREFIX and field is not None and field.type not in STRINGS:
            column = f"({text_of(column, field)})::VARCHAR"
        return test.format(column)

    def _typed(self, field: Field | None, value: Scalar) -> str:
        if field is not None and field.type is Type.DATE:
            return instant(str(value))
        if field is not None and field.type is Type.DAY:
            return f"DATE {literal(str(value))}"
        return self.value(value)


def read(reading: Reading) -> str:
    """
    What clocks showed, each cluster's its own.
    """

    def by(zone: str) -> str:
        local = f"timezone({literal(zone)}, {quote(reading.instant)})"
        if reading.shows in NUMBERS:
            return f"{'hour' if reading.shows == 'hour' else 'isodow'}({local})"
        return f"date_trunc({literal(reading.shows)}, {local})::DATE"

    others = by(reading.clocks.zone)
    whens = [
        f"WHEN cluster = {literal(cluster)} THEN {by(zone)}" for cluster, zone in reading.clocks.own
    ]
    return f"(CASE {' '.join(whens)} ELSE {others} END)" if whens else others


def instant(text: str) -> str:
    """
    As a constant and not a parameter, so that Parquet row groups outside are never read.
    """
    return f"TIMESTAMPTZ {literal(text)}"


def text_of(column: str, field: Field | None) -> str:
    """
    A column as documents write it.
    """
    if field is not None and field.type is Type.DATE:
        return f"strftime({column}, '{ISO}')"
    if field is not None and field.type is Type.DAY:
        return f"{column}::VARCHAR"
    return column


def compile_plan(plan: Plan, scope: Scope, source: str) -> tuple[str, list[object]]:
    """
    One SELECT: filter, take sets apart, group, aggregate. Columns come in the plan's order.
    """
    query = Query(plan.dataset, plan.fields)
    where = query.filters(plan.where, scope, plan.start, plan.end, plan.time)
    where += "".join(f" AND {query.none_of(conditions)}" for conditions in plan.without)
    rows = f"{source} WHERE {where}"
    keys, shown = [], []
    for number, group in enumerate(plan.by):
        field = query.fields.get(group.field)
        key = f"k{number}"
        if group.bucket is Bucket.CLOCK:
            rows = f"(SELECT *, unnest({_hours(quote(group.field))}) AS u{number} FROM {rows})"
            query.share = f"u{number}.share"
            keys.append(f"u{number}.hour AS {key}")
        elif group.bucket is None and field is not None and field.type is Type.SET:
            # In the SELECT list, one set at a time: a join with unnest() costs twenty times more.
            values = f"unnest(coalesce({quote(group.field)}, [NULL]))"
            rows = f"(SELECT *, {values} AS u{number} FROM {rows})"
            keys.append(f"u{number} AS {key}")
        else:
            keys.append(f"{_key(query, group, plan)} AS {key}")
        shown.append(_shown(key, group, field))
    inner = [_aggregate(query, a, f"a{number}") for number, a in enumerate(plan.aggregates)]
    outer = [f"a{number}" for number in range(len(inner))]
    by = f" GROUP BY {', '.join(f'k{number}' for number in range(len(keys)))}" if keys else ""
    grouped = f"SELECT {', '.join([*keys, *inner])} FROM {rows}{by}"
    if plan.best and plan.limit is not None:
        outer.append("count(*) OVER ()")
    statement = f"SELECT {', '.join([*shown, *outer])} FROM ({grouped})"
    return statement + _best(plan, len(keys)), query.values


def _hours(column: str) -> str:
    """
    A document's hours of the day and its share in each; one without a number when it names none.
    """
    known = f"CAST({column} AS JSON)::MAP(VARCHAR, DOUBLE)"
    whole = f"nullif(list_sum(map_values({known})), 0)"
    each = f"{{'hour': item.key::BIGINT, 'share': item.value / {whole}}}"
    named = f"list_transform(map_entries({known}), lambda item: {each})"
    return f"CASE WHEN {whole} IS NULL THEN [{{'hour': NULL, 'share': 1.0}}] ELSE {named} END"


def _best(plan: Plan, keys: int) -> str:
    if not plan.best or plan.limit is None:
        return ""
    names = [aggregate.name for aggregate in plan.aggregates]
    way = "ASC" if plan.best.startswith("-") else "DESC"
    order = [f"a{names.index(plan.best.removeprefix('-'))} {way} NULLS LAST"]
    order += [f"k{number}::VARCHAR NULLS LAST" for number in range(keys)]
    return f" ORDER BY {', '.join(order)} LIMIT {plan.limit:d}"


def _key(query: Query, group: Group, plan: Plan) -> str:
    field = query.fields.get(group.field)
    if group.bucket is Bucket.HOUR:
        name = group.field if field is not None and field.type is Type.DATE else plan.time
        return f"epoch_ms({query.column(name)}) // 3600000"
    if group.bucket is Bucket.CLASS:
        return _class(query.column(group.field))
    if group.bucket is not None:
        name = group.field if field is not None and field.type is Type.DAY else "local.day"
        unit = literal(group.bucket.value)
        column = query.column(name)
        return column if group.bucket is Bucket.DAY else f"date_trunc({unit}, {column})::DATE"
    column = query.column(group.field)
    if group.edges:
        whens = [f"WHEN {column} >= {edge!r} THEN {edge!r}" for edge in sorted(group.edges)[::-1]]
        return f"(CASE {' '.join(whens)} END)::DOUBLE"
    return column


def _class(column: str) -> str:
    """
    Where the logarithm of a number just below a power of two is rounded up, the class is the same.
    """
    shift = f"greatest(floor(log2(greatest({column}, 1)))::BIGINT - {BITS}, 0)"
    return (
        f"CASE WHEN {column} IS NOT NULL THEN {shift} * {PER_DOUBLING} + ({column} >> {shift}) END"
    )


def _shown(key: str, group: Group, field: Field | None) -> str:
    if group.bucket in (Bucket.CLOCK, Bucket.CLASS):
        return key
    if group.bucket is Bucket.HOUR:
        return f"strftime(make_timestamp({key} * 3600000000), '{ISO}')"
    if group.bucket is not None:
        return f"{key}::VARCHAR"
    return text_of(key, field)


def _aggregate(query: Query, aggregate: Aggregate, name: str) -> str:
    column = query.column(aggregate.field) if aggregate.field else "*"
    field = query.fields.get(aggregate.field)
    among = ""
    if aggregate.where:
        among = f" FILTER (WHERE {' AND '.join(query.condition(c) for c in aggregate.where)})"
    if query.share and aggregate.function is Function.SUM:
        column = f"({column} * {query.share})"
    call = _call(aggregate, column, field, among)
    if aggregate.function in (Function.MIN, Function.MAX):
        call = text_of(call, field)
    return f"{call} AS {name}"


def _call(aggregate: Aggregate, column: str, field: Field | None, among: str) -> str:
    function = aggregate.function
    of_set = field is not None and field.type is Type.SET
    if function is Function.PERCENTILE:
        return f"quantile_disc({column}, {aggregate.percent / 100!r}){among}"
    if function is Function.DISTINCT and of_set:
        return f"coalesce(len(list_distinct(flatten(list({column}){among}))), 0)"
    if function is Function.DISTINCT:
        return f"count(DISTINCT {column}){among}"
    if function in (Function.MIN, Function.MAX) and of_set:
        return f"{function.value}(list_{function.value}({column})){among}"
    return f"{function.value}({column}){among}"
