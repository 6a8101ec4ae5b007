"""
What can be wrong with saved objects before any product sees them.

Neither product looks into a visualisation on import, and both show an empty panel rather than an
error: so every rule of theirs that can be checked on the files is checked here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from leadline.formats import DATASETS, Field, Type
from leadline.formats.field import NUMBERS

Object = dict[str, Any]

# The newest migration version that OpenSearch Dashboards accepts, by type; Kibana migrates them.
MIGRATION = {
    "index-pattern": "7.6.0",
    "visualization": "7.10.0",
    "dashboard": "7.9.3",
    "search": "7.9.3",
}
META = "kibanaSavedObjectMeta"
# Attributes that both products take: those that must be there, and all.
ATTRIBUTES = {
    "index-pattern": ({"title"}, {"title", "timeFieldName", "fieldFormatMap"}),
    "visualization": (
        {"title", "visState", "description", META},
        {"title", "visState", "uiStateJSON", "description", "version", META},
    ),
    "search": (
        {"title", "description", META},
        {"title", "columns", "sort", "description", "hits", "version", META},
    ),
    "dashboard": (
        {"title", "panelsJSON", "description", "timeFrom", "timeTo", META},
        {"title", "panelsJSON", "optionsJSON", "description", "hits", "version", "timeRestore"}
        | {"timeFrom", "timeTo", "refreshInterval", META},
    ),
    "query": ({"title", "query", "description"}, {"title", "query", "description", "filters"}),
}
TOP_LEVEL = {"type", "id", "attributes", "references", "migrationVersion"}

# Schemas of each kind of visualisation: name → least and most aggregations.
MANY = 99
CHART = {"metric": (1, MANY), "segment": (0, 1), "group": (0, 3), "split": (0, 1)}
SCHEMAS = {
    "histogram": CHART,
    "line": CHART,
    "area": CHART,
    "horizontal_bar": CHART,
    "pie": {"metric": (1, 1), "segment": (0, MANY), "split": (0, 1)},
    "heatmap": {"metric": (1, 1), "segment": (0, 1), "group": (0, 1), "split": (0, 1)},
    "table": {"metric": (1, MANY), "bucket": (0, MANY), "split": (0, 1)},
    "metric": {"metric": (1, MANY), "group": (0, 1)},
    "tagcloud": {"metric": (1, 1), "segment": (1, 1)},
    "markdown": {},
    "input_control_vis": {},
    "vega": {},
}
NUMERIC = {"sum", "avg", "min", "max", "median", "percentiles", "std_dev"}
METRICS = NUMERIC | {"count", "cardinality"}
BUCKETS = {"terms", "date_histogram"}
PANELS = 12
WIDTH = 48
INDEX_REF = "kibanaSavedObjectMeta.searchSourceJSON.index"


def problems(objects: list[Object]) -> list[str]:
    """
    Everything wrong, one line each; nothing when all is well.
    """
    found: list[str] = []
    known = {(one.get("type"), one.get("id")) for one in objects}
    if len(known) != len(objects):
        found.append("two objects have the same type and id")
    for one in objects:
        where = f"{one.get('type')}/{one.get('id')}"
        found += [f"{where}: {text}" for text in _one(one, known)]
    used = {ref["id"] for one in objects for ref in one.get("references", ())}
    for one in objects:
        if one.get("type") == "visualization" and one["id"] not in used:
            found.append(f"visualization/{one['id']}: no dashboard shows it")
    return found


def _one(one: Object, known: set[tuple[Any, Any]]) -> Iterator[str]:
    kind = one.get("type")
    if kind not in ATTRIBUTES:
        yield f"type {kind} does not import everywhere"
        return
    if extra := set(one) - TOP_LEVEL:
        yield f"unknown {sorted(extra)}"
    if not re.fullmatch(r"leadline-[a-z0-9-]+", one["id"]):
        yield "id is not leadline- and a-z, 0-9, -"
    wanted = {kind: MIGRATION[kind]} if kind in MIGRATION else None
    if one.get("migrationVersion") != wanted:
        yield f"migrationVersion is {one.get('migrationVersion')}, not {wanted}"
    attributes = one["attributes"]
    required, allowed = ATTRIBUTES[kind]
    if missing := required - set(attributes):
        yield f"lacks {sorted(missing)}"
        return
    if unknown := set(attributes) - allowed:
        yield f"attributes {sorted(unknown)} are refused by strict mappings"
    if not attributes.get("description", "x"):
        yield "has an empty description"
    for ref in one["references"]:
        if (ref["type"], ref["id"]) not in known:
            yield f"refers to {ref['type']}/{ref['id']}, which is not in the file"
    yield from _PARTS[kind](one)


def _visualization(one: Object) -> Iterator[str]:
    state = one["attributes"]["visState"]
    kind = state.get("type")
    if kind not in SCHEMAS:
        yield f"visualisation type {kind} is not on every product"
        return
    if state["title"] != one["attributes"]["title"]:
        yield "title in visState differs"
    if kind == "input_control_vis":
        yield from _controls(one, state["params"]["controls"])
        return
    if kind == "vega":
        yield from _vega(state["params"]["spec"])
        return
    if kind == "markdown":
        return
    yield from _index_reference(one)
    fields = fields_of(one)
    counts: dict[str, int] = {}
    for agg in state["aggs"]:
        counts[agg["schema"]] = counts.get(agg["schema"], 0) + 1
        yield from _aggregation(agg, state["aggs"], fields)
    for schema in counts:
        if schema not in SCHEMAS[kind]:
            yield f"{kind} has no schema {schema}"
    for schema, (least, most) in SCHEMAS[kind].items():
        if not least <= counts.get(schema, 0) <= most:
            yield f"{kind} wants {least} to {most} of {schema}, has {counts.get(schema, 0)}"
    order = [agg["schema"] for agg in state["aggs"] if agg["schema"] in {"group", "segment"}]
    if order == ["segment", "group"]:
        yield "group must come before segment, or the top is taken per time bucket"
    if "dataset:" not in search_source(one)["query"]["query"]:
        yield "does not say which dataset it reads"


def _vega(spec: Object) -> Iterator[str]:
    """
    The product adds time and filters to the search, and takes no other query then.
    """
    if not str(spec.get("$schema")).startswith("https://vega.github.io/schema/vega/v5"):
        yield f"is {spec.get('$schema')}, not plain Vega 5"
    urls = searches_of(spec)
    if not urls:
        yield "asks for no data"
    for url in urls:
        fields = {n for pattern in patterns_of(url) for n in _family_fields(pattern)}
        if url.get("%context%") is not True or url.get("%timefield%") != "@timestamp":
            yield "does not take the dashboard's time and filters"
        if "query" in url["body"]:
            yield "has a query of its own beside the dashboard's"
        for name in sorted(named_fields(url["body"])):
            if name not in fields:
                yield f"field {name} is not in {url['index']}"


def searches_of(spec: Object) -> list[Object]:
    return [one["url"] for one in spec.get("data", ()) if isinstance(one.get("url"), dict)]


def patterns_of(url: Object) -> list[str]:
    """
    The ids of the index patterns that a search reads.
    """
    return [index.removesuffix("-*") for index in url["index"].split(",")]


def named_fields(body: object) -> set[str]:
    if isinstance(body, list):
        return {name for part in body for name in named_fields(part)}
    if not isinstance(body, dict):
        return set()
    own = {body["field"]} if isinstance(body.get("field"), str) else set()
    return own | {name for part in body.values() for name in named_fields(part)}


def _aggregation(agg: Object, aggs: list[Object], fields: dict[str, Field]) -> Iterator[str]:
    kind, params = agg["type"], agg["params"]
    if kind not in METRICS | BUCKETS:
        yield f"aggregation {kind} is not used here"
        return
    if not params.get("customLabel"):
        yield f"aggregation {agg['id']} has no label"
    if kind == "count":
        return
    name = params.get("field", "")
    field = fields.get(name)
    if field is None:
        yield f"field {name} is not in the indices it reads"
        return
    if field.type in {Type.FLAT} or name.endswith(".text"):
        yield f"field {name} cannot be aggregated"
    if kind in NUMERIC and field.type not in {*NUMBERS, Type.DATE}:
        yield f"{kind} of {name}, which is a {field.type}"
    if kind == "date_histogram" and field.type is not Type.DATE:
        yield f"date histogram of {name}, which is a {field.type}"
    if kind == "terms":
        if '"shard_size":10000' not in params.get("json", ""):
            yield f"terms of {name} without shard_size: sums over several indices are wrong"
        ids = {other["id"] for other in aggs if other["schema"] == "metric"}
        if params["orderBy"] not in {"_key", "_count"} | ids:
            yield f"terms of {name} is ordered by {params['orderBy']}, which is not there"


def _controls(one: Object, controls: list[Object]) -> Iterator[str]:
    references = {ref["name"]: ref["id"] for ref in one["references"]}
    for number, control in enumerate(controls):
        name = control["indexPatternRefName"]
        if name != f"control_{number}_index_pattern" or name not in references:
            yield f"control {number} has no index pattern"
            continue
        fields = _family_fields(references[name])
        if control["fieldName"] not in fields:
            yield f"control {number} filters by {control['fieldName']}, which is not there"


def _index_reference(one: Object) -> Iterator[str]:
    names = [ref["name"] for ref in one["references"]]
    if names != [INDEX_REF] or search_source(one).get("indexRefName") != INDEX_REF:
        yield "does not refer to its index pattern once"


def _search(one: Object) -> Iterator[str]:
    yield from _index_reference(one)
    fields = fields_of(one)
    for column in one["attributes"]["columns"]:
        if column not in fields:
            yield f"column {column} is not in the indices it reads"
    if not all(isinstance(part, list) for part in one["attributes"]["sort"]):
        yield "sort is not nested"


def _dashboard(one: Object) -> Iterator[str]:
    panels = one["attributes"]["panelsJSON"]
    references = {ref["name"] for ref in one["references"]}
    if len(panels) > PANELS:
        yield f"has {len(panels)} panels, at most {PANELS} are read"
    if references != {panel["panelRefName"] for panel in panels}:
        yield "panels and references differ"
    if not one["attributes"].get("timeRestore"):
        yield "does not restore its time range"
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        grid = panel["gridData"]
        if grid["x"] + grid["w"] > WIDTH:
            yield f"panel {grid['i']} is wider than the grid"
        cells = {
            (x, y)
            for x in range(grid["x"], grid["x"] + grid["w"])
            for y in range(grid["y"], grid["y"] + grid["h"])
        }
        if taken & cells:
            yield f"panel {grid['i']} overlaps another"
        taken |= cells


def _index_pattern(one: Object) -> Iterator[str]:
    fields = _family_fields(one["id"])
    if not fields:
        yield "reads no family of ours"
    for name in one["attributes"]["fieldFormatMap"]:
        if name not in fields:
            yield f"formats {name}, which is not there"


def _query(one: Object) -> Iterator[str]:
    if one["attributes"]["query"].get("language") != "lucene":
        yield "is not in Lucene syntax, which both products read alike"


_PARTS = {
    "index-pattern": _index_pattern,
    "visualization": _visualization,
    "search": _search,
    "dashboard": _dashboard,
    "query": _query,
}


def search_source(one: Object) -> Object:
    source: Object = one["attributes"]["kibanaSavedObjectMeta"]["searchSourceJSON"]
    return source


def fields_of(one: Object) -> dict[str, Field]:
    """
    The fields of the index pattern that an object reads.
    """
    for ref in one["references"]:
        if ref["name"] == INDEX_REF:
            return _family_fields(ref["id"])
    return {}


def _family_fields(pattern: str) -> dict[str, Field]:
    family = pattern.removeprefix("leadline-")
    return {
        field.name: field
        for dataset in DATASETS.values()
        if dataset.family == family
        for field in dataset.fields
    }
