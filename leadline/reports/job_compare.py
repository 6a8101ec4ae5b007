"""
Several jobs side by side: one column each, one row for each thing asked and used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from leadline.render import Column, Table, duration, number
from leadline.reports.advice import advise
from leadline.reports.job import JobView, Resource
from leadline.reports.settings import AdviceSettings

Cell = Callable[[JobView], str]
NOT_KNOWN = "–"


def side_by_side(views: Sequence[JobView], limits: AdviceSettings) -> Table:
    columns = [Column("what", "")]
    columns += [Column(f"job{place}", view.job) for place, view in enumerate(views)]
    rows = [
        {"what": what, **{f"job{place}": cell(view) for place, view in enumerate(views)}}
        for what, cell in _lines(limits)
    ]
    known = [row for row in rows if any(v != NOT_KNOWN for k, v in row.items() if k != "what")]
    return Table(tuple(columns), tuple(dict(row) for row in known))


def _lines(limits: AdviceSettings) -> list[tuple[str, Cell]]:
    return [
        ("user", lambda view: view.user or NOT_KNOWN),
        ("name", lambda view: _text(view, "job.name")),
        ("state", lambda view: view.state or NOT_KNOWN),
        ("nodes", lambda view: f"{len(view.nodes)}" if view.nodes else NOT_KNOWN),
        ("cores asked", lambda view: _number(view.cpu.asked, "")),
        ("cores busy, mean", lambda view: _number(view.cpu.mean, "hours")),
        ("CPU", lambda view: _share(view.cpu)),
        ("memory asked, GiB", lambda view: _number(view.memory.asked, "bytes")),
        ("memory peak, GiB", lambda view: _number(view.memory.peak, "bytes")),
        ("memory", lambda view: _share(view.memory)),
        ("GPUs asked", lambda view: _number(view.gpu.asked, "")),
        ("GPUs used", lambda view: _number(view.gpu.peak, "")),
        ("GPU", lambda view: _share(view.gpu)),
        ("time asked", lambda view: _time(view.time.asked)),
        ("time", lambda view: _time(view.wall)),
        ("programs", _programs),
        ("advice", lambda view: _advice(view, limits)),
    ]


def _advice(view: JobView, limits: AdviceSettings) -> str:
    """
    On what there is any, each named once.
    """
    about = dict.fromkeys(known.about for known in advise(view, limits))
    return ", ".join({"cpu": "CPU", "gpu": "GPU"}.get(name, name) for name in about) or NOT_KNOWN


def _text(view: JobView, name: str) -> str:
    return str(view.record.get(name) or NOT_KNOWN)


def _number(value: float | None, unit: str) -> str:
    return NOT_KNOWN if value is None else number(value, unit)


def _share(known: Resource) -> str:
    return NOT_KNOWN if known.share is None else f"{100 * known.share:.0f} %"


def _time(seconds: float | None) -> str:
    return NOT_KNOWN if seconds is None else duration(seconds)


def _programs(view: JobView) -> str:
    return ", ".join(share.name or "unmatched" for share in view.programs[:2]) or NOT_KNOWN
