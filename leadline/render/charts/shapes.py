"""
More pictures: lines for what does not add up, columns and a heat map for the clock and the week.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from leadline.render.charts.colours import PALETTE
from leadline.render.charts.render import HATCH, INK
from leadline.render.charts.specs import (
    HEIGHT,
    SCHEMA,
    WIDTH,
    Point,
    amount,
    colours,
    scale,
    time_axis,
)

STEP = 32  # pixels of a row of the heat map
LOW = 16  # where there are many
MARKED = 150  # points of lines that are each marked: more hide the lines
DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (6, 3), (2, 2), (8, 2, 2, 2), (4, 4))


def lines(
    points: Sequence[Point], names: Sequence[str], unit: str, *, bucket: str = "day"
) -> dict[str, object]:
    """
    One line per name: maxima, means and counts of different things are not stacked. They differ
    in their dashes too, for who sees or prints no colour.
    """
    hues = colours(names)
    dashes = {
        "domain": list(hues),
        "range": [list(DASHES[place]) for place in _dashes(list(hues.values()))],
    }
    several: dict[str, object] | None = None
    if len(names) > 1:
        several = {"title": None, "orient": "right", "labelLimit": 140}
        several |= {"symbolType": "stroke", "symbolSize": 500, "symbolStrokeWidth": 1.8}
    dash = {"field": "name", "type": "nominal", "scale": dashes, "legend": several}
    dashed = {"strokeDash": dash} if len(names) > 1 else {}
    return {
        "$schema": SCHEMA,
        "width": WIDTH,
        "height": HEIGHT,
        "padding": 4,
        "data": {"values": list(points)},
        "mark": {
            "type": "line",
            "strokeWidth": 1.8,
            "strokeCap": "round",  # a point by itself is a dot
            "point": {"size": 14} if len(points) <= MARKED else False,
        },
        "encoding": {
            "x": time_axis(bucket),
            "y": amount(unit),
            "color": {
                "field": "name",
                "type": "nominal",
                "scale": {"domain": list(hues), "range": list(hues.values())},
                "legend": several,
            },
            **dashed,
        },
    }


def _dashes(hues: Sequence[str]) -> list[int]:
    """
    A kind of dash for each line: one after the other, but never twice with the same colour.
    """
    taken: set[tuple[str, int]] = set()
    found = []
    for number, hue in enumerate(hues):
        kinds = [(number + more) % len(DASHES) for more in range(len(DASHES))]
        found.append(next((kind for kind in kinds if (hue, kind) not in taken), kinds[0]))
        taken.add((hue, found[-1]))
    return found


def ruled(
    spec: Mapping[str, Any], points: Sequence[Point], told: str, *, bucket: str = "day"
) -> dict[str, Any]:
    """
    SPEC over time with a dashed line through POINTS, TOLD at its beginning.
    """
    if len(points) < 2:
        return dict(spec)
    frame = {key: spec[key] for key in ("$schema", "width", "height", "padding") if key in spec}
    layers = spec.get("layer") or [{k: v for k, v in spec.items() if k not in frame}]
    y = layers[0]["encoding"]["y"]
    across = {"x": time_axis(bucket), "y": {**y, "stack": None}}
    line = {"type": "line", "color": INK, "strokeWidth": 1.4, "strokeDash": [7, 4]}
    text = {"type": "text", "align": "left", "baseline": "top", "dx": 4, "dy": 4, "color": INK}
    word = {"text": {"field": "told", "type": "nominal"}}
    rest = {"data": spec["data"]} if "layer" in spec else {}
    return {
        **frame,
        **rest,
        "layer": [
            *layers,
            {"data": {"values": list(points)}, "mark": line, "encoding": across},
            {
                "data": {"values": [{**points[0], "told": told}]},
                "mark": text,
                "encoding": {**across, **word},
            },
        ],
    }


def columns(rows: Sequence[Point], unit: str, of: str = "") -> dict[str, object]:
    """
    One column per name, in the order given: hours of the day, days of the week; OF says what they
    are.
    """
    return {
        "$schema": SCHEMA,
        "width": WIDTH,
        "height": HEIGHT,
        "padding": 4,
        "data": {"values": list(rows)},
        "mark": {"type": "bar", "color": PALETTE[0]},
        "encoding": {
            "x": {
                "field": "name",
                "type": "nominal",
                "title": of or None,
                "sort": None,
                "axis": {"labelAngle": 0, "labelOverlap": True},
            },
            "y": amount(unit),
        },
    }


def heat(
    cells: Sequence[Point], across: Sequence[str], down: Sequence[str], unit: str, of: str = ""
) -> dict[str, object]:
    """
    A cell for each pair, the darker the more; CELLS hold `across`, `down` and `value`, OF says what
    goes across. What has no cell was not measured, and is hatched.
    """
    known = {(cell["across"], cell["down"]) for cell in cells}
    bare = [{"across": x, "down": y} for y in down for x in across if (x, y) not in known]
    step = STEP if len(down) <= 12 else LOW
    x: dict[str, object] = {
        "field": "across",
        "type": "nominal",
        "title": of or None,
        "sort": list(across),
        "axis": {"labelAngle": 0, "labelOverlap": "greedy", "labelSeparation": 8},
    }
    y = {"field": "down", "type": "nominal", "title": None, "sort": list(down)}
    colour = {
        "field": "value",
        "type": "quantitative",
        "title": unit,
        "scale": {"scheme": "blues", "zero": True},
        "legend": {
            **scale(4),
            **{"orient": "top", "titleFontWeight": "normal", "titleLimit": 400},
            **{"gradientLength": 200, "gradientThickness": 10},
        },
    }
    empty = {"data": {"values": bare}, "mark": {"type": "rect", "color": HATCH}}
    return {
        "$schema": SCHEMA,
        "width": WIDTH,
        "height": {"step": step},
        "padding": 4,
        "data": {"values": list(cells)},
        "encoding": {"x": x, "y": y},
        "layer": [
            *([empty] if bare and cells else []),
            {"mark": {"type": "rect"}, "encoding": {"color": colour}},
        ],
    }
