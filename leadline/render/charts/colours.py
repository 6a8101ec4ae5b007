"""
The same thing has the same colour on every page.

Ten colours that the colour-blind can tell apart, light enough for a dark page and dark enough for
a white one. A name's colour is the hash of the name; where two names of one chart fall on the same
colour, the smaller takes another shade of it: bands are told apart, and NAMD is yellow everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from leadline.language import english

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
SHADES = (
    "#98b4d0",
    "#f4b29c",
    "#7ab885",
    "#e8e0ab",
    "#a3e0f5",
    "#6e214d",
    "#85c8bd",
    "#85424d",
    "#4c4c1a",
    "#613c92",
    "#6699cc",
    "#e07552",
    "#64f77c",
    "#6c6113",
    "#478fa7",
    "#e6c2d6",
    "#cde4e0",
    "#862d3c",
    "#cccc66",
    "#a364f7",
)
HUES = (*PALETTE, *SHADES)  # by the places that `assign` gives
# Of many the one by which the ten programs that most centres run have ten colours.
SPREAD = (175_294).to_bytes(4)
OTHERS = "#a0a6ad"
OTHERS_CLASS = "co"
TROUBLE = "#c8321e"


def slot(name: str) -> int:
    """
    The place of NAME in the palette.
    """
    return blake2b(english(name).encode(), digest_size=2, person=SPREAD).digest()[0] % len(PALETTE)


def assign(names: Iterable[str]) -> dict[str, int]:
    """
    A place among HUES for each of NAMES, greatest first: its own colour, or another shade of it.
    The fourth of one colour in one chart shares it.
    """
    places: dict[str, int] = {}
    for name in names:
        shades = range(slot(name), len(HUES), len(PALETTE))
        free = (place for place in shades if place not in places.values())
        if name not in places:
            places[name] = next(free, slot(name))
    return places
