"""
The table at the top of a job's summary: asked, used at peak, mean, and how much of it that is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leadline.formats.counted import counted
from leadline.render import bar, duration, number
from leadline.render.text import width_of
from leadline.reports.job import JobView, Resource

ROOMY: tuple[int, ...] = (8, 13, 14, 9)  # columns of a table that has the room
HEADS = ("", "asked", "used at peak", "mean")
NARROW = ("", "asked", "at peak", "mean")
BAR, LEAST_BAR, PERCENT = 12, 4, 7
NOTE = "  see advice"


@dataclass(frozen=True, slots=True)
class Line:
    cells: tuple[str, str, str, str]  # title, asked, at peak, mean
    share: float | None
    words: str  # in place of a share that is not known
    advised: bool


def uses(view: JobView, noted: set[str], width: int) -> list[str]:
    """
    What it takes to fit goes in this order: the hint at advice, the bar, the mean.
    """
    lines = _lines(view, noted)
    heads, columns = HEADS, ROOMY
    if width and 2 + sum(ROOMY) + 2 + LEAST_BAR + PERCENT > width:
        heads = NARROW
        columns = _tight([heads, *(line.cells for line in lines)])
    shown = len(columns)
    if width and 2 + sum(columns) + PERCENT > width:
        shown -= 1
    columns = columns[:shown]
    rest = (width or 200) - 2 - sum(columns) - PERCENT
    note = rest >= 2 + LEAST_BAR + len(NOTE)
    drawn = min(BAR, rest - 2 - (len(NOTE) if note else 0))
    told = [_set(heads, columns)]
    for line in lines:
        text = _set(line.cells, columns) + _share(line, drawn)
        told.append(text + (NOTE if line.advised and note else ""))
    return told if shown == len(heads) else [*told, "  Too narrow to show mean."]


def _lines(view: JobView, noted: set[str]) -> list[Line]:
    wanted = (
        ("CPU", view.cpu, _cores(view), number(view.cpu.peak, "hours"), _hours(view.cpu.mean)),
        ("memory", view.memory, _memory(view), _gib(view.memory.peak), _gib(view.memory.mean)),
        ("GPU", view.gpu, _cards(view), number(view.gpu.peak), _hours(view.gpu.mean)),
        ("time", view.time, _time(view.time.asked), _time(view.time.peak), "–"),
    )
    return [
        Line((title, asked, peak, mean), known.share, _words(known, view), title.lower() in noted)
        for title, known, asked, peak, mean in wanted
        if known.known
    ]


def _tight(rows: Sequence[Sequence[str]]) -> tuple[int, ...]:
    widths = [max(map(width_of, column)) for column in zip(*rows, strict=True)]
    return (widths[0], *(width + 2 for width in widths[1:]))


def _set(cells: Sequence[str], widths: Sequence[int]) -> str:
    first = f"  {cells[0]:{widths[0]}}"
    rest = zip(cells[1:], widths[1:], strict=False)
    return first + "".join(f"{cell:>{width}}" for cell, width in rest)


def _share(line: Line, drawn: int) -> str:
    if line.share is None:
        return f"  {line.words}" if line.words and drawn >= LEAST_BAR else ""
    percent = f"{100 * line.share:3.0f} %"
    return f"  {bar(line.share, drawn):{drawn}} {percent}" if drawn >= LEAST_BAR else f"  {percent}"


def _words(known: Resource, view: JobView) -> str:
    if known.share is not None or (view.record and view.start is None):
        return ""
    return "asked: not known" if known.asked is None else "not measured"


def _hours(value: float | None) -> str:
    return number(value, "hours")


def _gib(value: float | None) -> str:
    return number(value, "bytes")


def _time(seconds: float | None) -> str:
    return "–" if seconds is None else duration(seconds)


def _cores(view: JobView) -> str:
    return "–" if view.cpu.asked is None else counted(view.cpu.asked, "core")


def _memory(view: JobView) -> str:
    return "–" if view.memory.asked is None else f"{number(view.memory.asked, 'bytes')} GiB"


def _cards(view: JobView) -> str:
    """
    2 × A100, where one model was seen.
    """
    if view.gpu.asked is None:
        return "–"
    models = {card.model for card in view.cards}
    model = models.pop() if len(models) == 1 else None
    shown = f"{number(view.gpu.asked)} × {model}"
    return shown if model and len(shown) <= ROOMY[1] else number(view.gpu.asked)
