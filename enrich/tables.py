"""
Small tables a site writes by hand: CSV or TSV with a header, remarks, and errors with their line.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from leadline.errors import SettingsError


@dataclass(frozen=True)
class Place:
    path: Path
    line: int

    def error(self, what: str, way_out: str) -> SettingsError:
        return SettingsError(f"{self.path} line {self.line}: {what}; {way_out}")


@dataclass(frozen=True)
class Columns:
    known: Sequence[str]
    required: Sequence[str]

    def __str__(self) -> str:
        return ",".join(self.known)


def read_table(path: Path, columns: Columns) -> Iterator[tuple[Place, dict[str, str]]]:
    """
    Rows of PATH by column name, each with the line it stands in. Raises SettingsError.
    """
    rows = _rows(path)
    first = next(rows, None)
    if first is None:
        raise SettingsError(f"{path}: no header; begin it with the header {columns}")
    place, header = first
    _check_header(place, header, columns)
    for place, cells in rows:
        if len(cells) > len(header):
            what = f"{len(cells)} cells where the header has {len(header)}"
            raise place.error(what, 'put a cell that holds a comma in "…"')
        row = dict(zip(header, cells, strict=False))
        for name in columns.required:
            if not row.get(name):
                raise place.error(f"the {name} is empty", "fill it in, or put # before the line")
        yield place, row


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        reason = error.strerror or error
        raise SettingsError(f"{path}: {reason}; name a readable CSV or TSV file") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise Place(path, line).error("not UTF-8", "save the file as UTF-8") from error


def _rows(path: Path) -> Iterator[tuple[Place, list[str]]]:
    numbered = [
        (number, line)
        for number, line in enumerate(_text(path).splitlines(), start=1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    tabs = path.suffix == ".tsv" or (numbered and "\t" in numbered[0][1])
    for number, line in numbered:
        place = Place(path, number)
        try:
            cells = next(csv.reader([line], delimiter="\t" if tabs else ",", strict=True))
        except csv.Error as error:
            way_out = 'put a cell that holds a comma or quote in "…", inner quotes doubled'
            raise place.error(str(error), way_out) from error
        yield place, [cell.strip() for cell in cells]


def _check_header(place: Place, header: list[str], columns: Columns) -> None:
    for name in header:
        if name not in columns.known:
            near = get_close_matches(name, columns.known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(columns.known)}"
            raise place.error(f"unknown column {name!r}", hint)
        if header.count(name) > 1:
            raise place.error(f"column {name!r} stands twice", "keep one of them")
    for name in columns.required:
        if name not in header:
            raise place.error(f"no column {name!r}", f"the header is {columns}")
