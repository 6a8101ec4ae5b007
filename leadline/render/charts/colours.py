"""
The same thing has the same colour on every page.

Ten colours that the colour-blind can tell apart, light enough for a dark page and dark enough for
a white one. A name's colour is the hash of the name; where two names of one chart fall on the same
colour, the smaller takes the next free one, for a chart whose bands cannot be told apart is worse
than a colour that changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

PALETTE = (
    "#4477aa",
    "#ee8866",
    "#228833",
    "#ccbb44",
    "#66ccee",
    "#aa3377",
    "#44aa99",
    "#cc6677",
    "#999933",
    "#8a55d0",
)
OTHERS = "#a0a6ad"
OTHERS_CLASS = "co"
TROUBLE = "#c8321e"


def slot(name: str) -> int:
    """
    The place of NAME in the palette.
    """
    return blake2b(name.encode(), digest_size=2).digest()[0] % len(PALETTE)


def assign(names: Iterable[str]) -> dict[str, int]:
    """
    A place for each of NAMES, greatest first; two share one only when all are taken.
    """
    places: dict[str, int] = {}
    for name in names:
        place = slot(name)
        if len(places) < len(PALETTE):
            while place in places.values():
                place = (place + 1) % len(PALETTE)
        places.setdefault(name, place)
    return places
