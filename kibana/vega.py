"""
Writes the panels that no native visualisation can draw, as plain Vega: `python -m kibana.vega`.

The charts are the web's own definitions where the web draws the same; Vega-Lite is compiled, as
the products lag behind in it. Their data is a search of the product's own, with its filters.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from kibana.build import HERE
from kibana.check import MIGRATION, Object
from leadline.formats import DATASETS
from leadline.render.charts.colours import PALETTE, TROUBLE

FOLDER = HERE / "objects" / "visualization"
VEGA_LITE = "5.8"  # of Vega 5, which OpenSearch Dashboards 2 and Kibana 8 run
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
HOURS = tuple(f"{hour:02d}" for hour in range(24))
SHARD = 10000
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
NO_JOB = {"exists": {"field": "job.id"}}
LIMITS = "limits"  # of a finding; the import fills them in


def terms(field: str, size: int, aggs: Object, **more: object) -> Object:
    return {"terms": {"field": field, "size": size, "shard_size": SHARD, **more}, "aggs": aggs}


def total(field: str) -> Object:
    return {"sum": {"field": field}}


def per(unit: str, aggs: Object) -> Object:
    buckets = {"field": "@timestamp", "calendar_interval": unit, "min_doc_count": 1}
    return {"date_histogram": buckets, "aggs": aggs}


def only(condition: Object, aggs: Object) -> Object:
    return {"filter": {"bool": condition}, "aggs": aggs}


def source(index: str, aggs: Object, transform: list[Object]) -> Object:
    """
    A search in the dashboard's time range and filters, and how its buckets become rows.
    """
    (name,) = aggs
    return {
        "url": {
            "index": index,
            "%context%": True,
            "%timefield%": "@timestamp",
            "body": {"size": 0, "aggs": aggs},
        },
        "format": {"property": f"aggregations.{name}.buckets"},
        "transform": transform,
    }


def formula(name: str, expression: str) -> Object:
    return {"type": "formula", "as": name, "expr": expression}


def week() -> Object:
    """
    Core hours by hour and weekday, days by their names.
    """
    from leadline.render.charts.shapes import heat

    chart = heat([], HOURS, DAYS, "core hours")
    by_hour = terms("local.hour", 24, {"used": total("core_seconds")})
    aggs = {"day": terms("local.weekday", 7, {"hour": by_hour}, order={"_key": "asc"})}
    transform = [
        {"type": "flatten", "fields": ["hour.buckets"], "as": ["cell"]},
        formula("across", "(datum.cell.key < 10 ? '0' : '') + datum.cell.key"),
        formula("down", f"{json.dumps(DAYS)}[datum.key - 1]"),
        formula("value", "datum.cell.used.value / 3600"),
    ]
    return compiled(chart, source("leadline-usage-*", aggs, transform), height=224)


def asked() -> Object:
    """
    One point per user: core hours allocated and core hours used, and the line where both are one.
    """
    scale = {"type": "symlog"}  # who used nothing is shown as well
    marks = [0, *(10**power for power in range(9))]
    axis = {"labelExpr": "format(datum.value, '~s')", "values": marks}
    x = {"field": "asked", "type": "quantitative", "scale": scale, "axis": axis}
    y = {"field": "used", "type": "quantitative", "scale": scale, "axis": axis}
    points = {
        "mark": {"type": "point", "filled": True, "size": 60, "tooltip": {"content": "data"}},
        "encoding": {"x": {**x, "title": "allocated"}, "y": {**y, "title": "used"}},
    }
    line = {
        "mark": {"type": "line", "strokeDash": [4, 3], "color": "#888888"},
        "encoding": {"x": x, "y": {**y, "field": "asked"}},
    }
    chart: Object = {"$schema": SCHEMA, "width": 860, "data": {}, "layer": [line, points]}
    sums = {
        "asked": total("job.core_seconds.allocated"),
        "used": total("job.core_seconds.used"),
    }
    aggs = {"user": terms("user.name", 200, sums, order={"asked": "desc"})}
    transform = [
        formula("user", "datum.key"),
        formula("asked", "datum.asked.value / 3600"),
        formula("used", "datum.used.value / 3600"),
        {"type": "project", "fields": ["user", "asked", "used"]},
    ]
    return compiled(chart, source("leadline-job-*", aggs, transform), height=300)


def granted(measure: str, field: str) -> Object:
    """
    Hours a day by project, and a mark where what was granted would just be used.

    Grants are no documents: the import fills them in (kibana/thresholds.py).
    """
    bars = {
        "mark": {
            "type": "bar",
            "color": PALETTE[0],
            "height": {"band": 0.5},
            "opacity": 0.55,
            "tooltip": {"content": "data"},
        },
        "encoding": {"x": {"field": "rate", "type": "quantitative", "title": f"{measure} a day"}},
    }
    marks = {
        "transform": [{"filter": "isValid(datum.granted)"}],
        "mark": {"type": "tick", "color": TROUBLE, "thickness": 4, "size": 24, "opacity": 1},
        "encoding": {"x": {"field": "granted", "type": "quantitative"}},
    }
    y = {"field": "project", "type": "nominal", "sort": None}
    chart: Object = {
        "$schema": SCHEMA,
        "width": 860,
        "data": {},
        "encoding": {"y": {**y, "title": None}},
        "layer": [bars, marks],
    }
    projects = terms("project", 100, {"spent": total(field)})
    transform = [
        {"type": "flatten", "fields": ["project.buckets"], "as": ["one"]},
        formula("project", "datum.one.key"),
        formula("hours", "datum.one.spent.value / 3600"),
        {"type": "joinaggregate", "ops": ["distinct"], "fields": ["key"], "as": ["days"]},
        {"type": "aggregate", "groupby": ["project", "days"], "ops": ["sum"], "fields": ["hours"],
         "as": ["hours"]},
        formula("rate", "datum.hours / datum.days"),
        {"type": "lookup", "from": measure, "key": "project", "fields": ["project"],
         "values": ["hours_per_day"], "as": ["granted"]},
        {"type": "filter", "expr": "datum.rate > 0 || isValid(datum.granted)"},
        {"type": "window", "ops": ["row_number"], "as": ["place"],
         "sort": {"field": "rate", "order": "descending"}},
        {"type": "filter", "expr": "datum.place <= 20"},
        {"type": "collect", "sort": {"field": "place"}},
    ]  # fmt: skip
    data = source("leadline-slice-*", {"day": per("day", {"project": projects})}, transform)
    spec = compiled(chart, data, height=300)
    return {**spec, "data": [{"name": measure, "values": []}, *spec["data"]]}


def efficiency() -> Object:
    """
    CPU time used of the cores allocated, by partition: of runs that ended and have both.
    """
    names = {"used": "job.core_seconds.used", "allocated": "job.core_seconds.allocated"}
    there = [{"exists": {"field": name}} for name in ("job.end", *names.values())]
    ended = {"filter": there, "must_not": [{"term": {"provisional": True}}]}
    sums = {name: total(field) for name, field in names.items()}
    aggs = {"partition": terms("partition", 30, {"ended": only(ended, sums)})}
    x = {"field": "share", "type": "quantitative", "title": "CPU time used of cores allocated"}
    y = {"field": "partition", "type": "nominal", "sort": "-x", "title": None}
    chart: Object = {
        "$schema": SCHEMA,
        "width": 860,
        "data": {},
        "mark": {"type": "bar", "color": PALETTE[0], "tooltip": {"content": "data"}},
        "encoding": {"x": {**x, "axis": {"format": "%"}, "scale": {"domain": [0, 1]}}, "y": y},
    }
    transform: list[Object] = [
        formula("partition", "datum.key"),
        {"type": "filter", "expr": "datum.ended.allocated.value > 0"},
        formula("share", "datum.ended.used.value / datum.ended.allocated.value"),
        {"type": "project", "fields": ["partition", "share"]},
    ]
    return compiled(chart, source("leadline-job-*", aggs, transform), height=260)


def datasets() -> Object:
    """
    Documents by dataset and day, over every index there is.
    """
    aggs = {"dataset": terms("dataset", 50, {"day": per("day", {})})}
    chart: Object = {
        "$schema": SCHEMA,
        "width": 860,
        "data": {},
        "mark": {"type": "bar", "tooltip": {"content": "data"}},
        "encoding": {
            "x": {"field": "day", "type": "temporal", "timeUnit": "yearmonthdate", "title": None},
            "y": {"field": "documents", "type": "quantitative", "title": "documents a day"},
            "color": {
                "field": "dataset",
                "type": "nominal",
                "title": None,
                "scale": {"range": list(PALETTE)},
            },
        },
    }
    transform = [
        formula("dataset", "datum.key"),
        {"type": "flatten", "fields": ["day.buckets"], "as": ["one"]},
        formula("day", "datum.one.key"),
        formula("documents", "datum.one.doc_count"),
        {"type": "project", "fields": ["dataset", "day", "documents"]},
    ]
    families = sorted({dataset.family for dataset in DATASETS.values()})
    index = ",".join(f"leadline-{family}-*" for family in families)
    return compiled(chart, source(index, aggs, transform), height=260)


def hogs() -> Object:
    """
    A point for each hour of a user on a node, outside any job: how busy the node was, and how much
    of it the user took. Right of and above the lines somebody hogs.
    """
    axis = {"format": "%"}
    x = {"field": "busy", "type": "quantitative", "title": "share of the node's cores busy"}
    y = {"field": "share", "type": "quantitative", "title": "share the user took, outside any job"}
    scale = {"domain": [0, 1], "clamp": True}
    points = {
        "mark": {"type": "point", "filled": True, "size": 50, "tooltip": {"content": "data"}},
        "encoding": {
            "x": {**x, "scale": scale, "axis": axis},
            "y": {**y, "scale": scale, "axis": axis},
            "color": {"field": "user", "type": "nominal", "title": None},
        },
    }
    rule = {"type": "rule", "strokeDash": [4, 3], "color": TROUBLE}
    limit = {"data": {"name": LIMITS}, "mark": rule}
    lines = [
        {**limit, "encoding": {"x": {"field": "busy_share", "type": "quantitative"}}},
        {**limit, "encoding": {"y": {"field": "hog_share", "type": "quantitative"}}},
    ]
    chart: Object = {"$schema": SCHEMA, "width": 860, "data": {}, "layer": [points, *lines]}
    taken = {"taken": total("core_seconds")}
    loose = {"filter": [{"term": {"dataset": "usage"}}], "must_not": [NO_JOB]}
    whole = {"spent": total("core_seconds"), "room": total("core_seconds_watched")}
    hour = per(
        "hour",
        {
            "node": only({"filter": [{"term": {"dataset": "capacity"}}]}, whole),
            "loose": only(loose, {"user": terms("user.name", 3, taken)}),
        },
    )
    aggs = {
        "host": terms(
            "host.name", 10, {"all": only(loose, taken), "hour": hour}, order={"all>taken": "desc"}
        )
    }
    transform: list[Object] = [
        {"type": "flatten", "fields": ["hour.buckets"], "as": ["hour"]},
        {"type": "filter", "expr": "datum.hour.node.room.value > 0"},
        {"type": "flatten", "fields": ["hour.loose.user.buckets"], "as": ["one"]},
        {"type": "filter", "expr": "datum.one != null"},
        formula("node", "datum.key"),
        formula("user", "datum.one.key"),
        formula("time", "timeFormat(datum.hour.key, '%Y-%m-%d %H:%M')"),
        formula("busy", "datum.hour.node.spent.value / datum.hour.node.room.value"),
        formula("share", "datum.one.taken.value / datum.hour.node.room.value"),
        {"type": "filter", "expr": "datum.share >= 0.02"},
        {"type": "project", "fields": ["node", "user", "time", "busy", "share"]},
    ]
    spec = compiled(chart, source("leadline-usage-*,leadline-capacity-*", aggs, transform), 300)
    values = [{"busy_share": 0.5, "hog_share": 0.4}]  # the defaults of `findings`
    kept = [one for one in spec["data"] if one["name"] != LIMITS]
    return {**spec, "data": [{"name": LIMITS, "values": values}, *kept]}


def compiled(chart: Object, data: Object, height: int) -> Object:
    """
    Plain Vega that fits its panel, with its rows from DATA.
    """
    import vl_convert

    whole = {**chart, "height": height, "data": {"name": "rows"}}
    spec: Any = vl_convert.vegalite_to_vega(whole, vl_version=VEGA_LITE)
    first = next(one for one in spec["data"] if one["name"] == "rows")
    first |= {**data, "transform": [*data["transform"], *first.get("transform", [])]}
    del spec["background"]  # the product's own, light or dark
    return {**spec, "autosize": {"type": "fit", "contains": "padding"}}


PANELS = {
    "week": ("Core hours by hour and weekday [leadline]", week,
             "When work is done, in the cluster's own zone"),
    "asked-used-points": ("Allocated and used, by user [leadline]", asked,
                          "Core hours; below the dashed line less was used than allocated"),
    "granted": ("Core hours a day and granted, by project [leadline]",
                lambda: granted("core hours", "core_seconds_allocated"),
                "Mean of the days with jobs; a red mark is what a grant allows a day"),
    "granted-gpu": ("GPU hours a day and granted, by project [leadline]",
                    lambda: granted("GPU hours", "gpu_seconds_allocated"),
                    "Mean of the days with jobs; a red mark is what a grant allows a day"),
    "efficiency": ("CPU efficiency by partition [leadline]", efficiency,
                   "Of runs that ended: CPU time used of the cores allocated"),
    "datasets": ("Documents by dataset [leadline]", datasets,
                 "Everything that arrived, by the day it speaks of"),
    "hogs": ("Hogs [leadline]", hogs,
             "Hours of users outside any job; above and right of the lines others have to wait"),
}  # fmt: skip


def panel(name: str) -> Object:
    title, spec, description = PANELS[name]
    state = {"title": title, "type": "vega", "aggs": [], "params": {"spec": spec()}}
    source = {"query": {"query": "", "language": "lucene"}, "filter": []}
    return {
        "type": "visualization",
        "id": f"leadline-{name}",
        "attributes": {
            "title": title,
            "description": description,
            "version": 1,
            "uiStateJSON": {},
            "visState": state,
            "kibanaSavedObjectMeta": {"searchSourceJSON": source},
        },
        "references": [],
        "migrationVersion": {"visualization": MIGRATION["visualization"]},
    }


def files() -> dict[Path, str]:
    return {
        FOLDER / f"leadline-{name}.json": json.dumps(panel(name), indent=2, ensure_ascii=False)
        + "\n"
        for name in PANELS
    }


def main() -> int:
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
