"""
The searches that the products make of saved objects, so that they can be made without them.

Written after what OpenSearch Dashboards sends: aggregations nest in the order they stand in, the
metrics go under the deepest, and `others` is a second request for what the first did not name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from kibana.check import INDEX_REF, Object, search_source
from leadline.errors import LeadlineError
from leadline.formats.times import format_time

TIME = "@timestamp"
SECOND, MINUTE, HOUR, DAY = 1.0, 60.0, 3600.0, 86400.0
BARS = 50  # wanted; the products' histogram:barTarget
MOST_BARS = 100
# An automatic interval: the row above the first whose bound is not above a fiftieth of the range.
AUTO = (
    (float("inf"), "1y", 365 * DAY),
    (365 * DAY, "1M", 30 * DAY),
    (21 * DAY, "1w", 7 * DAY),
    (7 * DAY, "1d", DAY),
    (DAY, "12h", 12 * HOUR),
    (6 * HOUR, "3h", 3 * HOUR),
    (2 * HOUR, "1h", HOUR),
    (45 * MINUTE, "30m", 30 * MINUTE),
    (20 * MINUTE, "10m", 10 * MINUTE),
    (9 * MINUTE, "5m", 5 * MINUTE),
    (3 * MINUTE, "1m", MINUTE),
    (45 * SECOND, "30s", 30 * SECOND),
    (0.0, "10s", 10 * SECOND),
)
CALENDAR = {"1m", "1h", "1d", "1w", "1M", "1y"}
STEPS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}
STEPS |= {"w": timedelta(weeks=1), "M": timedelta(days=30), "y": timedelta(days=365)}
BUCKETS = {"terms", "date_histogram"}
OTHERS = "other-filter"


@dataclass(frozen=True, slots=True)
class Range:
    """
    The time range of a dashboard.
    """

    start: datetime
    end: datetime

    @property
    def seconds(self) -> float:
        return (self.end - self.start).total_seconds()

    @property
    def clause(self) -> Object:
        bounds = {"gte": format_time(self.start), "lte": format_time(self.end)}
        return {"range": {TIME: {**bounds, "format": "strict_date_optional_time"}}}


def read_range(start: str, end: str, now: datetime) -> Range:
    return Range(_moment(start, now), _moment(end, now))


def _moment(text: str, now: datetime) -> datetime:
    found = re.fullmatch(r"now(?:-(\d+)([mhdwMy]))?", text)
    if not found:
        raise LeadlineError(f"time {text!r} is not read here; write now or now-30d")
    return now if found[1] is None else now - int(found[1]) * STEPS[found[2]]


def interval(when: Range) -> str:
    """
    What `auto` means in a range of time.
    """
    per = max(when.seconds, 1.0) / BARS
    first = next((n for n, (bound, _, _) in enumerate(AUTO) if bound <= per), len(AUTO))
    row = max(first - 1, 0)
    while row and when.seconds / AUTO[row][2] > MOST_BARS:
        row -= 1
    return AUTO[row][1]


def query(sources: Iterable[Object], when: Range | None) -> Object:
    """
    All queries and filters of the objects involved, and the time range: joined by and.
    """
    must: list[Object] = []
    chosen: list[Object] = [] if when is None else [when.clause]
    refused: list[Object] = []
    for source in sources:
        text = source["query"]["query"]
        if text:
            must.append({"query_string": {"query": text, "analyze_wildcard": True}})
        for one in source.get("filter", ()):
            kept = refused if one.get("meta", {}).get("negate") else chosen
            kept.append(one["query"])
    return {"bool": {"must": must, "filter": chosen, "must_not": refused}}


def aggregated(one: Object, outer: Iterable[Object], when: Range) -> Object:
    """
    The request of an aggregation-based visualisation.
    """
    return {
        "size": 0,
        "track_total_hits": True,
        "query": query([*outer, search_source(one)], when),
        "aggs": nested(enabled(one), when, hierarchical(one)),
    }


def enabled(one: Object) -> list[Object]:
    return [agg for agg in one["attributes"]["visState"]["aggs"] if agg["enabled"]]


def hierarchical(one: Object) -> bool:
    """
    Whether metrics stand at every level.
    """
    state = one["attributes"]["visState"]
    params = state.get("params", {})
    shown = params.get("showPartialRows") or params.get("showMetricsAtAllLevels")
    return bool(state["type"] == "pie" or (state["type"] == "table" and shown))


def nested(aggs: list[Object], when: Range, everywhere: bool) -> Object:
    buckets = [agg for agg in aggs if agg["type"] in BUCKETS]
    metrics = {
        agg["id"]: metric(agg)
        for agg in aggs
        if agg["type"] not in BUCKETS and agg["type"] != "count"
    }
    inner: Object = metrics
    for place, agg in reversed(list(enumerate(buckets))):
        made, ordered = bucket(agg, when, aggs)
        deepest = place == len(buckets) - 1
        own = metrics if everywhere or deepest else {n: metrics[n] for n in ordered}
        inner = {agg["id"]: {**made, "aggs": {**own, **inner}}}
    return inner


def metric(agg: Object) -> Object:
    kind, params = agg["type"], agg["params"]
    if kind == "percentiles":
        return {kind: {"field": params["field"], "percents": params["percents"], "keyed": False}}
    if kind == "median":
        return {"percentiles": {"field": params["field"], "percents": [50], "keyed": False}}
    return {"extended_stats" if kind == "std_dev" else kind: {"field": params["field"]}}


def bucket(agg: Object, when: Range, aggs: list[Object]) -> tuple[Object, list[str]]:
    """
    One level, and the metrics it needs to be ordered by.
    """
    params = agg["params"]
    if agg["type"] == "date_histogram":
        wanted = interval(when) if params["interval"] == "auto" else f"1{params['interval']}"
        key = "calendar_interval" if wanted in CALENDAR else "fixed_interval"
        made = {"field": params["field"], key: wanted, "time_zone": "UTC"}
        return {"date_histogram": {**made, "min_doc_count": params["min_doc_count"]}}, []
    order, ordered = params["orderBy"], []
    kinds = {other["id"]: other["type"] for other in aggs}
    if kinds.get(order) == "count":
        order = "_count"
    elif order in kinds:
        ordered = [order]
    terms = {"field": params["field"], "size": params["size"], "order": {order: params["order"]}}
    if params.get("missingBucket"):
        terms["missing"] = "__missing__"
    terms |= json.loads(params.get("json") or "{}")
    return {"terms": terms}, ordered


def others(one: Object, first: Object, answer: Object) -> Object | None:
    """
    The second request, for what the outermost `terms` left out; None where there is none.
    """
    agg = next((agg for agg in enabled(one) if agg["type"] in BUCKETS), None)
    if agg is None or not agg["params"].get("otherBucket"):
        return None
    made = first["aggs"][agg["id"]]
    field = agg["params"]["field"]
    named = [{"match_phrase": {field: b["key"]}} for b in answer[agg["id"]]["buckets"]]
    rest = {"bool": {"filter": [{"exists": {"field": field}}], "must_not": named}}
    inner = {"filters": {"filters": {"": rest}}, "aggs": made["aggs"]}
    return {**first, "aggs": {OTHERS: inner}}


def hits(one: Object, outer: Iterable[Object], when: Range, dates: list[str]) -> Object:
    """
    The request of a saved search.
    """
    attributes = one["attributes"]
    return {
        "size": 500,
        "track_total_hits": True,
        "query": query([*outer, search_source(one)], when),
        "sort": [
            {name: {"order": way, "unmapped_type": "boolean"}} for name, way in attributes["sort"]
        ],
        "docvalue_fields": [{"field": name, "format": "date_time"} for name in dates],
        "highlight": {"fields": {"*": {}}, "fragment_size": 2147483647},
    }


def of_vega(url: Object, outer: Iterable[Object], when: Range) -> Object:
    """
    The request behind a Vega panel that takes the dashboard's time and filters.
    """
    found: Object = {**url["body"], "query": query(outer, when)}
    return found


def choices(control: Object, when: Range | None = None) -> Object:
    """
    The request behind a control's list.
    """
    terms = {"field": control["fieldName"], "size": control["options"]["size"]}
    terms["order"] = {"_count": "desc"}
    return {"size": 0, "query": query([], when), "aggs": {"termsAgg": {"terms": terms}}}


def pattern_of(one: Object) -> str:
    """
    The id of the index pattern that an object reads.
    """
    return next(str(ref["id"]) for ref in one["references"] if ref["name"] == INDEX_REF)


def queried(text: str) -> set[str]:
    """
    The fields that a query in Lucene syntax names.
    """
    bare = re.sub(r'"[^"]*"', '""', text)
    found = set(re.findall(r"_exists_:([\w.@]+)", bare))
    return (found | set(re.findall(r"([\w.@]+):", bare))) - {"_exists_"}
