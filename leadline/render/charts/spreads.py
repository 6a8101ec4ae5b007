"""
Pictures of how things are spread: classes, boxes, dots, and one measure against another.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from leadline.render.charts.colours import PALETTE
from leadline.render.charts.render import INK, PAPER
from leadline.render.charts.specs import (
    HEIGHT,
    SCHEMA,
    WIDTH,
    Point,
    amount,
    colours,
    hues_of,
    named,
    scale,
    short,
)

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
RADIUS, PIE = 115, 290  # of a pie, and the height of its picture
BOXED = ("low", "middle", "high", "top")


def histogram(rows: Sequence[Point], unit: str, of: str) -> dict[str, object]:
    """
    A column for each class, in the order given, without gaps: OF says of what they are classes.
    """
    return {
        "$schema": SCHEMA,
        "width": WIDTH,
        "height": HEIGHT,
        "padding": 4,
        "data": {"values": list(rows)},
        "mark": {"type": "bar", "color": PALETTE[0], "stroke": INK, "strokeWidth": 0.5},
        "encoding": {
            "x": {
                "field": "name",
                "type": "nominal",
                "title": of,
                "sort": None,
                "axis": {"labelAngle": 0},
                "scale": {"paddingInner": 0.02},
            },
            "y": amount(unit),
        },
    }


def boxes(rows: Sequence[Point], unit: str, words: Sequence[str]) -> dict[str, object]:
    """
    By name: a line from the least to the greatest, a box from the median to 90 %. ROWS hold `name`,
    `low`, `middle`, `high`, `top`; WORDS name these four.
    """
    y = named(rows)
    axis = scale(6, orient="top", grid=True)

    def x(name: str) -> dict[str, object]:
        return {"field": name, "type": "quantitative", "title": unit, "axis": axis}

    to = {"x2": {"field": "top"}}
    told = [
        {"field": name, "type": "quantitative", "title": word}
        for name, word in zip(BOXED, words, strict=True)
    ]
    line = {"mark": {"type": "rule", "color": INK}, "encoding": {"x": x("low"), **to}}
    box = {
        "mark": {"type": "bar", "color": PALETTE[0], "height": 14},
        "encoding": {"x": x("middle"), "x2": {"field": "high"}, "tooltip": told},
    }
    ends = [
        {"mark": {"type": "tick", "color": INK, "size": size}, "encoding": {"x": x(name)}}
        for name, size in (("low", 8), ("middle", 18), ("top", 8))
    ]
    return {
        "$schema": SCHEMA,
        "width": WIDTH,
        "height": {"step": 24},
        "padding": 4,
        "data": {"values": list(rows)},
        "encoding": {"y": y},
        "layer": [line, box, *ends],
    }


def dots(rows: Sequence[Point], unit: str) -> dict[str, object]:
    """
    One dot per name on a line of its own: where a bar from 0 would say nothing.
    """
    axis = scale(6, orient="top")
    return {
        "$schema": SCHEMA,
        "width": WIDTH,
        "height": {"step": 20},
        "padding": 4,
        "data": {"values": list(rows)},
        "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
        "encoding": {
            "x": {"field": "value", "type": "quantitative", "title": unit, "axis": axis},
            "y": {**named(rows), "axis": {"labelLimit": 200, "grid": True}},
            "color": hues_of(rows),
        },
    }


def scatter(rows: Sequence[Point], across: str, up: str) -> dict[str, object]:
    """
    One measure against another: `x`, `y` and `name`, with the names beside the dots.
    """
    label = {"type": "text", "align": "left", "dx": 8, "color": INK, "fontSize": 10}
    shape = {"field": "name", "type": "nominal", "scale": {"range": list(SHAPES)}, "legend": None}
    axis = scale(6)
    return {
        "$schema": SCHEMA,
        "width": WIDTH,
        "height": int(HEIGHT * 1.4),
        "padding": 4,
        "data": {"values": _labelled(rows)},
        "encoding": {
            "x": {"field": "x", "type": "quantitative", "title": across, "axis": axis},
            "y": {**amount(up), "field": "y"},
        },
        "layer": [
            {
                "mark": {"type": "point", "filled": True, "size": 80, "opacity": 0.9},
                "encoding": {"color": hues_of(rows), "shape": shape},
            },
            {"mark": label, "encoding": {"text": {"field": "label", "type": "nominal"}}},
        ],
    }


def _labelled(rows: Sequence[Point]) -> list[dict[str, object]]:
    """
    With a label where there is room for one: beside no other label.
    """
    far = max((float(str(row["x"])) for row in rows), default=0.0) or 1.0
    high = max((float(str(row["y"])) for row in rows), default=0.0) or 1.0
    found: list[dict[str, object]] = []
    taken: list[tuple[float, float]] = []
    for row in rows:
        at = (float(str(row["x"])) / far, float(str(row["y"])) / high)
        free = all(abs(at[0] - x) > 0.1 or abs(at[1] - y) > 0.035 for x, y in taken)
        found.append({**row, "label": short(str(row["name"])) if free else ""})
        if free:
            taken.append(at)
    return found


def pie(rows: Sequence[Point], unit: str) -> dict[str, object]:
    """
    Parts of a whole, each named with its share beside its slice: it needs no legend, nor colour.
    """
    names = [str(row["name"]) for row in rows]
    hues = colours(names)
    parts = [
        {"name": name, "value": row["value"], "order": place}
        for place, (name, row) in enumerate(zip(names, rows, strict=True))
    ]
    known = {"domain": list(hues), "range": list(hues.values())}
    arc = {"type": "arc", "outerRadius": RADIUS, "stroke": PAPER, "strokeWidth": 1.5}
    slices: dict[str, object] = {
        "data": {"values": parts},
        "mark": arc,
        "encoding": {
            "theta": {"field": "value", "type": "quantitative", "stack": True, "title": unit},
            "order": {"field": "order"},
            "color": {"field": "name", "type": "nominal", "scale": known, "legend": None},
        },
    }
    return {
        "$schema": SCHEMA,
        "width": WIDTH,
        "height": PIE,
        "padding": 4,
        "title": {"text": unit, "fontWeight": "normal", "fontSize": 11, "anchor": "start"},
        "layer": [slices, *_beside(rows)],
    }


def _beside(rows: Sequence[Point]) -> Iterator[dict[str, object]]:
    """
    The names of the slices, away from the middle on either side.
    """
    values = [float(str(row["value"])) for row in rows]
    whole, before = sum(values) or 1.0, 0.0
    for row, value in zip(rows, values, strict=True):
        turn = math.tau * (before + value / 2) / whole
        before += value
        text = f"{short(str(row['name']))} {100 * value / whole:.0f} %"
        place = {
            "x": WIDTH / 2 + (RADIUS + 10) * math.sin(turn),
            "y": PIE / 2 - (RADIUS + 10) * math.cos(turn),
            "align": "left" if math.sin(turn) >= 0 else "right",
        }
        mark = {"type": "text", "color": INK, "fontSize": 11, "baseline": "middle", **place}
        yield {
            "data": {"values": [{"label": text}]},
            "mark": mark,
            "encoding": {"text": {"field": "label", "type": "nominal"}},
        }
