"""
More pictures: lines for what does not add up, columns and a heat map for the clock and the week.
"""

from __future__ import annotations

from collections.abc import Sequence

from leadline.render.charts.colours import PALETTE
from leadline.render.charts.specs import HEIGHT, SCHEMA, WIDTH, Point, colours, time_axis

STEP = 32  # pixels of a row of the heat map


def _amount(unit: str) -> dict[str, object]:
    return {
        "field": "value",
        "type": "quantitative",
        "title": unit,
        "axis": {"titleAngle": 0, "titleAlign": "left", "titleY": -8, "titleX": 0}
        | {"tickCount": 4, "format": "~s"},
    }


def lines(
    points: Sequence[Point], names: Sequence[str], unit: str, *, bucket: str = "day"
) -> dict[str, object]:
    """
    One line per name: maxima, means and counts of different things are not stacked.
    """
    hues = colours(names)
    several = {"title": None, "orient": "right", "labelLimit": 140} if len(names) > 1 else None
    return {
        "$schema": SCHEMA,
        "width": WIDTH,
        "height": HEIGHT,
        "padding": 4,
        "data": {"values": list(points)},
        "mark": {"type": "line", "strokeWidth": 1.8, "point": {"size": 14}},
        "encoding": {
            "x": time_axis(bucket),
            "y": _amount(unit),
            "color": {
                "field": "name",
                "type": "nominal",
                "scale": {"domain": list(hues), "range": list(hues.values())},
                "legend": several,
            },
        },
    }


def columns(rows: Sequence[Point], unit: str) -> dict[str, object]:
    """
    One column per name, in the order given: hours of the day, days of the week.
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
                "title": None,
                "sort": None,
                "axis": {"labelAngle": 0, "labelOverlap": True},
            },
            "y": _amount(unit),
        },
    }


def heat(
    cells: Sequence[Point], across: Sequence[str], down: Sequence[str], unit: str
) -> dict[str, object]:
    """
    A cell for each pair, the darker the more; CELLS hold `across`, `down` and `value`. What has no
    cell was not measured, and stays paper.
    """
    return {
        "$schema": SCHEMA,
        "width": WIDTH,
        "height": {"step": STEP},
        "padding": 4,
        "data": {"values": list(cells)},
        "mark": {"type": "rect"},
        "encoding": {
            "x": {
                "field": "across",
                "type": "nominal",
                "title": None,
                "sort": list(across),
                "axis": {"labelAngle": 0, "labelOverlap": True},
            },
            "y": {"field": "down", "type": "nominal", "title": None, "sort": list(down)},
            "color": {
                "field": "value",
                "type": "quantitative",
                "scale": {"scheme": "blues", "zero": True},
                "legend": {"title": unit, "format": "~s", "gradientLength": 150},
            },
        },
    }
