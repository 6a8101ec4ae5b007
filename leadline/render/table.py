"""
A table of figures, and every form it is written in.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from leadline.render.text import (
    bar,
    fit,
    number,
    paragraphs,
    safe_cell,
    safe_text,
    unit_name,
    width_of,
)

_WORD = re.compile(r"\[[^]]*\]|\S+")  # a unit is one word: [d h:m]
SHORT = 22  # a text no longer, such as a day, a span of days, a name, is not cut at all
LEAST = 12  # of others are kept, and half of a long one up to twice as much
FORMATS = ("table", "csv", "tsv", "json", "ndjson", "markdown")

Value = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Column:
    name: str  # what scripts call it
    title: str  # what people call it
    unit: str | None = None  # None: text, else numbers of that unit ("" for counts)
    bars: bool = False  # draw its share of the greatest beside it
    answer: bool = False  # what the table is read for: others give way to it
    below: bool = False  # a sentence: stands under its row where there is no room for it within

    @property
    def head(self) -> str:
        name = unit_name(self.unit or "")
        return f"{self.title} [{name}]" if name else self.title


@dataclass(frozen=True, slots=True)
class Table:
    """
    Rows by column name: raw values for scripts; `labels` are what people read of a row's keys.
    """

    columns: tuple[Column, ...]
    rows: tuple[dict[str, Value], ...]
    labels: tuple[dict[str, str], ...] = ()  # by row, where a raw value is not what people read
    feet: tuple[dict[str, Value], ...] = ()  # others and total: for people, never mixed into rows

    def label(self, place: int, column: Column) -> str:
        row = self.rows[place]
        if place < len(self.labels) and column.name in self.labels[place]:
            return safe_text(self.labels[place][column.name])
        return written(row.get(column.name), column)


def written(value: Value, column: Column) -> str:
    if column.unit is None or isinstance(value, str):
        return "" if value is None else safe_text(str(value))
    return number(value, column.unit)


def render(table: Table, form: str, *, width: int = 100) -> str:
    """
    TABLE as text in one of FORMATS (json is the bare list of rows).
    """
    if form == "table":
        return terminal(table, width)
    if form == "markdown":
        return markdown(table)
    if form == "json":
        return orjson.dumps(list(table.rows), option=orjson.OPT_INDENT_2).decode()
    if form == "ndjson":
        return "\n".join(orjson.dumps(row).decode() for row in table.rows)
    return delimited(table) if form == "csv" else tabbed(table)


def delimited(table: Table) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = [column.name for column in table.columns]
    writer.writerow(names)
    for row in table.rows:
        cells = [_whole(row.get(column.name), column) for column in table.columns]
        writer.writerow([safe_cell(c) if isinstance(c, str) else c for c in cells])
    return out.getvalue().rstrip("\n")


def _whole(value: Value, column: Column) -> Value:
    """
    64 cores, not 64.0.
    """
    counted = column.unit == "" and isinstance(value, float) and value.is_integer()
    return int(value) if counted and value is not None else value


def tabbed(table: Table) -> str:
    lines = ["\t".join(column.name for column in table.columns)]
    for row in table.rows:
        cells = (_whole(row.get(column.name), column) for column in table.columns)
        lines.append("\t".join("" if c is None else safe_text(str(c)) for c in cells))
    return "\n".join(lines)


def markdown(table: Table) -> str:
    heads = [_escaped(column.head) for column in table.columns]
    rules = ["---" if column.unit is None else "---:" for column in table.columns]
    lines = [_pipes(heads), _pipes(rules)]
    for place in range(len(table.rows)):
        lines.append(_pipes(_escaped(table.label(place, c)) for c in table.columns))
    for foot in table.feet:
        lines.append(_pipes(_escaped(written(foot.get(c.name), c)) for c in table.columns))
    return "\n".join(lines)


def _pipes(cells: object) -> str:
    return "| " + " | ".join(cells) + " |"  # type: ignore[arg-type]


def _escaped(text: str) -> str:
    for char in "\\|`*_<[":
        text = text.replace(char, f"\\{char}")
    return text


def terminal(table: Table, width: int) -> str:
    """
    Fit to WIDTH: heads take more lines first, then sentences move under their rows, columns that
    say nothing go, the widest text column gives way, and at last the last columns but the answer,
    which are named below.
    """
    columns, under = _places(table, width)
    widths = _widths(columns, _cells(table, columns), width)
    cells = _cells(table, columns)
    lines = [_line(columns, heads, widths) for heads in _heads(columns, widths)]
    shares = _shares(table, columns)
    spare = width - _taken(widths) - 2
    for place, (row, share) in enumerate(zip(cells, shares, strict=False)):
        drawn = bar(share, min(spare, 20)) if spare >= 6 else ""
        line = _line(columns, row, widths)
        room = " " * (_taken(widths) - width_of(line))
        lines.append(f"{line}{room}  {drawn}".rstrip())
        if told := _below(table, place, under):
            lines.append(paragraphs([told], width))
    lines += [_line(columns, foot, widths) for foot in cells[len(shares) :]]
    left = [c for c in table.columns if c not in columns and c not in under]
    full = [c.title for c in left if _says(table, c)]
    bare = [c.title for c in left if not _says(table, c)]
    notes = [f"Too narrow to show {', '.join(full)}."] if full else []
    notes += [f"Nothing in {', '.join(bare)}."] if bare else []
    return "\n".join([*lines, "", paragraphs([" ".join(notes)], width)] if notes else lines)


def _cells(table: Table, columns: Sequence[Column]) -> list[list[str]]:
    """
    What is written of each row, and below them of each foot.
    """
    rows = [[table.label(place, c) for c in columns] for place in range(len(table.rows))]
    return rows + [[written(foot.get(c.name), c) for c in columns] for foot in table.feet]


def _places(table: Table, width: int) -> tuple[list[Column], list[Column]]:
    """
    The columns to try, and those whose values stand under the rows.
    """
    columns = list(table.columns)
    within, under = [c for c in columns if not c.below], [c for c in columns if c.below]
    if _least(table, columns) <= width:
        return columns, []
    if _least(table, within) > width:
        within = [c for c in within if _says(table, c)] or within
    return within, [c for c in under if _says(table, c)]


def _least(table: Table, columns: Sequence[Column]) -> int:
    """
    What COLUMNS take when nothing is cut and heads are broken.
    """
    rows = range(len(table.rows))
    return _taken(
        [
            max([width_of(_longest(c)), *(width_of(table.label(n, c)) for n in rows)])
            for c in columns
        ]
    )


def _longest(column: Column) -> str:
    return max(_WORD.findall(column.head), key=width_of, default="")


def _says(table: Table, column: Column) -> bool:
    """
    Whether any row has something there.
    """
    return not table.rows or any(row.get(column.name) for row in table.rows)


def _below(table: Table, place: int, columns: Sequence[Column]) -> str:
    told = "; ".join(text for c in columns if (text := table.label(place, c)))
    return f"    {told}" if told else ""


def _heads(columns: Sequence[Column], widths: Sequence[int]) -> list[list[str]]:
    """
    What stands above the columns, in as many lines as the one that has the least room takes.
    """
    told = [_broken(c.head, width) for c, width in zip(columns, widths, strict=True)]
    most = max(map(len, told), default=1)
    stacked = [[""] * (most - len(lines)) + lines for lines in told]
    return [list(line) for line in zip(*stacked, strict=True)]


def _broken(head: str, width: int) -> list[str]:
    lines = [""]
    for word in _WORD.findall(head):
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and width_of(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _widths(columns: list[Column], cells: list[list[str]], width: int) -> list[int]:
    """
    Column widths; columns that find no room are taken out from the end, in place.
    """
    heads = [c.head for c in columns]
    widths = [max(map(width_of, column)) for column in zip(heads, *cells, strict=True)]
    if _taken(widths) <= width:
        return widths
    words = map(_longest, columns)
    narrow = [max(map(width_of, column)) for column in zip(words, *cells, strict=True)]
    while len(columns) > 2:
        least = [
            most if most <= SHORT else max(LEAST, min(2 * LEAST, most // 2)) for most in narrow
        ]
        widths = _squeezed(columns, list(narrow), least, width)
        if _taken(widths) <= width:
            return widths
        last = max(place for place, c in enumerate(columns) if not c.answer or place == 0)
        del columns[last], narrow[last]
    return _squeezed(columns, narrow, [LEAST] * len(columns), width)


def _squeezed(
    columns: Sequence[Column], widths: list[int], least: Sequence[int], width: int
) -> list[int]:
    """
    The widest text gives way, down to what still says something.
    """
    texts = [place for place, c in enumerate(columns) if c.unit is None]
    while (over := _taken(widths) - width) > 0:
        wide = [place for place in texts if widths[place] > least[place]]
        if not wide:
            break
        widest = max(wide, key=lambda place: widths[place])
        widths[widest] = max(least[widest], widths[widest] - over)
    return widths


def _taken(widths: Sequence[int]) -> int:
    return sum(widths) + 2 * (len(widths) - 1)


def _line(columns: Sequence[Column], cells: Sequence[str], widths: Sequence[int]) -> str:
    parts = []
    for column, cell, width in zip(columns, cells, widths, strict=False):
        shown = fit(cell, width)
        pad = " " * (width - width_of(shown))
        parts.append(shown + pad if column.unit is None else pad + shown)
    return "  ".join(parts).rstrip()


def _shares(table: Table, columns: Sequence[Column]) -> list[float | None]:
    name = next((c.name for c in columns if c.bars), None)
    values = [row.get(name) if name else None for row in table.rows]
    numbers = [float(v) if isinstance(v, int | float) else None for v in values]
    greatest = max((n for n in numbers if n is not None), default=0.0)
    return [None if n is None or greatest <= 0 else n / greatest for n in numbers]
