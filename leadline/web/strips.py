"""
Two small pictures that would be heavy as charts: nodes by hours in cells, states along a line.

Cells of one shade are one path, so that a thousand of them are a few kilobytes of page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import escape

from leadline.language import _
from leadline.reports.timeline import Span, apart

SHADES = (0.08, 0.25, 0.45, 0.65, 0.85, 1.0)  # of one colour: it prints in grey
CELL, HIGH, NAME = 22, 15, 136  # pixels of a cell, of a row, for the names
LETTERS = 19  # of a name that are shown
WIDE, THICK = 720, 22  # a line of states
LONGEST_REASON = 60
MOST_PIECES = 240  # of it: each three pixels wide
HATCH = (
    '<pattern id="{id}" width="5" height="5" patternUnits="userSpaceOnUse">'
    '<path d="M0 5L5 0" stroke="currentColor" stroke-opacity="0.35"/></pattern>'
)
LOOKS = {"up": "c2", "drained": "c3", "down": "c7"}  # green, yellow and red of the palette


@dataclass(frozen=True, slots=True)
class Cells:
    """
    Rows by name, one share of 1 for each column; None was not measured.
    """

    rows: Mapping[str, Sequence[float | None]]
    columns: Sequence[str]  # what stands below them; empty where nothing does


def heat(cells: Cells, title: str) -> str:
    """
    The stronger the more; hatched where nobody looked.
    """
    count, length = len(cells.rows), len(cells.columns)
    shades: dict[int, list[str]] = {}
    for y, shares in enumerate(cells.rows.values()):
        for x, share in enumerate(shares):
            shades.setdefault(_shade(share), []).append(f"M{x} {y}h1v1h-1z")
    paths = [
        f'<path class="c0" fill-opacity="{SHADES[shade]}" d="{"".join(found)}"/>'
        if shade >= 0
        else f'<path fill="url(#hatch-heat)" d="{"".join(found)}" class="gap"/>'
        for shade, found in sorted(shades.items())
    ]
    names = [
        f'<text x="{NAME - 6}" y="{(y + 0.75) * HIGH:.0f}" text-anchor="end">'
        f"{escape(_cut(name))}</text>"
        for y, name in enumerate(cells.rows)
    ]
    below = [
        f'<text x="{NAME + x * CELL}" y="{count * HIGH + 14}">{escape(text)}</text>'
        for x, text in enumerate(cells.columns)
        if text
    ]
    width, height = NAME + length * CELL + 4, count * HIGH + 20
    scaled = f"translate({NAME} 0) scale({CELL} {HIGH})"
    grid = f'<g transform="{scaled}" stroke="none">{"".join(paths)}</g>'
    return (
        f'<svg class="chart cells" viewBox="0 0 {width} {height}" role="img"'
        f' aria-label="{escape(title)}"'
        f' font-size="11" fill="currentColor"><defs>'
        f'<pattern id="hatch-heat" width=".3" height=".4" patternUnits="userSpaceOnUse">'
        f'<path d="M0 .4L.3 0" stroke="currentColor" stroke-width=".03"/></pattern></defs>'
        f"{grid}{''.join(names)}{''.join(below)}</svg>"
    )


def _shade(share: float | None) -> int:
    if share is None:
        return -1
    return min(len(SHADES) - 1, int(max(0.0, share) * len(SHADES)))


def _cut(name: str) -> str:
    return name if len(name) <= LETTERS else name[: LETTERS - 1] + "…"


def line(spans: Sequence[Span], title: str) -> str:
    """
    States from left to right, each as long as it lasted.
    """
    spans = apart(spans, MOST_PIECES)
    start, end = spans[0].start, spans[-1].end
    scale = WIDE / max(end - start, 1.0)
    parts = []
    for span in spans:
        look = LOOKS.get(span.time)
        fill = f'class="{look}"' if look else 'fill="url(#hatch-line)"'
        x, width = (span.start - start) * scale, max(span.seconds * scale, 0.7)
        told = escape(f"{span.state or _('nobody looked')} {span.reason}".strip()[:LONGEST_REASON])
        parts.append(
            f'<rect {fill} x="{x:.1f}" width="{width:.1f}" height="{THICK}">'
            f"<title>{told}</title></rect>"
        )
    return (
        f'<svg class="chart states" viewBox="0 0 {WIDE} {THICK}" role="img"'
        f' aria-label="{escape(title)}">'
        f"<defs>{HATCH.format(id='hatch-line')}</defs>{''.join(parts)}</svg>"
    )
