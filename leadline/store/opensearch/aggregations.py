"""
Plans as aggregations: composite buckets, read page by page, so that no answer is ever cut.

A bucket's sums come as they are; distinct counts are counted exactly in a second pass, because the
engine's own are estimates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from heapq import nsmallest
from itertools import islice
from typing import Any

from leadline.errors import StoreError
from leadline.formats import DATASETS, Type
from leadline.formats.field import NUMBERS
from leadline.store.classes import BITS
from leadline.store.clocks import Reading
from leadline.store.opensearch.clock import by_clock, clock_of
from leadline.store.opensearch.conditions import (
    CLOCKS,
    Query,
    all_of,
    clock_params,
    known_field,
    query,
)
from leadline.store.opensearch.figures import figures, reader
from leadline.store.plan import (
    ROWS,
    Aggregate,
    Bucket,
    Condition,
    Function,
    Group,
    Op,
    Plan,
    Row,
    Scalar,
)
from leadline.store.scope import Scope
from leadline.store.values import flat_path

PAGE = 10_000  # rows at once
LIGHT_PAGE = 50_000  # where they hold sums alone: each page looks at every document again
LIGHT = frozenset({"stats", "filter", "aggs"})
ALL = "all"
EXACT_DISTINCT = 500_000  # values listed; beyond, a distinct count is the engine's estimate
PRECISION = 40_000  # of an estimate over everything: the engine's most
# A histogram within 1 % of the value, wherever it lies; a digest promises only the rank.
HISTOGRAM = {"number_of_significant_value_digits": 2}
PRECISION_PER_GROUP = 1_000  # 16 kB of heap for each group of a page

CALENDAR = {
    Bucket.DAY: "1d",
    Bucket.WEEK: "1w",
    Bucket.MONTH: "1M",
    Bucket.QUARTER: "1q",
    Bucket.YEAR: "1y",
}
LABEL_SCRIPT = (
    "def all = params._source['labels']; if (all == null) { return null; }"
    " def value = all[params.name]; return value == null ? null : value.toString()"
)

CLASS_SCRIPT = (
    "if (doc[params.field].size() == 0) { return null; } long value = doc[params.field].value;"
    " int shift = (int) Math.max(0, 63 - params.bits - Long.numberOfLeadingZeros(value));"
    " return Long.toString((((long) shift) << params.bits) + (value >> shift))"
)

Search = Callable[[dict[str, object]], Any]  # a search body → the parsed answer
Key = tuple[Scalar | None, ...]


def answer(plan: Plan, scope: Scope, search: Search) -> list[Row]:
    fields = plan.fields
    matching = query(plan.dataset, scope, plan.where, plan.start, plan.end, plan.time, fields)
    if plan.without:
        unwanted = [all_of(conditions, fields) for conditions in plan.without]
        matching = {"bool": {"filter": [matching], "must_not": unwanted}}
    if (clock := clock_of(plan)) is not None:
        found = by_clock(plan, clock, fields, lambda rest, a: within(rest, matching, a, search))
    else:
        found = grouped(plan, matching, search) if plan.by else whole(plan, matching, search)
    names = [group.field for group in plan.by]
    rows = {key: dict(zip(names, key, strict=True)) | row for key, row in found.items()}
    for aggregate in plan.aggregates:
        if aggregate.function is Function.DISTINCT:
            count_distinct(plan, aggregate, matching, rows, search)
    return best(plan, rows)


def best(plan: Plan, rows: dict[Key, Row]) -> list[Row]:
    """
    The rows, or as few as are enough and how many there are.
    """
    if not plan.best or plan.limit is None or len(rows) <= plan.limit:
        return list(rows.values())
    name = plan.best.removeprefix("-")
    sign = 1 if plan.best.startswith("-") else -1

    def place(key: Key) -> tuple[object, ...]:
        value = rows[key][name]
        ranked = sign * float(value) if value is not None else 0.0
        return value is None, ranked, [(part is None, str(part)) for part in key]

    return [rows[key] | {ROWS: len(rows)} for key in nsmallest(plan.limit, rows, key=place)]


def whole(plan: Plan, matching: Query, search: Search) -> dict[Key, Row]:
    body: dict[str, object] = {"size": 0, "track_total_hits": True, "query": matching}
    if aggregations := metrics(plan):
        body["aggs"] = one_by_one(aggregations)
    found = search(body)
    results = found.get("aggregations", {}).get(ALL, {})
    count = found["hits"]["total"]["value"]
    return {(): {name: read(results, count) for name, read in figures(plan).items()}}


def one_by_one(aggregations: dict[str, object]) -> dict[str, object]:
    """
    Below a filter that all pass: OpenSearch 3.4 sums only some of the documents when one `stats`
    stands alone and takes them in ranges (its pull request 20427).
    """
    return {ALL: {"filter": {"match_all": {}}, "aggs": aggregations}} if aggregations else {}


def grouped(plan: Plan, matching: Query, search: Search) -> dict[Key, Row]:
    found: dict[Key, Row] = {}
    readers = figures(plan)
    for key, bucket in buckets(plan, plan.by, matching, metrics(plan), search):
        count = bucket["doc_count"]
        found[key] = {name: read(bucket, count) for name, read in readers.items()}
    return found


def within(
    plan: Plan, matching: Query, aggregations: dict[str, object], search: Search
) -> list[tuple[Key, Any]]:
    """
    The buckets of a plan with aggregations of another's making; without groups the one there is.
    """
    if plan.by:
        return list(buckets(plan, plan.by, matching, aggregations, search))
    found = search({"size": 0, "query": matching, "aggs": aggregations})
    results = found.get("aggregations")  # none where no index is there
    return [((), results)] if results else []


@dataclass(frozen=True, slots=True)
class Part:
    """
    One class of a group with edges: composite buckets know no classes, so each is asked alone.
    """

    restriction: tuple[Query, ...]
    lower: tuple[float | None, ...]  # by group, in the order of the groups with edges


def buckets(
    plan: Plan,
    groups: tuple[Group, ...],
    matching: Query,
    aggregations: dict[str, object],
    search: Search,
) -> Iterator[tuple[Key, Any]]:
    plain = [group for group in groups if not group.edges]
    for part in parts([group for group in groups if group.edges]):
        restricted: Query = {"bool": {"filter": [matching, *part.restriction]}}
        if not plain:
            body = {"size": 0, "track_total_hits": True, "query": restricted}
            found = search({**body, "aggs": one_by_one(aggregations)})
            total = found["hits"]["total"]["value"]
            if total:
                results = found.get("aggregations", {}).get(ALL, {})
                yield part.lower, {**results, "doc_count": total}
            continue
        for values, bucket in pages(plan, plain, restricted, aggregations, search):
            lowers, rest = iter(part.lower), iter(values)
            yield tuple(next(lowers if group.edges else rest) for group in groups), bucket


def parts(edged: list[Group]) -> Iterator[Part]:
    if not edged:
        yield Part((), ())
        return
    first, *others = edged
    edges = sorted(first.edges)
    uppers = [*edges[1:], None]
    classes: list[tuple[Query, float | None]] = [
        (
            {"range": {first.field: {"gte": low} | ({} if high is None else {"lt": high})}},
            low,
        )
        for low, high in zip(edges, uppers, strict=True)
    ]
    within: Query = {"range": {first.field: {"gte": edges[0]}}}
    classes.append(({"bool": {"must_not": [within]}}, None))
    for restriction, lower in classes:
        for rest in parts(others):
            yield Part((restriction, *rest.restriction), (lower, *rest.lower))


def pages(
    plan: Plan,
    groups: list[Group],
    matching: Query,
    aggregations: dict[str, object],
    search: Search,
) -> Iterator[tuple[Key, Any]]:
    sources = [{f"g{n}": source(plan, group)} for n, group in enumerate(groups)]
    readers = [reader(plan, group) for group in groups]
    size = LIGHT_PAGE if light(aggregations) else PAGE
    composite: dict[str, object] = {"size": size, "sources": sources}
    rows: dict[str, object] = {"composite": composite}
    if aggregations:
        rows["aggs"] = aggregations
    while True:
        found = search(
            {"size": 0, "track_total_hits": False, "query": matching, "aggs": {"rows": rows}}
        )
        page = found.get("aggregations", {}).get("rows", {})
        for bucket in page.get("buckets", []):
            yield (
                tuple(read(v) for read, v in zip(readers, bucket["key"].values(), strict=True)),
                bucket,
            )
        if "after_key" not in page or len(page["buckets"]) < size:
            return
        composite["after"] = page["after_key"]


def light(aggregations: Mapping[str, Any]) -> bool:
    """
    Whether they make no buckets of their own, nor keep many numbers for each.
    """
    return all(one.keys() <= LIGHT and light(one.get("aggs", {})) for one in aggregations.values())


def source(plan: Plan, group: Group) -> dict[str, object]:
    if group.bucket is Bucket.HOUR:
        hours = {"field": time_field(plan, group), "fixed_interval": "1h", "missing_bucket": True}
        return {"date_histogram": hours}
    if group.bucket is Bucket.CLASS:
        known_field(plan.dataset, group.field)
        script = {"source": CLASS_SCRIPT, "params": {"field": group.field, "bits": BITS}}
        return {"terms": {"script": script, "missing_bucket": True}}
    if group.bucket is not None:
        named = DATASETS[plan.dataset].by_name.get(group.field)
        day = group.field if named is not None and named.type is Type.DAY else "local.day"
        interval = {"calendar_interval": CALENDAR[group.bucket]}
        return {"date_histogram": {"field": day, **interval, "missing_bucket": True}}
    path = flat_path(group.field, DATASETS[plan.dataset].by_name)
    if path is not None and path[0].name == "labels":
        script = {"source": LABEL_SCRIPT, "params": {"name": path[1]}}
        return {"terms": {"script": script, "missing_bucket": True}}
    if isinstance(field := plan.fields.get(group.field), Reading):
        script = {"source": f"{CLOCKS} return shown", "params": clock_params(field)}
        return {"terms": {"script": script, "missing_bucket": True}}
    known_field(plan.dataset, group.field)
    return {"terms": {"field": group.field, "missing_bucket": True}}


def time_field(plan: Plan, group: Group) -> str:
    field = DATASETS[plan.dataset].by_name.get(group.field)
    return group.field if field is not None and field.type is Type.DATE else plan.time


def metrics(plan: Plan) -> dict[str, object]:
    """
    The aggregations below each bucket, by the position of the plan's aggregate.
    """
    made: dict[str, object] = {}
    fields = plan.fields
    for number, aggregate in enumerate(plan.aggregates):
        inner = metric(plan, aggregate)
        name = f"a{number}"
        if aggregate.function is Function.PERCENTILE:  # the histogram fails on less than 0
            at_least = Condition(aggregate.field, Op.AT_LEAST, (0,))
            made[name] = {
                "filter": all_of((*aggregate.where, at_least), fields),
                "aggs": {"m": inner},
            }
        elif aggregate.where:
            outer: dict[str, object] = {"filter": all_of(aggregate.where, fields)}
            made[name] = outer | ({"aggs": {"m": inner}} if inner else {})
        elif inner:
            made[name] = inner
    return made


def metric(plan: Plan, aggregate: Aggregate) -> dict[str, object] | None:
    name = aggregate.field
    if aggregate.function is Function.COUNT:
        return {"filter": {"exists": {"field": name}}} if name else None
    field = known_field(plan.dataset, name)
    if aggregate.function is Function.DISTINCT:
        return None  # count_distinct does it
    if aggregate.function is Function.PERCENTILE:
        percents = {"percents": [aggregate.percent], "keyed": False}
        return {"percentiles": {"field": name, **percents, "hdr": HISTOGRAM}}
    if aggregate.function is Function.SUM or field.type in (*NUMBERS, Type.DATE, Type.DAY):
        return {"stats": {"field": name}}
    direction = "asc" if aggregate.function is Function.MIN else "desc"
    return {"terms": {"field": name, "size": 1, "order": {"_key": direction}}}


def count_distinct(
    plan: Plan, aggregate: Aggregate, matching: Query, rows: dict[Key, Row], search: Search
) -> None:
    """
    Count distinct values by listing them; by the engine's estimate where there are too many.
    """
    fields = plan.fields
    present: Query = {"exists": {"field": aggregate.field}}
    narrowed: Query = {
        "bool": {"filter": [matching, present, all_of(aggregate.where, fields)]},
    }
    counted: Counter[Key] = Counter()
    groups = (*plan.by, Group(aggregate.field))
    listed = buckets(plan, groups, narrowed, {}, search)
    for key, _ in islice(listed, EXACT_DISTINCT):
        counted[key[:-1]] += 1
    if next(listed, None) is not None:
        counted = estimated(plan, aggregate, narrowed, search)
    for key, row in rows.items():
        row[aggregate.name] = counted[key]


def estimated(plan: Plan, aggregate: Aggregate, narrowed: Query, search: Search) -> Counter[Key]:
    precision = PRECISION_PER_GROUP if plan.by else PRECISION
    cardinality = {"field": aggregate.field, "precision_threshold": precision}
    counts: dict[str, object] = {"n": {"cardinality": cardinality}}
    if plan.by:
        found = buckets(plan, plan.by, narrowed, counts, search)
        return Counter({key: int(bucket["n"]["value"]) for key, bucket in found})
    results = search({"size": 0, "query": narrowed, "aggs": counts})
    return Counter({(): int(results["aggregations"]["n"]["value"])})


def explain_failure(reason: str) -> StoreError:
    """
    The engine's refusals of a question, with what to do about them.
    """
    if "too_many_buckets" in reason or "circuit_breaking" in reason or "max_buckets" in reason:
        return StoreError(
            "OpenSearch ran out of room for this question: shorten the period, group by less, or "
            f"give it more heap ({reason[:200]})"
        )
    if "timed out" in reason.lower() or "timeout" in reason.lower():
        return StoreError(
            "OpenSearch did not answer this question in time: shorten the period or ask for fewer "
            f"groups, or raise opensearch.timeout ({reason[:200]})"
        )
    return StoreError(f"OpenSearch refused the question: {reason}")
