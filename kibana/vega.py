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

FOLDER = HERE / "objects" / "visualization"
VEGA_LITE = "5.8"  # of Vega 5, which OpenSearch Dashboards 2 and Kibana 8 run
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
HOURS = tuple(f"{hour:02d}" for hour in range(24))
SHARD = 10000


def terms(field: str, size: int, aggs: Object, **more: object) -> Object:
    return {"terms": {"field": field, "size": size, "shard_size": SHARD, **more}, "aggs": aggs}


def total(field: str) -> Object:
    return {"sum": {"field": field}}


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
    schema = "https://vega.github.io/schema/vega-lite/v5.json"
    chart: Object = {"$schema": schema, "width": 860, "data": {}, "layer": [line, points]}
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
