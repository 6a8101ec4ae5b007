"""
Draws docs/images/kibana-*.svg from a store: `python -m kibana.pictures http://127.0.0.1:9200 NOW`.

No product is to be had for screenshots. The searches are the panels' own, the drawing is ours.
"""

from __future__ import annotations

import json
import sys
import urllib.request
from datetime import UTC, datetime
from typing import Any

from kibana import request
from kibana.build import HERE, objects
from kibana.check import Object, searches_of
from kibana.request import Range, read_range

FOLDER = HERE.parent / "docs" / "images"
HOURS = 3600


def post(address: str, index: str, body: Object) -> Object:
    wanted = urllib.request.Request(  # noqa: S310 - an address given by hand
        f"{address}/{index}/_search",
        data=json.dumps(body).encode(),
        headers={"content-type": "application/json"},
    )
    with urllib.request.urlopen(wanted, timeout=60) as answer:  # noqa: S310
        found: Object = json.load(answer)
    return found


def over_time(one: Object, answer: Object) -> Object:
    from leadline.render.charts.specs import stacked_area

    points = [
        {
            "time": point["key_as_string"],
            "name": part["key"],
            "value": point["1"]["value"] / HOURS,
        }
        for part in answer["3"]["buckets"]
        for point in part["2"]["buckets"]
    ]
    names = [part["key"] for part in answer["3"]["buckets"]]
    return stacked_area(points, names, "core hours")


def ranked(one: Object, answer: Object) -> Object:
    from leadline.render.charts.specs import ranking

    parts = answer["2"]["buckets"]
    return ranking(
        [{"name": part["key"], "value": part["1"]["value"] / HOURS} for part in parts],
        "core hours",
    )


def draw(address: str, name: str, when: Range) -> str:
    import vl_convert

    from leadline.render.charts.render import draw_file

    (one,) = (o for o in objects() if o["id"] == f"leadline-{name}")
    state = one["attributes"]["visState"]
    if state["type"] == "vega":
        spec: Any = json.loads(json.dumps(state["params"]["spec"]))
        (url,) = searches_of(spec)
        answer = post(address, url["index"], request.of_vega(url, [], when))
        data = next(part for part in spec["data"] if "url" in part)
        _, outer, _ = data.pop("format")["property"].split(".")
        del data["url"]
        data["values"] = answer["aggregations"][outer]["buckets"]
        return str(vl_convert.vega_to_svg({**spec, "background": "white"}))
    body = request.aggregated(one, [], when)
    answer = post(address, f"{request.pattern_of(one)}-*", body)["aggregations"]
    make = over_time if state["type"] == "area" else ranked
    return draw_file(make(one, answer))


PICTURES = ("core-by-program", "top-users", "week", "asked-used-points")


def main(address: str, moment: str) -> int:
    now = datetime.fromisoformat(moment).astimezone(UTC)
    when = read_range("now-30d", "now", now)
    FOLDER.mkdir(exist_ok=True)
    for name in PICTURES:
        (FOLDER / f"kibana-{name}.svg").write_text(draw(address, name, when), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
