"""
Rule files: an ordered CSV or TSV with a header, comments and clear errors.
"""

from collections.abc import Iterable
from pathlib import Path

from enrich.rules.engine import PatternError, compile_pattern
from enrich.rules.rule import APPLIES_TO, NOTHING, Rule
from enrich.tables import Columns, Place, read_table

COLUMNS = Columns(
    known=("pattern", "program", "version", "path", "tags", "applies_to"),
    required=("pattern", "program"),
)
SHIPPED = Path(__file__).with_name("programs.csv")


def read_file(path: Path) -> tuple[Rule, ...]:
    """
    The rules of one file, in order. Raises SettingsError with file, line and remedy.
    """
    return tuple(_rule(place, row) for place, row in read_table(path, COLUMNS))


def _rule(place: Place, row: dict[str, str]) -> Rule:
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


def _hierarchy(place: Place, path: str) -> str | None:
    if not path:
        return None
    levels = path.split("/")
    if len(levels) > 3 or not all(levels):
        way_out = "write one to three levels, as chemistry/quantum/gaussian"
        raise place.error(f"path {path!r} is no place in the hierarchy", way_out)
    return path


def _applies_to(place: Place, text: str) -> tuple[str, ...]:
    targets = tuple(text.replace("|", " ").split()) or ("name",)
    for target in targets:
        if target not in APPLIES_TO:
            way_out = f"use one or more of {', '.join(APPLIES_TO)}, separated by spaces"
            raise place.error(f"applies_to {target!r} is unknown", way_out)
    return targets


def _check_pattern(place: Place, rule: Rule) -> None:
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
