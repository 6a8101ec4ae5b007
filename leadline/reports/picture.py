"""
Which picture an answer gets: parts over time where they add up, a ranking where they do not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from leadline.formats.times import format_time, parse_time
from leadline.language import _, word
from leadline.query import Answer
from leadline.query.compile import canonical
from leadline.query.dimensions import dimension
from leadline.query.measure import Measure
from leadline.query.periods import midnight, move
from leadline.query.question import BUCKETS, Question
from leadline.render import within
from leadline.render.charts import columns, heat, histogram, lines, stacked_area
from leadline.render.charts.specs import others
from leadline.store.plan import Scalar

CLOCK = ("weekday", "hour_of_day")
Spec = dict[str, object]
Ask = Callable[[Question], Answer]
MOST_BANDS = 10
MOST_BARS = 40
MOST_TIMES = 170  # steps of a picture: a week has 168 hours
LEAST_PART = 0.1  # of a bucket: less of it says nothing about the rest
# What a band's label stands for where nothing tells rows apart.
WHOLE = "all"
DRAWN = {"bytes": 1 << 30, "seconds": 3600}  # of these one unit is drawn, else what is measured
STEP = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(days=7)}
COARSER = {"hour": ("day", 24), "day": ("week", 7), "week": ("month", 4), "month": ("year", 12)}
STEPS = ((3, "hour"), (120, "day"), (800, "week"), (10_000_000, "month"))


def picture(
    asked: Question, answer: Answer, measure: Measure, ask: Ask, kind: str = ""
) -> Spec | None:
    """
    The picture of an ANSWER by itself, of a KIND (leadline.reports.kinds) where it has one such;
    None where there is nothing to compare. ASK answers further questions: what is drawn over time
    was not asked over time.
    """
    from leadline.reports.kinds import KINDS

    asked, answer = visible(canonical(asked), answer, ask)
    if kind in KINDS and (drawn := KINDS[kind](asked, answer, measure, ask)) is not None:
        return drawn
    if (drawn := in_page(asked, answer, measure, ask)) is not None:
        return drawn
    return KINDS["bars"](asked, answer, measure, ask)


def visible(asked: Question, answer: Answer, ask: Ask) -> tuple[Question, Answer]:
    """
    The same by steps of time that can be told apart in a picture: a year of hours by the week.
    """
    bucket = answer.question.bucket
    times = [] if bucket is None else sorted(str(row[bucket]) for row in answer.total_by_time)
    count = len(filled(times, bucket)) if bucket else 0
    if bucket is None or count <= MOST_TIMES:
        return asked, answer
    while count > MOST_TIMES and bucket in COARSER:
        bucket, held = COARSER[bucket]
        count = -(-count // held)
    asked = replace(asked, bucket=bucket)
    return asked, ask(asked)


def axis(measure: Measure) -> str:
    """
    What is drawn and in what; a title that says hours, or counts, needs no unit.
    """
    unit = {"bytes": _("GiB"), "seconds": _("hours"), "percent": "%", "kWh": "kWh"}
    return ", ".join(filter(None, (_(measure.title), unit.get(measure.unit))))


def named(answer: Answer, key: str, value: Scalar | None) -> str:
    """
    A row's key as people read it; words of ours in the reader's language.
    """
    text = answer.label(key, value)
    if key in BUCKETS or (value is not None and key != "weekday" and not dimension(key).edges):
        return text
    return word(text)


def scaled(row: Mapping[str, Scalar | None], measure: Measure) -> float:
    value = row.get(measure.name)
    number = float(value) if isinstance(value, int | float) else 0.0
    return number / DRAWN.get(measure.unit, 1)


def in_page(asked: Question, answer: Answer, measure: Measure, ask: Ask) -> Spec | None:
    """
    The picture beside the table: by the clock, over time, or none where the table's bars tell it.
    """
    if asked.by and set(asked.by) <= set(CLOCK):
        return by_clock(asked, answer, measure, ask)
    if (found := classes(asked, answer, measure, ask)) is not None:
        return found
    if asked.bucket and not measure.adds and len(asked.by) <= 1:
        return as_lines(asked, answer, measure)
    return over_time(asked, answer, measure, ask)


def by_clock(asked: Question, answer: Answer, measure: Measure, ask: Ask) -> Spec | None:
    """
    Hours and weekdays in their own order: columns for one of them, a heat map for both. What adds
    up is drawn as a rate: a month has five Fridays and four of other days, which says nothing of
    Fridays.
    """
    if asked.bucket is not None:
        return None
    rows = in_order(answer).rows
    weekly = asked.by == ("weekday",)
    hours = clock_hours(asked, answer, measure, ask) if measure.adds else None
    unit = axis(measure)
    if hours is not None:
        unit = f"{unit} {_('per day') if weekly else _('per hour')}"

    def rate(row: Mapping[str, Scalar | None]) -> float:
        if hours is None:
            return scaled(row, measure)
        wanted = [row[name] for name in asked.by]
        spent = sum(
            count
            for (weekday, hour), count in hours.items()
            if wanted == [weekday if name == "weekday" else hour for name in asked.by]
        )
        return scaled(row, measure) / spent * (24 if weekly else 1) if spent > LEAST_PART else 0.0

    if len(asked.by) == 1:
        name = asked.by[0]
        bars = [{"name": _clock_label(answer, name, row[name]), "value": rate(row)} for row in rows]
        return columns(bars, unit, within(_(dimension(name).title)))
    cells = [
        {
            "across": _clock_label(answer, "hour_of_day", row["hour_of_day"]),
            "down": named(answer, "weekday", row["weekday"]),
            "value": rate(row),
        }
        for row in rows
    ]
    across = [f"{hour:02d}" for hour in range(24)]
    down = [named(answer, "weekday", weekday) for weekday in range(1, 8)]
    return heat(cells, across, down, unit, within(_(dimension("hour_of_day").title)))


def clock_hours(
    asked: Question, answer: Answer, measure: Measure, ask: Ask
) -> Counter[tuple[int, int]]:
    """
    How many hours of each weekday and hour of day an answer speaks of: from the first to the last
    with anything in it, those without any samples left out.
    """
    bucket = "hour" if best_bucket(answer) in ("hour", "day") else "day"
    places = tuple(known for known in asked.where if known.dimension in ("cluster", "host"))
    whole = Question((measure.name,), (), places, asked.period, bucket=bucket)
    series = ask(whole)
    times = sorted(str(row[bucket]) for row in series.total_by_time)
    found: Counter[tuple[int, int]] = Counter()
    for time in times if "process" in series.datasets else filled(times, bucket):
        part = part_inside(time, bucket, series)
        moment = _moment(time)
        if bucket == "hour":
            local = moment.astimezone(series.period.zone)
            found[local.isoweekday(), local.hour] += part  # type: ignore[assignment]
        else:
            for hour in range(24):
                found[moment.isoweekday(), hour] += part  # type: ignore[assignment]
    return found


def classes(asked: Question, answer: Answer, measure: Measure, ask: Ask) -> Spec | None:
    """
    Classes of a number in their order, those that nothing fell into as well.
    """
    of = dimension(asked.by[0]) if len(asked.by) == 1 and not asked.bucket else None
    if of is None or not of.edges:
        return None
    found = {answer.label(of.name, row[of.name]): row for row in answer.rows}
    rows = [
        {"name": _(name), "value": scaled(found.get(name, {}), measure)}
        for place, name in enumerate(of.classes)
        if place or name in found
    ]
    return histogram(rows, axis(measure), within(_(of.title)))


def by_class(asked: Question, names: Sequence[str]) -> list[str]:
    """
    NAMES of classes of a number in their order; others as they are.
    """
    of = dimension(asked.by[0]) if len(asked.by) == 1 else None
    if of is None or not of.edges:
        return list(names)
    places = [_(known) for known in of.classes]
    return sorted(names, key=lambda name: places.index(name) if name in places else len(places))


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
    text = named(answer, name, value)
    return text.partition("–")[0] if name == "hour_of_day" else text


def _place(value: Scalar | None) -> float:
    return float(value) if isinstance(value, int | float) else -1.0


def as_lines(asked: Question, answer: Answer, measure: Measure) -> Spec | None:
    """
    What does not add up, over time: a line for each of the greatest. What does add up is drawn as
    a rate, so that a day that has begun is no fall.
    """
    assert asked.bucket is not None
    zone, bucket = answer.period.zone, asked.bucket
    parts = {
        time: part_inside(time, bucket, answer) if measure.adds else 1.0
        for time in {str(row[bucket]) for row in answer.rows}
    }
    points = [
        {
            "time": shown(time, zone),
            "name": named(answer, asked.by[0], row[asked.by[0]]) if asked.by else WHOLE,
            "value": scaled(row, measure) / parts[time],
        }
        for row in answer.rows
        if row[measure.name] is not None and parts[time := str(row[bucket])] >= LEAST_PART
    ]
    names = by_class(asked, list(dict.fromkeys(str(p["name"]) for p in points))[:MOST_BANDS])
    kept = [point for point in points if point["name"] in names]
    unit = f"{axis(measure)} {_(f'per {bucket}')}" if measure.adds else axis(measure)
    return lines(kept, names, unit, bucket=bucket) if len(kept) > 1 else None


def over_time(asked: Question, answer: Answer, measure: Measure, ask: Ask) -> Spec | None:
    """
    Bands of the greatest, and the others, over time; None where parts do not add up. (A ranking
    is not drawn beside a table that has its bars in it.)
    """
    if not measure.adds or len(asked.by) > 1:
        return None
    bucket = asked.bucket or best_bucket(answer)
    series = ask(alone(asked, measure, bucket, MOST_BANDS))
    if len(series.total_by_time) < 2:
        return None
    values: dict[str, dict[str, float]] = {}
    for row in series.rows:
        name = named(series, asked.by[0], row[asked.by[0]]) if asked.by else WHOLE
        values.setdefault(name, {})[str(row[bucket])] = scaled(row, measure)
    sizes = {name: sum(known.values()) for name, known in values.items()}
    names = by_class(asked, sorted(values, key=lambda name: -sizes[name]))
    if series.others_by_time:
        names.append(others())
        values[others()] = {str(row[bucket]): scaled(row, measure) for row in series.others_by_time}
    times = filled(sorted(str(row[bucket]) for row in series.total_by_time), bucket)
    parts = {time: part_inside(time, bucket, series) for time in times}
    points = [
        {
            "time": shown(time, series.period.zone),
            "name": name,
            "value": round(values[name].get(time, 0) / part, 4),
        }
        for time, part in parts.items()
        for name in names
        if part >= LEAST_PART
    ]
    missing = set(times) - {str(row[bucket]) for row in series.total_by_time}
    bare = unmeasured(missing, series.question, ask)
    unit = f"{axis(measure)} {_(f'per {bucket}')}"
    return stacked_area(points, names, unit, bucket=bucket, unmeasured=bare)


def alone(asked: Question, measure: Measure, bucket: str, most: int) -> Question:
    """
    The MOST that have the greatest of one measure over time, whatever rows are ordered by.
    """
    top = min(asked.top or most, most)
    return replace(
        asked, measures=(measure.name,), bucket=bucket, top=top, order="", ascending=False
    )


def unmeasured(missing: set[str], asked: Question, ask: Ask) -> list[tuple[str, str]]:
    """
    Of the times MISSING in an answer those when nobody at all was measured, half a step around.
    """
    assert asked.bucket is not None
    if not missing or asked.bucket not in STEP:
        return []
    places = tuple(known for known in asked.where if known.dimension in ("cluster", "host"))
    whole = ask(replace(asked, by=(), where=places, top=None, order="", ascending=False))
    bare = missing - {str(row[asked.bucket]) for row in whole.total_by_time}
    half = STEP[asked.bucket] / 2
    moments = [parse_time(shown(time, whole.period.zone)) for time in sorted(bare)]
    return [(format_time(moment - half), format_time(moment + half)) for moment in moments]


def best_bucket(answer: Answer) -> str:
    start, end = answer.period.start, answer.period.end
    if start is None or end is None:
        return "month"
    days = (end - start) / timedelta(days=1)
    return next(bucket for most, bucket in STEPS if days <= most)


def filled(times: list[str], bucket: str) -> list[str]:
    """
    Every hour or day between the first and the last: one without samples is a gap, not a slope.
    """
    assert bucket in BUCKETS
    if bucket not in STEP or not times:
        return times
    moment, last = _moment(times[0]), _moment(times[-1])
    found = []
    while moment <= last:
        text = f"{moment:%Y-%m-%dT%H:%M:%S.000Z}" if bucket == "hour" else f"{moment:%Y-%m-%d}"
        found.append(text)
        moment += STEP[bucket]
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


def shown(text: str, zone: ZoneInfo) -> str:
    """
    The moment as the cluster's clocks show it.
    """
    return f"{text}T00:00:00Z" if "T" not in text else clock_time(parse_time(text), zone)


def clock_time(moment: datetime, zone: ZoneInfo) -> str:
    return f"{moment.astimezone(zone):%Y-%m-%dT%H:%M:%S}Z"
