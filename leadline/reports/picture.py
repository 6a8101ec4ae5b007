"""
Which picture an answer gets: parts over time where they add up, a ranking where they do not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from leadline.formats.times import parse_time
from leadline.query import Answer
from leadline.query.measure import Measure
from leadline.query.periods import midnight, move
from leadline.query.question import BUCKETS, Question
from leadline.render.charts import columns, heat, lines, ranking, stacked_area
from leadline.render.charts.specs import OTHERS_NAME
from leadline.store.plan import Scalar

CLOCK = ("weekday", "hour_of_day")
Ask = Callable[[Question], Answer]
MOST_BANDS = 10
MOST_BARS = 40
LEAST_PART = 0.1  # of a bucket: less of it says nothing about the rest
# What a band's label stands for where nothing tells rows apart.
WHOLE = "all"
STEPS = ((3, "hour"), (120, "day"), (800, "week"), (10_000_000, "month"))


def picture(
    asked: Question, answer: Answer, measure: Measure, ask: Ask
) -> dict[str, object] | None:
    """
    The picture of an ANSWER by itself; None where there is nothing to compare. ASK answers further
    questions: what is drawn over time was not asked over time.
    """
    if (drawn := in_page(asked, answer, measure, ask)) is not None:
        return drawn
    if not asked.by:
        return None
    rows = [
        {
            "name": " · ".join(answer.label(n, row[n]) for n in asked.keys),
            "value": _scaled(row, measure),
        }
        for row in answer.rows[:MOST_BARS]
    ]
    return ranking(rows, axis(measure)) if len(rows) > 1 else None


def axis(measure: Measure) -> str:
    return f"{measure.title}, GiB" if measure.unit == "bytes" else measure.title


def _scaled(row: Mapping[str, Scalar | None], measure: Measure) -> float:
    value = row.get(measure.name)
    number = float(value) if isinstance(value, int | float) else 0.0
    return number / (1 << 30) if measure.unit == "bytes" else number


def in_page(
    asked: Question, answer: Answer, measure: Measure, ask: Ask
) -> dict[str, object] | None:
    """
    The picture beside the table: by the clock, over time, or none where the table's bars tell it.
    """
    if asked.by and set(asked.by) <= set(CLOCK):
        return _by_clock(asked, answer, measure)
    if asked.bucket and not measure.adds and len(asked.by) <= 1:
        return _as_lines(asked, answer, measure)
    return over_time(asked, answer, measure, ask)


def _by_clock(asked: Question, answer: Answer, measure: Measure) -> dict[str, object] | None:
    """
    Hours and weekdays in their own order: columns for one of them, a heat map for both.
    """
    if asked.bucket is not None:
        return None
    rows = in_order(answer).rows
    if len(asked.by) == 1:
        name = asked.by[0]
        bars = [
            {"name": _clock_label(answer, name, row[name]), "value": _scaled(row, measure)}
            for row in rows
        ]
        return columns(bars, axis(measure))
    cells = [
        {
            "across": _clock_label(answer, "hour_of_day", row["hour_of_day"]),
            "down": answer.label("weekday", row["weekday"]),
            "value": _scaled(row, measure),
        }
        for row in rows
    ]
    across = [f"{hour:02d}" for hour in range(24)]
    down = [answer.label("weekday", weekday) for weekday in range(1, 8)]
    return heat(cells, across, down, axis(measure))


def in_order(answer: Answer) -> Answer:
    """
    Hours and weekdays as the clock has them, whatever was asked to rank them by.
    """
    asked = answer.question
    if not asked.by or asked.bucket or asked.order not in CLOCK or not set(asked.by) <= set(CLOCK):
        return answer
    rows = sorted(answer.rows, key=lambda row: tuple(_place(row[name]) for name in asked.by))
    return replace(answer, rows=tuple(rows))


def _clock_label(answer: Answer, name: str, value: Scalar | None) -> str:
    text = answer.label(name, value)
    return text.partition("–")[0] if name == "hour_of_day" else text


def _place(value: Scalar | None) -> float:
    return float(value) if isinstance(value, int | float) else -1.0


def _as_lines(asked: Question, answer: Answer, measure: Measure) -> dict[str, object] | None:
    """
    What does not add up, over time: a line for each of the greatest.
    """
    assert asked.bucket is not None
    zone = answer.period.zone
    points = [
        {
            "time": _shown(str(row[asked.bucket]), zone),
            "name": answer.label(asked.by[0], row[asked.by[0]]) if asked.by else WHOLE,
            "value": _scaled(row, measure),
        }
        for row in answer.rows
        if row[measure.name] is not None
    ]
    names = list(dict.fromkeys(str(point["name"]) for point in points))[:MOST_BANDS]
    kept = [point for point in points if point["name"] in names]
    return lines(kept, names, axis(measure), bucket=asked.bucket) if len(kept) > 1 else None


def over_time(
    asked: Question, answer: Answer, measure: Measure, ask: Ask
) -> dict[str, object] | None:
    """
    Bands of the greatest, and the others, over time; None where parts do not add up. (A ranking
    is not drawn beside a table that has its bars in it.)
    """
    if not measure.adds or len(asked.by) > 1:
        return None
    bucket = asked.bucket or _bucket(answer)
    top = min(asked.top or MOST_BANDS, MOST_BANDS)
    series = ask(
        replace(asked, measures=(measure.name,), bucket=bucket, top=top, order="", ascending=False)
    )
    if len(series.total_by_time) < 2:
        return None
    values: dict[str, dict[str, float]] = {}
    for row in series.rows:
        name = series.label(asked.by[0], row[asked.by[0]]) if asked.by else WHOLE
        values.setdefault(name, {})[str(row[bucket])] = _scaled(row, measure)
    sizes = {name: sum(known.values()) for name, known in values.items()}
    names = sorted(values, key=lambda name: -sizes[name])
    if series.others_by_time:
        names.append(OTHERS_NAME)
        values[OTHERS_NAME] = {
            str(row[bucket]): _scaled(row, measure) for row in series.others_by_time
        }
    times = _filled(sorted(str(row[bucket]) for row in series.total_by_time), bucket)
    parts = {time: part_inside(time, bucket, series) for time in times}
    points = [
        {
            "time": _shown(time, series.period.zone),
            "name": name,
            "value": round(values[name].get(time, 0) / part, 4),
        }
        for time, part in parts.items()
        for name in names
        if part >= LEAST_PART
    ]
    return stacked_area(points, names, f"{axis(measure)} per {bucket}", bucket=bucket)


def _bucket(answer: Answer) -> str:
    start, end = answer.period.start, answer.period.end
    if start is None or end is None:
        return "month"
    days = (end - start) / timedelta(days=1)
    return next(bucket for most, bucket in STEPS if days <= most)


def _filled(times: list[str], bucket: str) -> list[str]:
    """
    Every hour or day between the first and the last: one without samples is a gap, not a slope.
    """
    assert bucket in BUCKETS
    step = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(days=7)}
    if bucket not in step:
        return times
    moment, last = _moment(times[0]), _moment(times[-1])
    found = []
    while moment <= last:
        text = f"{moment:%Y-%m-%dT%H:%M:%S.000Z}" if bucket == "hour" else f"{moment:%Y-%m-%d}"
        found.append(text)
        moment += step[bucket]
    return found


def part_inside(time: str, bucket: str, answer: Answer) -> float:
    """
    How much of a bucket lies in the period and was looked at. The first and the last day of `last
    30 days` are parts of days: drawn as rates, they show no dip that is not there.
    """
    period = answer.period
    first = _moment(time)
    if bucket != "hour":
        first = midnight(first.date(), period.zone)
    after = _after(first, bucket, period.zone)
    newest = parse_time(answer.coverage.newest) if answer.coverage.newest else answer.asked
    seen = max(newest + timedelta(minutes=15), first)
    begin = max(first, period.start or first)
    end = min(after, period.end or after, seen, answer.asked)
    return max(0.0, (end - begin) / (after - first))


def _after(first: datetime, bucket: str, zone: ZoneInfo) -> datetime:
    if bucket == "hour":
        return first + timedelta(hours=1)
    return midnight(move(first.astimezone(zone).date(), bucket, 1), zone)


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _shown(text: str, zone: ZoneInfo) -> str:
    """
    The moment as the cluster's clocks show it.
    """
    return f"{text}T00:00:00Z" if "T" not in text else clock_time(parse_time(text), zone)


def clock_time(moment: datetime, zone: ZoneInfo) -> str:
    return f"{moment.astimezone(zone):%Y-%m-%dT%H:%M:%S}Z"
