"""
What a job used over time as one picture: cores, memory, each card, with what was asked as a rule.
"""

from __future__ import annotations

from datetime import timedelta
from zoneinfo import ZoneInfo

from leadline.formats.times import parse_time
from leadline.language import _
from leadline.render.charts.profile import Track, tracks
from leadline.reports.job import JobView
from leadline.reports.job_text import shrunk
from leadline.reports.picture import clock_time

POINTS = 240  # more than a picture is wide is not drawn
CARDS = 8
GIB = 2**30


def job_picture(view: JobView, zone: ZoneInfo) -> dict[str, object] | None:
    """
    None when there is too little to draw.
    """
    seen = view.profile
    if seen.start is None or len(seen.memory) < 3:
        return None
    memory = tuple(None if value is None else value / GIB for value in seen.memory)
    wanted = [
        Track(_("cores busy"), shrunk(seen.cores, POINTS), view.cpu.asked),
        Track(_("memory, GiB"), shrunk(memory, POINTS), (view.memory.asked or 0) / GIB or None),
    ]
    for card in view.cards[:CARDS]:
        host = f"{card.host} " if len(view.nodes) > 1 else ""
        words = _("{card} busy").format(card=f"{host}{card.name}")
        wanted.append(Track(words, shrunk(card.series, POINTS), 1.0, _("the whole card")))
    span = timedelta(seconds=seen.interval * len(seen.memory))
    shown = parse_time(clock_time(seen.start, zone))
    return tracks(wanted, shown, span / len(wanted[0].values))
