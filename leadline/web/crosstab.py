"""
Answers of two keys as a table of two ways: a month of days for twenty users is six hundred rows one
below the other, and a page nobody can read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from leadline.language import _
from leadline.query import Answer
from leadline.query.dimensions import dimension
from leadline.query.measure import Measure
from leadline.query.question import BUCKETS
from leadline.render import within
from leadline.reports.picture import CLOCK
from leadline.store.plan import Scalar
from leadline.web.tables import Cell, Link, head, label
from leadline.web.words import number

LEAST = 40  # rows; fewer are read one below the other
MOST_NAMES, MOST_TIMES = 40, 170  # columns that anybody reads across: a week has 168 hours

Row = Mapping[str, Scalar | None]
Cells = dict[Scalar | None, dict[Scalar | None, Row]]


@dataclass(frozen=True, slots=True)
class Line:
    name: Cell
    figures: tuple[str, ...]
    whole: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Cross:
    corner: str
    columns: tuple[Cell, ...]
    rows: tuple[Line, ...]
    feet: tuple[Line, ...]
    wholes: bool  # whether rows have a sum
    caption: str


def cross(answer: Answer, measure: Measure, link: Link) -> Cross | None:
    """
    The first key downwards, the second across; None where a list is better.
    """
    asked = answer.question
    if len(asked.keys) != 2 or len(asked.measures) > 1 or len(answer.rows) < LEAST:
        return None
    down, across = asked.keys
    found: Cells = {}
    columns: dict[Scalar | None, Row] = {}
    for row in answer.rows:
        found.setdefault(row[down], {})[row[across]] = row
        columns.setdefault(row[across], row)
    timed = across in BUCKETS or across in CLOCK
    if len(columns) > (MOST_TIMES if timed else MOST_NAMES):
        return None
    if timed:
        columns = dict(sorted(columns.items(), key=lambda item: (item[0] is None, item[0])))
    rows = [
        _line(
            Cell(label(answer, down, next(iter(cells.values()))), _link(link, down, value)),
            cells,
            columns,
            measure,
            "none" if value is None else "",
        )
        for value, cells in _greatest_first(found, down, measure).items()
    ]
    feet = []
    for name, series in (
        (_("others"), answer.others_by_time),
        (_("total"), answer.total_by_time),
    ):
        if series and across in BUCKETS:
            kind = "others" if series is answer.others_by_time else "total"
            feet.append(_line(Cell(name), {r[across]: r for r in series}, columns, measure, kind))
    return Cross(
        corner=head(down),
        columns=tuple(
            Cell(label(answer, across, row), _link(link, across, value))
            for value, row in columns.items()
        ),
        rows=tuple(rows),
        feet=tuple(feet),
        wholes=measure.adds,
        caption=_("{measure}, by {down} and {across}").format(
            measure=_(measure.title), down=within(head(down)), across=within(head(across))
        ),
    )


def _greatest_first(found: Cells, down: str, measure: Measure) -> Cells:
    """
    By their sums, what has an order of its own aside; what has no name stands last.
    """
    if not measure.adds or down in CLOCK or dimension(down).edges:
        return found

    def size(item: tuple[Scalar | None, Mapping[Scalar | None, Row]]) -> tuple[bool, float]:
        amounts = [row.get(measure.name) for row in item[1].values()]
        known = (float(amount) for amount in amounts if isinstance(amount, int | float))
        return item[0] is None, -sum(known)

    return dict(sorted(found.items(), key=size))


def _link(link: Link, name: str, value: Scalar | None) -> str:
    return "" if name in BUCKETS else link(name, None if value is None else str(value))


def _line(
    name: Cell,
    cells: Mapping[Scalar | None, Row],
    columns: Mapping[Scalar | None, Row],
    measure: Measure,
    kind: str,
) -> Line:
    amounts = [cells[value].get(measure.name) if value in cells else None for value in columns]
    known = [float(amount) for amount in amounts if isinstance(amount, int | float)]
    return Line(
        name=name,
        figures=tuple(number(amount, measure.unit) for amount in amounts),
        whole=number(sum(known), measure.unit) if measure.adds else "",
        kind=kind,
    )
