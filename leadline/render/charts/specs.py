"""
The definitions of the charts. Each takes plain rows and gives Vega-Lite, nothing more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from leadline.language import _
from leadline.render.charts.colours import HUES, OTHERS, assign
from leadline.render.charts.render import HATCH, INK, PAPER

WIDTH, HEIGHT = 860, 250
LABEL_GAP = 13  # pixels between two labels at the right end
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"

Point = Mapping[str, object]


def others() -> str:
    """
    What the band of all others is called.
    """
    return _("others")


def colours(names: Sequence[str]) -> dict[str, str]:
    places = assign(name for name in names if name != others())
    return {name: OTHERS if name == others() else HUES[places[name]] for name in names}


def stacked_area(
    points: Sequence[Point],
    names: Sequence[str],
    unit: str,
    *,
    bucket: str = "day",
    height: int = HEIGHT,
    unmeasured: Sequence[tuple[str, str]] = (),
) -> dict[str, object]:
    """
    Parts of a whole over time. POINTS hold `time` (ISO, UTC), `name`, `value`; NAMES come greatest
    first and are drawn from the bottom, with their labels at the right end of their bands. Spans
    that were not measured are hatched.
    """
    hues = colours(names)
    order = {name: place for place, name in enumerate(names)}
    rows = [{**point, "order": order[str(point["name"])]} for point in points]
    bands: dict[str, object] = {
        "mark": {"type": "area", "stroke": PAPER, "strokeWidth": 0.8},
        "encoding": {
            "x": time_axis(bucket),
            "y": {**amount(unit), "stack": "zero"},
            "color": {
                "field": "name",
                "type": "nominal",
                "scale": {"domain": list(hues), "range": list(hues.values())},
                "legend": None,
            },
            "order": {"field": "order"},
        },
    }
    return {
        "$schema": SCHEMA,
        "width": WIDTH,
        "height": height,
        "padding": 4,
        "data": {"values": rows},
        "layer": [bands, *gaps(unmeasured), *_labels(rows, names, hues, height)],
    }


def scale(count: int, **more: object) -> dict[str, object]:
    """
    Marks of an axis of amounts: 0, 10k, 20k.
    """
    zero = "datum.value == 0 ? '0' : datum.label"
    return {"tickCount": count, "format": "~s", "labelExpr": zero, **more}


def amount(unit: str) -> dict[str, object]:
    """
    The axis of `value` upwards, its unit written above it.
    """
    return {
        "field": "value",
        "type": "quantitative",
        "title": unit,
        "axis": scale(4, titleAngle=0, titleAlign="left", titleY=-8, titleX=0),
    }


def named(rows: Sequence[Point]) -> dict[str, object]:
    """
    The axis of names downwards, in the order of ROWS.
    """
    return {
        "field": "name",
        "type": "nominal",
        "title": None,
        "sort": None,
        "axis": {"labelLimit": 200},
    }


def gaps(spans: Sequence[tuple[str, str]]) -> list[dict[str, object]]:
    """
    Times nobody measured, hatched from the bottom to the top.
    """
    if not spans:
        return []
    edges = {
        "x": {"field": "from", "type": "temporal"},
        "x2": {"field": "to"},
    }
    values = [{"from": begin, "to": end} for begin, end in spans]
    mark = {"type": "rect", "color": HATCH}
    return [{"data": {"values": values}, "mark": mark, "encoding": edges}]


def time_axis(unit: str = "day", *, labels: bool = True) -> dict[str, object]:
    """
    The axis of `time`, in the clock of 24 hours; times are written as the cluster's clocks show
    them, and drawn as if that were UTC.
    """
    midnight = "utchours(datum.value) == 0 && utcminutes(datum.value) == 0"
    words = {"month": "'%b %Y'", "year": "'%Y'", "quarter": "'%b %Y'"}.get(
        unit, f"{midnight} ? '%-d %b' : '%H:%M'"
    )
    return {
        "field": "time",
        "type": "temporal",
        "scale": {"type": "utc"},
        "title": None,
        "axis": {
            "grid": False,
            "tickCount": 8,
            "labels": labels,
            "labelFlush": True,
            "labelOverlap": "greedy",
            "labelSeparation": 8,
            "labelExpr": f"utcFormat(datum.value, {words})",
        },
    }


def _labels(
    rows: Sequence[Mapping[str, object]],
    names: Sequence[str],
    hues: Mapping[str, str],
    height: int,
) -> list[dict[str, object]]:
    """
    The names at the right ends of their bands, pushed apart where bands are thin.
    """
    if not rows:
        return []
    last = max(str(row["time"]) for row in rows)
    ends = {str(row["name"]): _number(row["value"]) for row in rows if row["time"] == last}
    sums: dict[str, float] = {}
    for row in rows:
        sums[str(row["time"])] = sums.get(str(row["time"]), 0.0) + _number(row["value"])
    top = max(sums.values()) or 1.0
    base, wanted = 0.0, []
    for name in names:
        share = ends.get(name, 0.0)
        wanted.append((name, height * (1 - 0.94 * (base + share / 2) / top)))
        base += share
    marks: list[dict[str, object]] = []
    for name, y in _apart(wanted, height):
        label = {"type": "text", "align": "left", "x": WIDTH + 8, "y": y, "fontSize": 11}
        marks.append(
            {
                "data": {"values": [{"label": short(name)}]},
                "mark": label | {"color": INK, "baseline": "middle", "dx": 11},
                "encoding": {"text": {"field": "label", "type": "nominal"}},
            }
        )
        square = {"type": "point", "shape": "square", "filled": True, "size": 60}
        marks.append(
            {
                "data": {"values": [{}]},
                "mark": square | {"x": WIDTH + 11, "y": y, "color": hues[name], "opacity": 1},
            }
        )
    return marks


def _apart(wanted: list[tuple[str, float]], height: int) -> list[tuple[str, float]]:
    """
    Labels from the bottom up, none nearer to the one below than a line of text.
    """
    placed: list[tuple[str, float]] = []
    floor = float(height)
    for name, y in wanted:
        floor = min(y, floor)
        placed.append((name, floor))
        floor -= LABEL_GAP
    over = -4 - (placed[-1][1] if placed else 0)
    if over <= 0:
        return placed
    # Too high: push down from the top.
    ceiling, again = -4.0, []
    for name, y in reversed(placed):
        ceiling = max(ceiling, y)
        again.append((name, ceiling))
        ceiling += LABEL_GAP
    return again[::-1]


def short(name: str) -> str:
    return name if len(name) <= 20 else name[:19] + "…"


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def hues_of(rows: Sequence[Point]) -> dict[str, object]:
    """
    The colour of each row: that of its name, or of what it is a part `of`.
    """
    names = [str(row["name"]) for row in rows]
    of = {name: str(row.get("of") or name) for name, row in zip(names, rows, strict=True)}
    hues = colours(list(dict.fromkeys(of.values())))
    known = {"domain": list(of), "range": [hues[key] for key in of.values()]}
    return {"field": "name", "type": "nominal", "scale": known, "legend": None}


def ranking(rows: Sequence[Point], unit: str) -> dict[str, object]:
    """
    One bar per name, greatest first. ROWS hold `name` and `value`.
    """
    return {
        "$schema": SCHEMA,
        "width": WIDTH,
        "height": {"step": 22},
        "data": {"values": list(rows)},
        "mark": {"type": "bar", "cornerRadiusEnd": 1, "height": 14},
        "encoding": {
            "x": {
                "field": "value",
                "type": "quantitative",
                "title": unit,
                "axis": scale(5, orient="top"),
            },
            "y": named(rows),
            "color": hues_of(rows),
        },
    }
