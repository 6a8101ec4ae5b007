"""
Small multiples of one job: each thing it used over the same time, with what was asked as a rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from leadline.formats.times import format_time
from leadline.language import _
from leadline.render.charts.colours import PALETTE
from leadline.render.charts.render import INK
from leadline.render.charts.specs import SCHEMA, WIDTH, scale, time_axis

HEIGHT = 84


@dataclass(frozen=True, slots=True)
class Track:
    title: str
    values: Sequence[float | None]
    rule: float | None = None  # drawn dashed across
    told: str = ""  # what the rule is; asked, where nothing is said


def tracks(wanted: Sequence[Track], start: datetime, step: timedelta) -> dict[str, object]:
    """
    One strip per track, one below the other; a value of None is a gap. START is as the cluster's
    clocks showed it.
    """
    strips = [
        _strip(track, place, start, step, last=place == len(wanted) - 1)
        for place, track in enumerate(wanted)
    ]
    return {"$schema": SCHEMA, "padding": 4, "spacing": 14, "vconcat": strips}


def _strip(
    track: Track, place: int, start: datetime, step: timedelta, *, last: bool
) -> dict[str, object]:
    rows = [
        {"time": format_time(start + (number + 0.5) * step), "value": value}
        for number, value in enumerate(track.values)
    ]
    area: dict[str, object] = {
        "mark": {
            "type": "area",
            "color": PALETTE[0 if place == 0 else 2 if place == 1 else 7],
            "opacity": 0.85,
            "invalid": "break-paths-show-path-domains",
        },
        "encoding": {
            "x": time_axis("hour", labels=last),
            "y": {
                "field": "value",
                "type": "quantitative",
                "title": None,
                "axis": scale(3, minExtent=28),
            },
        },
    }
    layers = [area]
    if track.rule:
        rule = {"type": "rule", "color": INK, "strokeDash": [4, 3], "opacity": 0.7}
        layers.append(
            {
                "data": {"values": [{"asked": track.rule}]},
                "mark": rule,
                "encoding": {"y": {"field": "asked", "type": "quantitative"}},
            }
        )
    title = track.title
    if track.rule:
        told = track.told or _("asked")
        title = _("{title} (dashed: {told})").format(title=title, told=told)
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "title": {"text": title, "fontWeight": "normal", "fontSize": 11, "offset": 4},
        "data": {"values": rows},
        "layer": layers,
    }
