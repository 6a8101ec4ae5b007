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
MOST_EXTRA = 4  # separators too many in a line that is still tried to be read


def separator(head: bytes) -> bytes:
    """
    What stands between the fields: |, or what was asked for as --delimiter.
    """
    first = head.lstrip(b"\n").split(b"\n", 1)[0]
    return next((cut for cut in (CUT.encode(), b"\t", b";") if cut in first), b"|")


def logical_lines(piece: Slice, width: int, cut: bytes) -> Iterator[tuple[int, bytes]]:
    """
    Lines; one that is too short is put together with the next: names may hold newlines.
    """
    held, first = b"", 0
    for number, raw in enumerate(piece.data.split(b"\n"), piece.line):
        if not width:
            width = raw.count(cut) + 1 if raw.strip() and not raw.startswith(b"#") else 0
        joined = held + b" " + raw if held else raw
        if held and joined.count(cut) >= width:
            yield first, held
            joined, held = raw, b""
        if joined.count(cut) + 1 < width and joined.strip() and not joined.startswith(b"#"):
            held, first = joined, first if held else number
            continue
        yield (first if held else number), joined
        held = b""
    if held:
        yield first, held


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
