"""
Saved objects against a store with data: every panel's search is made, as the products make it.

An engine answers 200 and nothing to a field it does not know, and an empty panel is all that a
person sees of it. So fields are looked up, and what comes back empty is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from kibana import request
from kibana.check import Object, named_fields, patterns_of, search_source, searches_of
from kibana.request import Range
from leadline.errors import LeadlineError

# Method, path, body → status, answer.
Engine = Callable[[str, str, object], tuple[int, Any]]


@dataclass(slots=True)
class Report:
    """
    What was found: `broken` shows nothing whatever the data, `empty` has no data here.
    """

    searches: int = 0
    panels: int = 0
    broken: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)

    @property
    def fine(self) -> bool:
        return not self.broken and not self.empty


class EmptyError(LeadlineError):
    """
    A search that worked and found nothing.
    """


class BrokenError(LeadlineError):
    """
    A search that cannot work.
    """


def check(objects: list[Object], engine: Engine, now: datetime, prefix: str) -> Report:
    """
    Every panel of every dashboard in the time range the dashboard opens on; then the queries.
    """
    live = _Live(objects, engine, prefix)
    for dashboard in (one for one in objects if one["type"] == "dashboard"):
        attributes = dashboard["attributes"]
        where = f"dashboard/{dashboard['id']}"
        try:
            when = request.read_range(attributes["timeFrom"], attributes["timeTo"], now)
        except LeadlineError as error:
            live.report.broken.append(f"{where}: {error}")
            continue
        for reference in dashboard["references"]:
            live.panel(f"{where}: ", reference, search_source(dashboard), when)
    for one in objects:
        if one["type"] == "query":
            live.saved_query(one)
    return live.report


class _Live:
    def __init__(self, objects: list[Object], engine: Engine, prefix: str) -> None:
        self.known = {(one["type"], one["id"]): one for one in objects}
        self.engine = engine
        self.prefix = prefix
        self.report = Report()
        self.fields: dict[str, Object] = {}

    def panel(self, where: str, reference: Object, outer: Object, when: Range) -> None:
        kind, name = reference["type"], reference["id"]
        one = self.known.get((kind, name))
        self.report.panels += 1
        if one is None:
            self.report.broken.append(f"{where}{kind}/{name} is not there")
            return
        shown = one["attributes"]["visState"]["type"] if kind == "visualization" else kind
        make = _MAKERS.get(shown, _Live.aggregations)
        self.noted(f"{where}{name}", lambda: make(self, one, outer, when))

    def saved_query(self, one: Object) -> None:
        """
        A saved query says no index: it must find something among processes, which it is for.
        """
        source = {"query": one["attributes"]["query"], "filter": []}

        def run() -> None:
            self.known_fields("leadline-process", request.queried(source["query"]["query"]))
            body = {"size": 0, "track_total_hits": True, "query": request.query([source], None)}
            some_hits(self.search("leadline-process", body))

        self.noted(f"query/{one['id']}", run)

    def noted(self, where: str, run: Callable[[], None]) -> None:
        try:
            run()
        except EmptyError as error:
            self.report.empty.append(f"{where}: {error}")
        except BrokenError as error:
            self.report.broken.append(f"{where}: {error}")

    def aggregations(self, one: Object, outer: Object, when: Range) -> None:
        pattern = request.pattern_of(one)
        aggs = request.enabled(one)
        used = {agg["params"]["field"] for agg in aggs if "field" in agg["params"]}
        self.known_fields(pattern, used, aggregated=True)
        self.known_fields(pattern, request.queried(search_source(one)["query"]["query"]))
        body = request.aggregated(one, [outer], when)
        answer = self.search(pattern, body)
        some_hits(answer)
        found = answer.get("aggregations", {})
        full(found, body["aggs"])
        if second := request.others(one, body, found):
            self.search(pattern, second)

    def hits(self, one: Object, outer: Object, when: Range) -> None:
        pattern = request.pattern_of(one)
        self.known_fields(pattern, set(one["attributes"]["columns"]))
        self.known_fields(pattern, {name for name, _ in one["attributes"]["sort"]}, aggregated=True)
        dates = [n for n, kinds in self.capabilities(pattern).items() if "date" in kinds]
        answer = self.search(pattern, request.hits(one, [outer], when, dates))
        some_hits(answer)
        shown = {name for hit in answer["hits"]["hits"] for name in flat(hit["_source"])}
        if bare := sorted(set(one["attributes"]["columns"]) - shown):
            raise EmptyError(f"columns {', '.join(bare)} have no value")

    def controls(self, one: Object, outer: Object, when: Range) -> None:
        references = {ref["name"]: ref["id"] for ref in one["references"]}
        for control in one["attributes"]["visState"]["params"]["controls"]:
            pattern = references[control["indexPatternRefName"]]
            self.known_fields(pattern, {control["fieldName"]}, aggregated=True)
            answer = self.search(pattern, request.choices(control))
            if not answer["aggregations"]["termsAgg"]["buckets"]:
                raise EmptyError(f"{control['label']} has nothing to choose from")

    def vega(self, one: Object, outer: Object, when: Range) -> None:
        for url in searches_of(one["attributes"]["visState"]["params"]["spec"]):
            patterns = patterns_of(url)
            self.known_in_one(patterns, named_fields(url["body"]))
            answer = self.search(",".join(patterns), request.of_vega(url, [outer], when))
            some_hits(answer)
            full(answer["aggregations"], url["body"]["aggs"])

    def nothing(self, one: Object, outer: Object, when: Range) -> None:
        """
        Text asks for no data.
        """

    def search(self, pattern: str, body: Object) -> Object:
        self.report.searches += 1
        path = f"/{self.index(pattern)}/_search"
        status, answer = self.engine("POST", path, body)
        if status != 200:
            raise BrokenError(f"{self.index(pattern)} answers {status}: {reason(answer)}")
        shards = answer["_shards"]
        if shards["failed"]:
            raise BrokenError(f"{shards['failed']} shards failed: {shards.get('failures')}"[:500])
        if not shards["total"]:
            raise EmptyError(f"there is no index {self.index(pattern)}")
        found: Object = answer
        return found

    def index(self, pattern: str) -> str:
        found = []
        for one in pattern.split(","):
            title = str(self.known["index-pattern", one]["attributes"]["title"])
            found.append(f"{self.prefix}{title.removeprefix('leadline')}")
        return ",".join(found)

    def capabilities(self, pattern: str) -> Object:
        if pattern not in self.fields:
            path = f"/{self.index(pattern)}/_field_caps?fields=*"
            status, answer = self.engine("GET", path, None)
            if status != 200:
                raise BrokenError(f"{self.index(pattern)} answers {status}: {reason(answer)}")
            self.fields[pattern] = answer["fields"]
        return self.fields[pattern]

    def known_in_one(self, patterns: list[str], names: set[str]) -> None:
        """
        Of a search over several families, each field is in one of them.
        """
        for name in names:
            home = next((p for p in patterns if name in self.capabilities(p)), patterns[0])
            self.known_fields(home, {name}, aggregated=True)

    def known_fields(self, pattern: str, names: set[str], *, aggregated: bool = False) -> None:
        """
        Each field is in the indices, of one type, and fit for what is wanted of it.
        """
        capabilities = self.capabilities(pattern)
        if not capabilities:
            raise EmptyError(f"there is no index {self.index(pattern)}")
        for name in sorted(names):
            kinds = capabilities.get(name)
            if kinds is None:
                raise BrokenError(f"unknown field {name} in {self.index(pattern)}")
            if len(kinds) > 1:
                raise BrokenError(f"field {name} is {' and '.join(sorted(kinds))}")
            if aggregated and not all(kind["aggregatable"] for kind in kinds.values()):
                raise BrokenError(f"field {name} cannot be aggregated")


_MAKERS: dict[str, Callable[[_Live, Object, Object, Range], None]] = {
    "markdown": _Live.nothing,
    "vega": _Live.vega,
    "input_control_vis": _Live.controls,
    "search": _Live.hits,
}


def some_hits(answer: Object) -> None:
    if not answer["hits"]["total"]["value"]:
        raise EmptyError("no document fits")


def full(answer: Object, asked: Object) -> None:
    """
    Every level has a bucket, and every metric a value in one of them.
    """
    shown: dict[str, bool] = {}
    for name, has in values(answer, asked):
        shown[name] = shown.get(name, False) or has
    for name, has in shown.items():
        if not has:
            raise EmptyError(f"aggregation {name} has no value")


def values(answer: Object, asked: Object) -> Iterator[tuple[str, bool]]:
    """
    For each aggregation, at each place it stands, whether something is there.
    """
    for name, wanted in asked.items():
        found = answer.get(name, {})
        if "buckets" in found:
            yield name, bool(found["buckets"])
            for one in found["buckets"]:
                yield from values(one, wanted.get("aggs", {}))
        elif "filter" in wanted:
            yield name, bool(found.get("doc_count"))
            yield from values(found, wanted.get("aggs", {}))
        elif "sum" in wanted or "cardinality" in wanted:
            yield name, bool(found.get("value"))  # of nothing these are 0
        elif isinstance(found.get("values"), list):
            yield name, any(part["value"] is not None for part in found["values"])
        else:
            yield name, found.get("value", found.get("count")) is not None


def flat(source: Object, before: str = "") -> Iterator[str]:
    for name, value in source.items():
        yield f"{before}{name}"
        if isinstance(value, dict):
            yield from flat(value, f"{before}{name}.")


def reason(answer: object) -> str:
    error = answer.get("error", answer) if isinstance(answer, dict) else answer
    causes = error.get("root_cause") if isinstance(error, dict) else None
    return str(causes[0].get("reason") if causes else error)[:300]
