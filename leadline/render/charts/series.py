"""
The values of a chart over time, short enough to travel within its drawing: scripts read them there.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import orjson

from leadline.render.text import safe_text

DIGITS = 4  # of a value: more than a reader is told


def series(spec: Mapping[str, Any]) -> str:
    """
    JSON of what SPEC draws over time: `times`, `unit` and `rows` of name, colour, values; empty for
    other charts. A value nobody measured is null.
    """
    if "vconcat" in spec:
        return _written(_tracks(spec))
    layers = spec.get("layer", [spec])
    colour = layers[0].get("encoding", {}).get("color", {})
    values = spec.get("data", {}).get("values", [])
    if not values or "time" not in values[0] or "scale" not in colour:
        return ""
    times = sorted({str(row["time"]) for row in values})
    place = {time: number for number, time in enumerate(times)}
    scale = colour["scale"]
    found: dict[str, list[float | None]] = {name: [None] * len(times) for name in scale["domain"]}
    for row in values:
        found[str(row["name"])][place[str(row["time"])]] = _rounded(row["value"])
    rows = [
        [safe_text(name), hue, found[name]]
        for name, hue in zip(scale["domain"], scale["range"], strict=True)
    ]
    unit = layers[0]["encoding"]["y"]["title"]
    return _written({"times": times, "unit": unit, "rows": rows})


def _tracks(spec: Mapping[str, Any]) -> dict[str, object]:
    strips = spec["vconcat"]
    times = [str(row["time"]) for row in strips[0]["data"]["values"]]
    rows = [
        [
            strip["title"]["text"],
            strip["layer"][0]["mark"]["color"],
            [_rounded(row["value"]) for row in strip["data"]["values"]],
        ]
        for strip in strips
    ]
    return {"times": times, "unit": "", "rows": rows}


def _rounded(value: object) -> float | None:
    return float(f"{value:.{DIGITS}g}") if isinstance(value, int | float) else None


def _written(found: Mapping[str, Any]) -> str:
    """
    Times by their first and their step, where they keep step.
    """
    from leadline.formats.times import epoch_seconds

    moments = [epoch_seconds(time) for time in found["times"]]
    steps = {round(b - a, 3) for a, b in pairwise(moments)}
    told: dict[str, object] = {"unit": found["unit"], "rows": found["rows"]}
    if len(steps) == 1:
        told |= {"from": moments[0], "step": steps.pop()}
    else:
        told["times"] = moments
    return orjson.dumps(told).decode()
