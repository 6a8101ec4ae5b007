"""
States along a line of time, and what is used of a grant until its end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from leadline.language import _
from leadline.render.charts.colours import PALETTE
from leadline.render.charts.render import HATCH, INK
from leadline.render.charts.specs import SCHEMA, WIDTH, Point, amount, time_axis

HUES = {"up": PALETTE[2], "drained": PALETTE[3], "down": PALETTE[7], "unknown": HATCH}
STRIP, GRANT = 44, 110  # pixels high


def states(spans: Sequence[Point]) -> dict[str, object]:
    """
    SPANS hold `from`, `to`, `state` and `time`, its class: each as long as it lasted.
    """
    words = {"up": _("up"), "drained": _("drained"), "down": _("down"), "unknown": _("unknown")}
    values = [{**span, "time": words[str(span["time"])]} for span in spans]
    scale = {"domain": list(words.values()), "range": [HUES[name] for name in words]}
    return {
        "$schema": SCHEMA,
        "width": WIDTH,
        "height": STRIP,
        "padding": 4,
        "data": {"values": values},
        "mark": {"type": "rect"},
        "encoding": {
            "x": {**time_axis("hour"), "field": "from"},
            "x2": {"field": "to"},
            "color": {
                "field": "time",
                "type": "nominal",
                "scale": scale,
                "legend": {"title": None, "orient": "right"},
            },
            "description": {"field": "state", "type": "nominal"},
        },
    }


def burndown(grants: Sequence[tuple[str, Sequence[Point], Sequence[Point]]]) -> dict[str, object]:
    """
    A strip for each grant: its name, what was used by then, and the even pace to all of it, both as
    `time` and `value`; the last of the pace is what was granted.
    """
    strips = [_grant(name, used, even) for name, used, even in grants]
    return {"$schema": SCHEMA, "padding": 4, "spacing": 22, "vconcat": strips}


def _grant(name: str, used: Sequence[Point], even: Sequence[Point]) -> Mapping[str, object]:
    across = {"x": time_axis("day"), "y": amount(_("hours"))}
    line = {"type": "line", "color": PALETTE[0], "strokeWidth": 1.8}
    pace = {"type": "line", "color": INK, "strokeDash": [5, 4], "opacity": 0.7}
    whole = {"data": {"values": list(even[-1:])}}
    limit = {"type": "rule", "color": INK, "opacity": 0.6, "strokeWidth": 1}
    word = {"type": "text", "text": _("granted"), "color": INK, "opacity": 0.8}
    word |= {"x": WIDTH - 4, "align": "right", "baseline": "bottom", "dy": -2}
    above = {"y": across["y"]}
    return {
        "width": WIDTH,
        "height": GRANT,
        "title": {"text": name, "fontWeight": "normal", "fontSize": 11, "offset": 14},
        "data": {"values": list(used)},
        "layer": [
            {"mark": line, "encoding": across},
            {"data": {"values": list(even)}, "mark": pace, "encoding": across},
            {**whole, "mark": limit, "encoding": above},
            {**whole, "mark": word, "encoding": above},
        ],
    }
