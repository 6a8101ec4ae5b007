"""
Answers as tables: rows with linked names, a bar for the measure asked for, others and the total.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from leadline.language import _
from leadline.query import Answer
from leadline.query.dimensions import DIMENSIONS, dimension
from leadline.query.measure import Measure
from leadline.query.question import BUCKETS, Question, Value
from leadline.render import within
from leadline.render.charts.colours import OTHERS_CLASS, assign
from leadline.reports.picture import CLOCK
from leadline.store.plan import Scalar
from leadline.web.words import NOT_MEASURED, gain, number, share

LONGEST_NAME = 160
WHOLE = slice(None)
Link = Callable[[str, Value], str]


@dataclass(frozen=True, slots=True)
class Cell:
    text: str
    link: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    names: tuple[Cell, ...]
    figures: tuple[str, ...]
    share: str
    length: float  # of the bar, percent
    colour: str
    kind: str = ""
    change: str = ""  # against the period before


@dataclass(frozen=True, slots=True)
class Column:
    title: str
    meaning: str
    order: str = ""  # the address that orders by it


@dataclass(frozen=True, slots=True)
class Before:
    """
    What rows were in the period before, by their keys.
    """

    title: str
    amounts: Mapping[tuple[Scalar | None, ...], Scalar | None]
    total: Scalar | None

    def change(self, asked: Question, row: Mapping[str, Scalar | None]) -> str:
        key = tuple(row[name] for name in asked.keys)
        return gain(row.get(asked.measures[0]), self.amounts.get(key))


@dataclass(frozen=True, slots=True)
class Table:
    heads: tuple[str, ...]
    measures: tuple[Column, ...]
    rows: tuple[Line, ...]
    total: tuple[str, ...] = ()
    shares: bool = False
    whole: str = ""  # 100.0 %, as the reader writes it
    more: str = ""  # where all of it is
    against: str = ""  # what rows are compared with
    change: str = ""  # of the total


def head(name: str) -> str:
    return bucket_name(name) if name in BUCKETS else _(dimension(name).title)


def bucket_name(name: str) -> str:
    return {
        "hour": _("hour"),
        "day": _("day"),
        "week": _("week"),
        "month": _("month"),
        "quarter": _("quarter"),
        "year": _("year"),
    }[name]


def label(answer: Answer, name: str, row: Mapping[str, Scalar | None]) -> str:
    """
    A row's name as people read it; very long ones are cut. Words of ours (no value, a weekday, a
    class) are in the reader's language, names of theirs are left alone.
    """
    text = answer.label(name, row[name])
    if name not in BUCKETS and (row[name] is None or _ours(name)):
        return _(text)
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"


def _ours(name: str) -> bool:
    known = dimension(name)
    return bool(known.edges) or known.name in {"weekday", "class", "stray"}


def column(measure: Measure) -> str:
    """
    Its title with the unit, where the title does not say it already.
    """
    units = {"percent": "%", "kWh": "kWh"}
    unit = units.get(measure.unit, "")
    return f"{_(measure.title)}, {unit}" if unit else _(measure.title)


def build(
    answer: Answer,
    measures: Sequence[Measure],
    link: Link,
    *,
    order: Callable[[str], str] | None = None,
    more: str = "",
    before: Before | None = None,
    part: slice = WHOLE,
) -> Table:
    """
    The table of an ANSWER or of a PART of its rows; LINK gives the address of a name, ORDER that of
    the same by a measure, BEFORE what the rows were in the period before.
    """
    asked = answer.question
    first = measures[0]
    keys = [answer.label(asked.by[0], row[asked.by[0]]) for row in answer.rows] if asked.by else []
    places = assign(dict.fromkeys(keys))  # of names as they are, whatever language is read
    whole = answer.total.get(first.name)
    longest = _longest(answer, first.name)
    shares = first.adds and isinstance(whole, int | float) and whole > 0
    rows = []
    for row in answer.rows[part]:
        key = answer.label(asked.by[0], row[asked.by[0]]) if asked.by else ""
        # An hour or a class is no thing that has a colour.
        plain = not key or asked.by[0] in CLOCK or bool(dimension(asked.by[0]).edges)
        colour = "ca" if plain else f"c{places[key]}"
        line = _line(answer, row, measures, link, longest, whole, colour)
        rows.append(line if before is None else replace(line, change=before.change(asked, row)))
    ends = part.stop is None or part.stop >= len(answer.rows)
    if answer.others is not None and ends:
        rows.append(_others(answer, measures, longest, whole))
    return Table(
        heads=tuple(head(name) for name in asked.keys),
        measures=tuple(
            Column(column(m), _(m.sentence), order(m.name) if order else "") for m in measures
        ),
        rows=tuple(rows),
        total=tuple(number(answer.total.get(m.name), m.unit) for m in measures),
        shares=bool(shares),
        whole=share(1.0, 1.0),
        more=more,
        against=before.title if before else "",
        change=gain(whole, before.total) if before else "",
    )


def _longest(answer: Answer, name: str) -> float:
    values = [row.get(name) for row in answer.rows]
    if answer.others is not None:
        values.append(answer.others.get(name))
    return max(map(_float, values), default=0.0)


def _float(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _line(
    answer: Answer,
    row: Mapping[str, Scalar | None],
    measures: Sequence[Measure],
    link: Link,
    longest: float,
    whole: Scalar | None,
    colour: str,
) -> Line:
    asked = answer.question
    value = row.get(measures[0].name)
    return Line(
        names=tuple(Cell(label(answer, n, row), _address(link, n, row[n])) for n in asked.keys),
        figures=tuple(number(row.get(m.name), m.unit) for m in measures),
        share=share(value, whole),
        length=100 * _float(value) / longest if longest else 0.0,
        colour=colour,
        kind="none" if asked.by and row[asked.by[0]] is None else "",
    )


def _address(link: Link, name: str, value: Scalar | None) -> str:
    if name in BUCKETS:
        return ""
    return link(name, None if value is None else str(value))


def _others(
    answer: Answer, measures: Sequence[Measure], longest: float, whole: Scalar | None
) -> Line:
    asked = answer.question
    value = answer.others.get(measures[0].name) if answer.others else None
    count = f" ({number(answer.others_count)})" if answer.others_count else ""
    text = _("others") + count
    blank = tuple(Cell("") for _ in asked.keys[1:])
    return Line(
        names=(Cell(text), *blank),
        figures=tuple(
            number(answer.others.get(m.name), m.unit) if answer.others else NOT_MEASURED
            for m in measures
        ),
        share=share(value, whole),
        length=100 * _float(value) / longest if longest else 0.0,
        colour=OTHERS_CLASS,
        kind="others",
    )


def known_dimensions() -> list[tuple[str, str]]:
    return [(d.name, within(_(d.title))) for d in DIMENSIONS]
