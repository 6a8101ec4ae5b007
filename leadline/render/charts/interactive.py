"""
Charts that answer where they are opened: the specification that is drawn here, with what is told
under the pointer, a legend that switches names, and a time axis that can be moved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from leadline.formats.times import parse_time
from leadline.language import _, current
from leadline.language.figures import figure, for_charts, short_month
from leadline.render.charts.colours import OTHERS
from leadline.render.charts.render import HATCH, INK, written
from leadline.render.charts.specs import WIDTH

Spec = dict[str, Any]

# Older Vega-Lites set a tip's titles between quotes as they are: a name could end them.
INERT = str.maketrans({'"': "\u2033", "\\": "\u29f5"})
HEADING = "title"  # of a tip: Vega's own and ours set this value above the others
FRAME = ("$schema", "width", "height", "padding", "title", "data")
LEGEND = {"title": None, "orient": "right", "labelLimit": 140}


def draw_vega(spec: Mapping[str, Any]) -> bytes:
    """
    SPEC as a Vega-Lite file, to be opened in a page or by any program that reads them.
    """
    figures, times = for_charts(current()) or (None, None)
    spoken = {"locale": {"number": figures, "time": times}} if figures else {}
    return written(interactive(spec), **spoken)


def interactive(spec: Mapping[str, Any]) -> Spec:
    """
    SPEC, its values and marks as they were, to be handled by whom it is drawn for.
    """
    if "vconcat" in spec:
        strips = [_moving(strip, place) for place, strip in enumerate(spec["vconcat"])]
        return {**spec, "vconcat": strips, "params": _params(len(strips))}
    layers = spec.get("layer", [spec])
    if layers[0].get("encoding", {}).get("x", {}).get("field") == "time":
        return {**_moving(spec), "params": _params(1, names=_several(layers[0]))}
    return _told(spec)


def _params(count: int, *, names: bool = False) -> list[Spec]:
    """
    A drag moves all of COUNT time axes, the wheel with Shift stretches them; the pointer is at the
    same moment of all.
    """
    zoom = {"type": "interval", "encodings": ["x"], "zoom": "wheel![event.shiftKey]"}
    point = {"type": "point", "fields": ["time"], "nearest": True}
    hover = {**point, "on": "pointerover", "clear": "pointerout"}
    chosen = {"type": "point", "fields": ["name"], "toggle": "true"}
    drawn = [f"drawn{place}" for place in range(count)]
    told = [f"told{place}" for place in range(count)]
    legend = [{"name": "names", "select": chosen, "bind": "legend", "views": drawn}]
    return [
        *(legend if names else []),
        {"name": "span", "select": zoom, "bind": "scales", "views": drawn},
        {"name": "moment", "select": hover, "views": told},
    ]


def _moving(spec: Mapping[str, Any], place: int = 0) -> Spec:
    """
    A picture over time; names beside their bands become a legend, for bands move.
    """
    frame = {key: spec[key] for key in FRAME if key in spec}
    first, *others = spec.get("layer") or [{k: v for k, v in spec.items() if k not in frame}]
    drawn = {**first, "name": f"drawn{place}", "mark": {**_mark(first), "clip": True}}
    if _several(first):
        drawn["transform"] = [{"filter": {"param": "names"}}]
        colour = first["encoding"]["color"]
        shown = colour["legend"] or LEGEND
        drawn["encoding"] = {**first["encoding"], "color": {**colour, "legend": shown}}
    kept = [_clipped(layer) for layer in others if "x" not in _mark(layer)]
    return {**frame, "layer": [drawn, *kept, _moments(spec, first, place)]}


def _clipped(layer: Spec) -> Spec:
    """
    What lies beyond the ends of a moved axis is not drawn.
    """
    mark = {**_mark(layer), "clip": True}
    if mark.get("color") == HATCH:
        mark |= {"stroke": OTHERS, "strokeWidth": 0.5}
    return {**layer, "mark": mark}


def _several(layer: Mapping[str, Any]) -> bool:
    scale = layer["encoding"].get("color", {}).get("scale", {})
    return len(scale.get("domain", ())) > 1


def _moments(spec: Mapping[str, Any], first: Mapping[str, Any], place: int) -> Spec:
    """
    A line at each moment, seen under the pointer, that tells what there was then.
    """
    values = (first.get("data") or spec["data"])["values"]
    scale = first["encoding"].get("color", {}).get("scale")
    if scale:
        names, column = scale["domain"], {n: str(k) for k, n in enumerate(scale["domain"])}
    else:
        names, column = [spec["title"]["text"]], {}
    digits = _digits(row.get("value") for row in values)
    days = all(str(row["time"])[11:16] == "00:00" for row in values)
    rows: dict[str, Spec] = {}
    for row in values:
        time = str(row["time"])
        known = rows.setdefault(time, {"time": time, "told": _moment(parse_time(time), days)})
        known[f"value{column.get(row.get('name'), '0')}"] = _figure(row["value"], digits)
    fields = [f"value{number}" for number in range(len(names))]
    for known in rows.values():
        for name in fields:
            known.setdefault(name, _figure(None, digits))
    seen = {"condition": {"param": "moment", "empty": False, "value": 0.6}, "value": 0}
    return {
        "name": f"told{place}",
        "data": {"values": list(rows.values())},
        "mark": {"type": "rule", "color": INK, "clip": True},
        "encoding": {
            "x": first["encoding"]["x"],
            "opacity": seen,
            "tooltip": [
                _word("told", HEADING),
                *(_word(field, name) for field, name in zip(fields, names, strict=True)),
            ],
        },
    }


def _told(spec: Mapping[str, Any]) -> Spec:
    """
    A picture of bars, cells, slices, dots: each says what it is.
    """
    if "layer" not in spec:
        return {**spec, "encoding": _with_tip(spec, spec)}
    own = [layer.get("encoding", {}).get("tooltip") for layer in spec["layer"]]
    known = next(filter(None, own), None)
    return {**spec, "layer": [_layer_told(spec, layer, known) for layer in spec["layer"]]}


def _layer_told(spec: Mapping[str, Any], layer: Spec, known: Sequence[Spec] | None) -> Spec:
    """
    Every mark of a box tells the whole of it, as its own tip, KNOWN, does.
    """
    mark, encoding = _mark(layer), layer.get("encoding", {})
    if "x" in mark:  # stands beside the middle, wherever that is
        beside = {"expr": f"width / 2 + {mark['x'] - WIDTH / 2:.1f}"}
        return {**layer, "mark": {**mark, "x": beside}}
    if mark["type"] == "text":
        return layer
    if known:
        return {**layer, "encoding": {**encoding, "tooltip": [_word("name", HEADING), *known]}}
    if mark.get("color") == HATCH:
        rows = [{**row, "told": _("not measured")} for row in layer["data"]["values"]]
        tip = [*_names(spec["encoding"]), _word("told", " ")]
        return {**layer, "data": {"values": rows}, "encoding": {**encoding, "tooltip": tip}}
    return {**layer, "encoding": _with_tip(spec, layer)}


def _with_tip(spec: Mapping[str, Any], layer: Mapping[str, Any]) -> Spec:
    encoding = {**spec.get("encoding", {}), **layer["encoding"]}
    values = (layer.get("data") or spec["data"])["values"]
    figures = []
    for channel in encoding.values():
        if channel.get("type") == "quantitative":
            field = channel["field"]
            digits = _digits(row.get(field) for row in values)
            told = {
                "field": field,
                "type": "quantitative",
                "title": channel["title"].translate(INERT),
            }
            figures.append({**told, "format": f",.{digits}~f"})
    return {**layer["encoding"], "tooltip": [*_names(encoding), *figures]}


def _names(encoding: Mapping[str, Any]) -> list[Spec]:
    """
    What names a mark: one name, or that of its row and its column.
    """
    fields = {channel.get("field"): channel for channel in encoding.values()}
    if "down" in fields:
        return [_word("down", HEADING), _word("across", fields["across"]["title"] or " ")]
    return [_word("name", HEADING)]


def _word(field: str, title: str) -> Spec:
    return {"field": field, "type": "nominal", "title": title.translate(INERT)}


def _mark(layer: Mapping[str, Any]) -> Spec:
    mark = layer["mark"]
    return mark if isinstance(mark, dict) else {"type": mark}


def _digits(values: Iterator[object] | Sequence[object]) -> int:
    """
    Behind the point: as in tables, more where everything is small.
    """
    most = max((abs(v) for v in values if isinstance(v, int | float)), default=0.0)
    return 1 if most >= 1 or not most else 3


def _figure(value: object, digits: int) -> str:
    if not isinstance(value, int | float):
        return _("not measured")
    text = f"{value:,.{digits}f}"
    return figure(text.rstrip("0").rstrip(".") if "." in text else text, current())


def _moment(time: datetime, days: bool) -> str:
    day = f"{time.day} {short_month(time.month, current())} {time.year}"
    return day if days else f"{day}, {time:%H:%M}"
