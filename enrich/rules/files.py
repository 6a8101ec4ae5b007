"""
Rule files: an ordered CSV or TSV with a header, comments and clear errors.
"""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from enrich.rules.engine import PatternError, compile_pattern
from enrich.rules.rule import APPLIES_TO, NOTHING, Rule
from leadline.errors import SettingsError

COLUMNS = ("pattern", "program", "version", "path", "tags", "applies_to")
REQUIRED = ("pattern", "program")
SHIPPED = Path(__file__).with_name("programs.csv")


@dataclass(frozen=True)
class _Place:
    path: Path
    line: int

    def error(self, what: str, way_out: str) -> SettingsError:
        return SettingsError(f"{self.path} line {self.line}: {what}; {way_out}")


def read_file(path: Path) -> tuple[Rule, ...]:
    """
    The rules of one file, in order. Raises SettingsError with file, line and remedy.
    """
    rows = _rows(path)
    first = next(rows, None)
    if first is None:
        way_out = f"begin it with the header {','.join(COLUMNS)}"
        raise SettingsError(f"{path}: no header; {way_out}")
    place, header = first
    columns = _columns(place, header)
    return tuple(_rule(place, columns, cells) for place, cells in rows)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        reason = error.strerror or error
        raise SettingsError(f"{path}: {reason}; name a readable file of rules") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise _Place(path, line).error("not UTF-8", "save the file as UTF-8") from error


def _rows(path: Path) -> Iterator[tuple[_Place, list[str]]]:
    """
    Rows that say something, each with the line it begins on.
    """
    numbered = [
        (number, line)
        for number, line in enumerate(_text(path).splitlines(), start=1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    tabs = path.suffix == ".tsv" or (numbered and "\t" in numbered[0][1])
    for number, line in numbered:
        place = _Place(path, number)
        try:
            cells = next(csv.reader([line], delimiter="\t" if tabs else ",", strict=True))
        except csv.Error as error:
            way_out = 'put a pattern that holds a comma or quote in "…", inner quotes doubled'
            raise place.error(str(error), way_out) from error
        yield place, [cell.strip() for cell in cells]


def _columns(place: _Place, header: list[str]) -> list[str]:
    for name in header:
        if name not in COLUMNS:
            near = get_close_matches(name, COLUMNS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(COLUMNS)}"
            raise place.error(f"unknown column {name!r}", hint)
        if header.count(name) > 1:
            raise place.error(f"column {name!r} stands twice", "keep one of them")
    for name in REQUIRED:
        if name not in header:
            raise place.error(f"no column {name!r}", f"the header is {','.join(COLUMNS)}")
    return header


def _rule(place: _Place, columns: list[str], cells: list[str]) -> Rule:
    if len(cells) > len(columns):
        what = f"{len(cells)} cells where the header has {len(columns)}"
        raise place.error(what, 'put a pattern that holds a comma in "…"')
    row = dict(zip(columns, cells, strict=False))
    for name in REQUIRED:
        if not row.get(name):
            way_out = "fill it in, or put # before the line"
            raise place.error(f"the {name} is empty", way_out)
    rule = Rule(
        pattern=row["pattern"],
        program=None if row["program"] == NOTHING else row["program"],
        version=row.get("version") or None,
        path=_hierarchy(place, row.get("path", "")),
        tags=tuple(sorted(set(row.get("tags", "").split()))),
        applies_to=_applies_to(place, row.get("applies_to", "")),
        file=place.path.name,
        line=place.line,
        where=str(place.path),
    )
    _check_pattern(place, rule)
    return rule


def _hierarchy(place: _Place, path: str) -> str | None:
    if not path:
        return None
    levels = path.split("/")
    if len(levels) > 3 or not all(levels):
        way_out = "write one to three levels, as chemistry/quantum/gaussian"
        raise place.error(f"path {path!r} is no place in the hierarchy", way_out)
    return path


def _applies_to(place: _Place, text: str) -> tuple[str, ...]:
    targets = tuple(text.replace("|", " ").split()) or ("name",)
    for target in targets:
        if target not in APPLIES_TO:
            way_out = f"use one or more of {', '.join(APPLIES_TO)}, separated by spaces"
            raise place.error(f"applies_to {target!r} is unknown", way_out)
    return targets


def _check_pattern(place: _Place, rule: Rule) -> None:
    if rule.exact:
        return
    try:
        compiled = compile_pattern(rule.inner)
    except PatternError as error:
        way_out = "correct it; a bracket or dot meant literally is written \\( or \\."
        raise place.error(f"pattern {rule.pattern!r}: {error}", way_out) from error
    if compiled.search("") is not None:
        what = f"pattern {rule.pattern!r} matches nothing at all"
        raise place.error(what, "leave at least one character that must be there")


def read_layers(files: Iterable[Path]) -> tuple[tuple[Rule, ...], ...]:
    return tuple(read_file(path) for path in files)
