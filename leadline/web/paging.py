"""
Long lists in pages: as many rows as a page of 100 kB has room for, and a link to the next ones.

A cursor holds as of when its list is and how many rows were told. The desk is held at that moment,
so that rows stand where they stood however much has come in since.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

import orjson
from flask import g

from leadline.errors import FormatError, QuestionError
from leadline.formats.times import format_time, parse_time
from leadline.language import _
from leadline.web.asking import desk
from leadline.web.words import number

MOST_BYTES = 100_000  # of a page's HTML
MOST_ROWS = 200  # of a page, however light they are
FARTHEST = 100_000  # rows from the begin of a list
KEPT = timedelta(days=1)  # that a list can be gone on with

Rows = Sequence[Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class Piece:
    """
    Some rows of a long list, and where the next ones begin (nothing: these were the last).
    """

    rows: Rows
    after: Sequence[object] = ()


@dataclass(frozen=True, slots=True)
class Leaf:
    """
    What stands below one page of a long list.
    """

    part: str = ""  # 101–200 of 1,234
    begin: str = ""  # where the list begins; empty on its first page
    next: str = ""


ALONE = Leaf()


def cursor(place: Sequence[object]) -> str:
    """
    PLACE as one word that an address can carry.
    """
    return base64.urlsafe_b64encode(orjson.dumps(list(place))).decode().rstrip("=")


def place_of(text: str, kinds: Sequence[type]) -> list[object] | None:
    """
    The place a cursor names, its parts of these KINDS; None without one.
    """
    if not text:
        return None
    try:
        place = orjson.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (binascii.Error, ValueError):
        place = None
    fits = isinstance(place, list) and len(place) == len(kinds)
    if not fits or not all(type(p) is kind for p, kind in zip(place, kinds, strict=True)):
        raise QuestionError(f"cursor {text[:40]}: not one of ours; take it from `next`")
    return list(place)


def begin(text: str) -> int:
    """
    How many rows were told before those of the cursor TEXT; this request sees the list as of then.
    """
    place = place_of(text, (str, int))
    if place is None:
        return 0
    try:
        moment = parse_time(str(place[0]))
    except FormatError:
        raise QuestionError("cursor: not one of ours; take it from `next`") from None
    if not timedelta() <= desk().site.clock() - moment <= KEPT:
        raise QuestionError("cursor: it was good for a day; begin the list again without it")
    told = int(str(place[1]))
    if not 0 <= told <= FARTHEST:
        raise QuestionError(f"cursor: a list is told to its {FARTHEST:,}th row; narrow it")
    if not desk().scope.least:  # whole months that are over do not move
        desk().hold(moment)
    return told


def after(told: int) -> tuple[str, int]:
    """
    The place behind so many rows of the list that this request asked for.
    """
    return format_time(g.get("as_of", desk().now)), told


def piece(rows: Rows, first: int, limit: int) -> Piece:
    """
    For programs: so many ROWS from FIRST on, and where the next ones begin.
    """
    told = first + limit
    return Piece(rows[first:told], after(told) if told < len(rows) else ())


def leaf(first: int, count: int, shown: int, to: Callable[[str], str]) -> Leaf:
    """
    Below SHOWN rows from FIRST on, of COUNT; TO gives the address of a cursor, or without one.
    """
    told = first + shown
    if not first and told >= count:
        return ALONE
    part = _("{first}–{last} of {count}").format(
        first=number(min(first + 1, told)), last=number(told), count=number(count)
    )
    return Leaf(
        part=part,
        begin=to("") if first else "",
        next=to(cursor(after(told))) if told < count else "",
    )


def fitted(draw: Callable[[int], str], rows: int) -> str:
    """
    The page that DRAW makes of so many ROWS, of fewer where it would be heavier than a page may be.
    """
    rows = min(rows, MOST_ROWS)
    page = draw(rows)
    while rows > 1 and (weight := len(page.encode())) > MOST_BYTES:
        rows = max(1, min(rows - 1, rows * MOST_BYTES * 9 // (10 * weight)))
        page = draw(rows)
    return page
