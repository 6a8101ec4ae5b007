"""
Spaces as a language sets them: French keeps colons, marks, guillemets and units on their line.
"""

from __future__ import annotations

import re

WIDE, NARROW = "\u00a0", "\u202f"
_CODE = re.compile(r"(`[^`]*`)")  # commands stay as they are typed
_FRENCH = (
    (re.compile(r" (?=:(?!\w))"), WIDE),
    (re.compile(r" (?=[;!?](?:\W|$))"), NARROW),
    (re.compile(r"(?<=[\d}]) (?=%)"), NARROW),
    (re.compile(r"(?<=«) | (?=»)"), WIDE),
    (re.compile(r"(?<=[\d}]) (?=(?:[GMT]io|h|min|s|d|j|GPU)\b)"), WIDE),
    (re.compile(r"(?<=\d) (?=\d{3}\b)"), NARROW),
)


def spaced(text: str, code: str) -> str:
    """
    TEXT of the catalogue CODE, with the spaces that must not break.
    """
    if code != "fr":
        return text
    parts = _CODE.split(text)
    for place in range(0, len(parts), 2):
        for found, space in _FRENCH:
            parts[place] = found.sub(space, parts[place])
    return "".join(parts)
