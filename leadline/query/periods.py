"""
Periods people name, as half-open spans in a cluster's own zone, right on any date.

Calendar units (`today`, `this month`, `previous quarter`, `2026-10`) begin at local midnight;
`last N units` goes back from now by the wall clock, so a day may have 23 or 25 hours; days and
longer begin with the hour, which hourly usage can answer. `last week`, `last month`, `last quarter`
and `last year` are the previous calendar ones; `last 1 month` is not.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from leadline.errors import QuestionError
from leadline.store.clocks import Clocks

UNITS = ("day", "week", "month", "quarter", "year")
MONTHS = {"month": 1, "quarter": 3, "year": 12}
LONGEST = 100_000  # units back from now; more is a slip of the finger

_LAST = re.compile(r"last (\d{1,6}) (minute|hour|day|week|month|quarter|year)s?")
_CALENDAR = re.compile(r"(this|previous|last) (day|week|month|quarter|year)")
_TO_DATE = re.compile(r"(day|week|month|quarter|year) to date")


@dataclass(frozen=True, slots=True)
class Period:
    """
    [start, end) in UTC; None is open. `text` is its one written form, `zone` what days it counts.
    """

    text: str
    start: datetime | None
    end: datetime | None
    zone: ZoneInfo
    unit: str = ""  # the calendar unit it is one of; empty for any other span
    own: tuple[tuple[str, Period], ...] = ()  # the same by the clocks of clusters that differ

    @property
    def spans(self) -> tuple[Period, ...]:
        """
        By everybody's clocks.
        """
        return (self, *(its for _, its in self.own))

    @property
    def clocks(self) -> Clocks:
        return Clocks(self.zone.key, tuple((name, its.zone.key) for name, its in self.own))

    @property
    def days(self) -> tuple[date, date] | None:
        """
        First day and the day after the last, when both ends are local midnights.
        """
        if self.start is None or self.end is None:
            return None
        first, after = self.start.astimezone(self.zone), self.end.astimezone(self.zone)
        if midnight(first.date(), self.zone) != self.start:
            return None
        if midnight(after.date(), self.zone) != self.end:
            return None
        return first.date(), after.date()

    def before(self) -> Period | None:
        """
        The span of the same kind just before this one: September before October.
        """
        return self._beside(-1)

    def after(self) -> Period | None:
        return self._beside(1)

    def _beside(self, direction: int) -> Period | None:
        if self.start is None or self.end is None:
            return None
        if self.unit:
            first = self.start.astimezone(self.zone).date()
            return unit_period(self.unit, move(first, self.unit, direction), self.zone)
        if (days := self.days) is not None:
            first, after = days
            if first.day == after.day == 1:  # whole months: September stands before October
                months = (12 * (after.year - first.year) + after.month - first.month) * direction
                return _day_span(
                    move(first, "month", months), move(after, "month", months), self.zone
                )
            length = (after - first) * direction
            return _day_span(first + length, after + length, self.zone)
        length = (self.end - self.start) * direction
        return _instants(self.start + length, self.end + length, self.zone)


def parse_period(
    text: str,
    now: datetime,
    zone: ZoneInfo,
    named: Mapping[str, str] | None = None,
    own: Mapping[str, ZoneInfo] | None = None,
) -> Period:
    """
    What TEXT means when asked at NOW; NAMED are the site's own periods (allocation periods), OWN
    the zones of clusters that do not count by ZONE.
    """
    if own:
        spans = [(name, parse_period(text, now, own[name], named)) for name in sorted(own)]
        return replace(parse_period(text, now, zone, named), own=tuple(spans))
    if named and text in named:
        span = parse_period(named[text], now, zone)
        return Period(text, span.start, span.end, zone, span.unit)
    written = normal_text(text)
    if written == "all":
        return Period("all", None, None, zone)
    for read in (_last, _named_unit, _dated):
        if (period := read(written, now, zone)) is not None:
            return period
    raise QuestionError(
        f"period {text!r} is unknown; write `last 30 days`, `this month`, `previous quarter`, "
        "`2026-10`, `2026-10-01..2026-10-31` or `all`"
    )


def normal_text(text: str) -> str:
    """
    One spelling: last-30-days and `Last 30 Days` are `last 30 days`; dates stay as they are.
    """
    plain = " ".join(text.split())
    if re.match(r"[A-Za-z]", plain) and ".." not in plain:
        plain = " ".join(re.sub(r"(?<!\s)-|_", " ", plain).lower().split())
    plain = re.sub(r"^last (minute|hour|day)$", r"last 1 \1s", plain)
    if found := _LAST.fullmatch(plain):
        count = int(found[1])
        return f"last {count} {found[2]}{'' if count == 1 else 's'}"
    plain = {"today": "this day", "yesterday": "previous day", "ever": "all"}.get(plain, plain)
    return re.sub(r"^last (week|month|quarter|year)$", r"previous \1", plain)


def midnight(day: date, zone: ZoneInfo) -> datetime:
    """
    The instant DAY begins; where clocks skip midnight, the moment they skip it.
    """
    return datetime.combine(day, time(), zone).astimezone(UTC)


def first_of(day: date, unit: str) -> date:
    """
    The first day of the unit DAY lies in; weeks start on Monday.
    """
    if unit == "week":
        return day - timedelta(days=day.weekday())
    if unit == "month":
        return day.replace(day=1)
    if unit == "quarter":
        return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
    return day.replace(month=1, day=1) if unit == "year" else day


def move(day: date, unit: str, count: int) -> date:
    """
    COUNT units on; a day its month does not have becomes the month's last (31 May − 1 month).
    """
    try:
        if unit not in MONTHS:
            return day + timedelta(days=count * (7 if unit == "week" else 1))
        months = day.year * 12 + day.month - 1 + count * MONTHS[unit]
        year, month = divmod(months, 12)
        last = calendar.monthrange(year, month + 1)[1]
        return date(year, month + 1, min(day.day, last))
    except (OverflowError, ValueError, calendar.IllegalMonthError):
        raise QuestionError(f"period from {day}: out of the calendar") from None


def unit_period(unit: str, day: date, zone: ZoneInfo) -> Period:
    """
    The whole calendar unit DAY lies in, under its dated name.
    """
    first = first_of(day, unit)
    after = move(first, unit, 1)
    return Period(unit_text(unit, first), midnight(first, zone), midnight(after, zone), zone, unit)


def unit_text(unit: str, first: date) -> str:
    if unit == "week":
        year, week, _ = first.isocalendar()
        return f"{year:04d}-W{week:02d}"
    if unit == "quarter":
        return f"{first.year:04d}-Q{(first.month + 2) // 3}"
    return first.isoformat()[: {"year": 4, "month": 7}.get(unit, 10)]


def _last(text: str, now: datetime, zone: ZoneInfo) -> Period | None:
    if not (found := _LAST.fullmatch(text)):
        return None
    count, unit = int(found[1]), found[2]
    if not 1 <= count <= LONGEST:
        raise QuestionError(f"period {text!r}: the number must be 1 to {LONGEST:,}")
    if unit in ("minute", "hour"):
        start = now - timedelta(**{f"{unit}s": count})
    else:
        local = now.astimezone(zone)
        start = datetime.combine(move(local.date(), unit, -count), local.time(), zone)
        start = start.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    return Period(text, start.astimezone(UTC), now.astimezone(UTC), zone)


def _named_unit(text: str, now: datetime, zone: ZoneInfo) -> Period | None:
    today = now.astimezone(zone).date()
    if found := _CALENDAR.fullmatch(text):
        back = 0 if found[1] == "this" else -1
        span = unit_period(found[2], move(first_of(today, found[2]), found[2], back), zone)
        return Period(_spoken(text), span.start, span.end, zone, span.unit)
    if found := _TO_DATE.fullmatch(text):
        start = midnight(first_of(today, found[1]), zone)
        return Period(text, start, now.astimezone(UTC), zone)
    return None


def _spoken(text: str) -> str:
    return {"this day": "today", "previous day": "yesterday"}.get(text, text)


def _dated(text: str, now: datetime, zone: ZoneInfo) -> Period | None:
    first, dots, last = (part.strip() for part in text.partition(".."))
    if not dots:
        unit = _unit_of(first)
        if unit is None:
            return None
        day = _first_day(first, unit)
        return None if day is None else unit_period(unit, day, zone)
    start = _edge(first, zone, closing=False)
    end = _edge(last, zone, closing=True) if last else now.astimezone(UTC)
    if start is None or end is None:
        return None
    if start >= end:
        raise QuestionError(f"period {text!r} ends before it begins")
    return Period(f"{first}..{last}", start, end, zone)


def _unit_of(text: str) -> str | None:
    shapes = {
        "year": r"\d{4}",
        "quarter": r"\d{4}-?[Qq][1-4]",
        "month": r"\d{4}-\d{2}",
        "week": r"\d{4}-?[Ww]\d{2}",
        "day": r"\d{4}-\d{2}-\d{2}",
    }
    return next((unit for unit, shape in shapes.items() if re.fullmatch(shape, text)), None)


def _first_day(text: str, unit: str) -> date | None:
    year = int(text[:4])
    try:
        if unit == "year":
            return date(year, 1, 1)
        if unit == "quarter":
            return date(year, 3 * int(text[-1]) - 2, 1)
        if unit == "month":
            return date(year, int(text[-2:]), 1)
        if unit == "week":
            return date.fromisocalendar(year, int(text[-2:]), 1)
        return date.fromisoformat(text)
    except ValueError:
        raise QuestionError(f"period {text!r}: not in the calendar") from None


def _edge(text: str, zone: ZoneInfo, *, closing: bool) -> datetime | None:
    """
    A written end of a span: a day, month or year counts whole, a moment is what it is.
    """
    if unit := _unit_of(text):
        day = _first_day(text, unit)
        assert day is not None
        return midnight(move(day, unit, 1) if closing else day, zone)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)


def _day_span(first: date, after: date, zone: ZoneInfo) -> Period:
    text = f"{first}..{after - timedelta(days=1)}"
    return Period(text, midnight(first, zone), midnight(after, zone), zone)


def _instants(start: datetime, end: datetime, zone: ZoneInfo) -> Period:
    text = f"{start:%Y-%m-%dT%H:%M:%SZ}..{end:%Y-%m-%dT%H:%M:%SZ}"
    return Period(text, start, end, zone)
