"""
Pictures a reader may ask for instead of the one that fits best. None: this answer has none such.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from leadline.formats.times import parse_time
from leadline.language import _, current
from leadline.language.figures import short_month
from leadline.query import Answer
from leadline.query.dimensions import dimension
from leadline.query.measure import Measure
from leadline.query.measures import MEASURES
from leadline.query.measures import measure as known_measure
from leadline.query.question import Question
from leadline.render.charts import boxes, dots, heat, pie, ranking, scatter
from leadline.render.charts.specs import others
from leadline.render.charts.spreads import BOXED
from leadline.reports.picture import (
    CLOCK,
    LEAST_PART,
    MOST_BANDS,
    MOST_BARS,
    Ask,
    Spec,
    alone,
    as_lines,
    axis,
    best_bucket,
    by_class,
    by_clock,
    classes,
    filled,
    named,
    over_time,
    part_inside,
    scaled,
    shown,
)

SLICES = 6
HOUR = 3600.0
SPREAD = ("min", "median", "p90", "max")


def named_rows(answer: Answer, measure: Measure) -> list[dict[str, object]]:
    return [
        {"name": _name(answer, row), "of": _first(answer, row), "value": scaled(row, measure)}
        for row in answer.rows[:MOST_BARS]
        if row.get(measure.name) is not None
    ]


def _name(answer: Answer, row: Mapping[str, object]) -> str:
    return " · ".join(named(answer, n, row[n]) for n in answer.question.keys)  # type: ignore[arg-type]


def _first(answer: Answer, row: Mapping[str, object]) -> str:
    """
    The name that gives a row its colour.
    """
    keys = answer.question.keys
    return named(answer, keys[0], row[keys[0]]) if keys else ""  # type: ignore[arg-type]


def bars(asked: Question, answer: Answer, measure: Measure, ask: Ask) -> Spec | None:
    rows = named_rows(answer, measure) if asked.by else []
    return ranking(rows, axis(measure)) if len(rows) > 1 else None


def points(asked: Question, answer: Answer, measure: Measure, ask: Ask) -> Spec | None:
    """
    One measure on a line, two against each other.
    """
    if not asked.by:
        return None
    names = answer.question.measures
    if len(names) < 2:
        rows = named_rows(answer, measure)
        return dots(rows, axis(measure)) if len(rows) > 1 else None
    other = known_measure(names[1])
    found = [
        {
            "name": _name(answer, row),
            "of": _first(answer, row),
            "x": scaled(row, measure),
            "y": scaled(row, other),
        }
        for row in answer.rows[:MOST_BARS]
        if row.get(measure.name) is not None and row.get(other.name) is not None
    ]
    return scatter(found, axis(measure), axis(other)) if len(found) > 1 else None


def parts(asked: Question, answer: Answer, measure: Measure, ask: Ask) -> Spec | None:
    """
    Six slices at most, of what adds up; the last is all others.
    """
    if not asked.by or not measure.adds or answer.multiple:
        return None
    whole = scaled(answer.total, measure)
    rows = sorted(named_rows(answer, measure), key=lambda row: -_value(row))
    slices = [row for row in rows if _value(row) > 0][:SLICES]
    rest = whole - sum(map(_value, slices))
    if rest > 1e-9 * whole:
        slices = slices[: SLICES - 1]
        rest = whole - sum(map(_value, slices))
    known = {str(row["name"]): row for row in slices}
    slices = [known[name] for name in by_class(asked, list(known))]
    if rest > 1e-9 * whole:
        slices.append({"name": others(), "value": rest})
    return pie(slices, axis(measure)) if len(slices) > 1 else None


def _value(row: Mapping[str, object]) -> float:
    return float(str(row["value"]))


def spread(asked: Question, answer: Answer, measure: Measure, ask: Ask) -> Spec | None:
    """
    How a duration is spread: the least, the median, 90 % and the greatest of each row.
    """
    base = measure.name.rpartition("_")[0]
    family = tuple(f"{base}_{name}" for name in SPREAD)
    known = {one.name: one for one in MEASURES}
    if len(asked.by) != 1 or asked.bucket or not set(family) <= known.keys():
        return None
    wanted = replace(asked, measures=tuple(dict.fromkeys((*asked.measures, *family))))
    answer = ask(wanted)  # the same rows in the same order as in the table
    rows = []
    for row in answer.rows[:MOST_BARS]:
        values = [row[name] for name in family]
        if all(isinstance(value, int | float) for value in values):
            hours = [float(str(value)) / HOUR for value in values]
            rows.append({"name": _name(answer, row), **dict(zip(BOXED, hours, strict=True))})
    words = [_(known[name].title) for name in family]
    unit = _("{what}, hours: least to greatest, the box from the median to 90 %").format(
        what=words[1].partition(",")[0]
    )
    return boxes(rows, unit, words) if rows else None


def cells(asked: Question, answer: Answer, measure: Measure, ask: Ask) -> Spec | None:
    """
    The clock by the week; else a row for each of one kind, and time from left to right.
    """
    if not asked.bucket and asked.by and set(asked.by) <= set(CLOCK):
        return by_clock(asked, answer, measure, ask)
    if len(asked.by) != 1 or dimension(asked.by[0]).clock:
        return None
    bucket = asked.bucket or best_bucket(answer)
    series = ask(alone(asked, measure, bucket, MOST_BARS))
    zone = series.period.zone
    times = filled(sorted({str(row[bucket]) for row in series.rows}), bucket)
    parts = {time: part_inside(time, bucket, series) if measure.adds else 1.0 for time in times}
    times = [time for time in times if parts[time] >= LEAST_PART]
    words = {time: _short(shown(time, zone), bucket) for time in times}
    names = list(dict.fromkeys(named(series, asked.by[0], r[asked.by[0]]) for r in series.rows))
    names = by_class(asked, names[:MOST_BARS])
    found = [
        {"across": words[time], "down": name, "value": scaled(row, measure) / parts[time]}
        for row in series.rows
        if (name := named(series, asked.by[0], row[asked.by[0]])) in names
        and row[measure.name] is not None
        and (time := str(row[bucket])) in words
    ]
    if measure.adds:  # nothing of it while somebody looked is 0
        drawn = {(cell["across"], cell["down"]) for cell in found}
        looked = {str(row[bucket]) for row in series.total_by_time} & words.keys()
        found += [
            {"across": words[time], "down": name, "value": 0.0}
            for time in sorted(looked)
            for name in names
            if (words[time], name) not in drawn
        ]
    unit = f"{axis(measure)} {_(f'per {bucket}')}" if measure.adds else axis(measure)
    return heat(found, list(words.values()), names, unit) if len(found) > 1 else None


def _short(time: str, bucket: str) -> str:
    moment = parse_time(time)
    month = short_month(moment.month, current())
    if bucket == "hour":
        return f"{moment.day} {month} {moment:%H}"
    return f"{month} {moment.year}" if bucket not in ("day", "week") else f"{moment.day} {month}"


def over_time_lines(asked: Question, answer: Answer, measure: Measure, ask: Ask) -> Spec | None:
    """
    Over time, asked again so where it was not.
    """
    if len(asked.by) > 1:
        return None
    if asked.bucket:
        return as_lines(asked, answer, measure)
    wanted = alone(asked, measure, best_bucket(answer), MOST_BANDS)
    return as_lines(wanted, ask(wanted), measure)


Kind = Callable[[Question, Answer, Measure, Ask], Spec | None]
KINDS: dict[str, Kind] = {
    "area": over_time,
    "bars": bars,
    "box": spread,
    "dots": points,
    "heat": cells,
    "histogram": classes,
    "lines": over_time_lines,
    "pie": parts,
}
