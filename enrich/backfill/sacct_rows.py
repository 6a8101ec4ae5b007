"""
The lines of a `sacct -P` dump as fields by name: sacct escapes nothing, so that names may hold
separators and newlines.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement

from enrich.backfill.files import Slice
from leadline.errors import FormatError
from leadline.formats.sacct import ABSENT, CUT

Cells = dict[str, str]
FREE = ("JobName", "Comment", "AdminComment", "SystemComment", "SubmitLine", "WorkDir", "Reason")
LONGEST_TEXT = 64 << 10  # bytes of a line within a text
MOST_EXTRA = 4  # separators too many in a line that is still tried to be read


def separator(head: bytes) -> bytes:
    """
    What stands between the fields: |, or what was asked for as --delimiter.
    """
    first = head.lstrip(b"\n").split(b"\n", 1)[0]
    return next((cut for cut in (CUT.encode(), b"\t", b";") if cut in first), b"|")


Line = tuple[int, bytes]


class Lines:
    """
    Lines put together again: what people write freely may hold newlines.

    A line with all its fields stands for itself. One with fewer begins a record whose rest
    follows, or, without any separator, ends a free text that is the record's last field.
    """

    def __init__(self, cut: bytes) -> None:
        self._cut = cut
        self._fields = 0  # the header's
        self._ends_free = False
        self._whole: Line | None = None
        self._begun: Line | None = None

    def of(self, piece: Slice) -> Iterator[Line]:
        for number, raw in enumerate(piece.data.split(b"\n"), piece.line):
            if not raw.strip() or raw.startswith(b"#"):
                continue
            if not self._fields:
                names = raw.split(self._cut)
                self._fields, self._ends_free = len(names), names[-1].decode("latin-1") in FREE
            yield from self._add(number, raw)

    def rest(self) -> Iterator[Line]:
        yield from (line for line in (self._whole, self._begun) if line)
        self._whole = self._begun = None

    def _add(self, number: int, raw: bytes) -> Iterator[Line]:
        if raw.count(self._cut) + 1 >= self._fields:
            yield from self.rest()
            self._whole = number, raw
        elif self._begun:
            first, begun = self._begun
            self._begun = first, begun + b" " + raw
            if self._begun[1].count(self._cut) + 1 >= self._fields:
                yield from (line for line in (self._whole,) if line)
                self._whole, self._begun = self._begun, None
        elif self._cut in raw:
            self._begun = number, raw
        elif self._ends_free and self._whole and len(raw) <= LONGEST_TEXT:
            self._whole = self._whole[0], self._whole[1] + b" " + raw
        else:
            yield from self.rest()
            yield number, raw


def read_row(header: list[str], fields: list[str]) -> Cells:
    """
    Fields by name. Separators inside free texts are mended if that leaves all the rest certain.
    """
    extra = len(fields) - len(header)
    if extra < 0:
        raise FormatError(f"{len(fields)} fields, the header has {len(header)}")
    if extra == 0:
        return dict(zip(header, fields, strict=True))
    places = [header.index(name) for name in FREE if name in header]
    if extra > MOST_EXTRA or not places:
        raise FormatError(f"{len(fields)} fields, the header has {len(header)}")
    choices = combinations_with_replacement(places, extra)
    found = [row for row in (_merged(header, fields, c) for c in choices) if _plausible(row)]
    if not found:
        raise FormatError("separators in names: no way to read the line")
    row = dict(found[0])
    for name in header:
        if any(other[name] != row[name] for other in found):
            if name not in FREE:
                raise FormatError("separators in names: no single way to read the line")
            row[name] = ""  # whose text it is nobody can tell, and nothing is counted by it
    return row


def _merged(header: list[str], fields: list[str], places: tuple[int, ...]) -> Cells:
    """
    One field more belongs to a column for each time it stands in PLACES.
    """
    row: Cells = {}
    at = 0
    for place, name in enumerate(header):
        following = at + 1 + places.count(place)
        row[name] = "|".join(fields[at:following])
        at = following
    return row


def _plausible(row: Cells) -> bool:
    return (
        row.get("JobIDRaw", "1").split(".")[0].isdigit()
        and row["State"].partition(" ")[0].replace("_", "").isupper()
        and all(_is_time(row[name]) for name in ("Submit", "Start", "End") if name in row)
        and all(row[n].isdigit() for n in ("ElapsedRaw", "AllocCPUS", "ReqCPUS") if n in row)
    )


def _is_time(text: str) -> bool:
    return text in ABSENT or text[:4].isdigit()
