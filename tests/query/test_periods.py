"""
Periods are right on any date: ends of months, leap days, clock changes.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import QuestionError
from leadline.query.periods import Period, first_of, midnight, move, parse_period

OSLO = ZoneInfo("Europe/Oslo")
ZONES = st.sampled_from(
    ["UTC", "Europe/Oslo", "America/New_York", "Asia/Kolkata", "America/Havana", "Pacific/Apia"]
).map(ZoneInfo)
MOMENTS = st.datetimes(datetime(1995, 1, 1), datetime(2060, 1, 1)).map(
    lambda moment: moment.replace(tzinfo=UTC)
)
UNITS = st.sampled_from(["day", "week", "month", "quarter", "year"])


def days(text: str, now: str, zone: ZoneInfo = OSLO) -> tuple[str, str]:
    """
    First day and the day after the last, as asked at noon of NOW.
    """
    period = parse_period(text, datetime.fromisoformat(f"{now}T12:00").replace(tzinfo=zone), zone)
    assert period.days is not None
    return str(period.days[0]), str(period.days[1])


@pytest.mark.parametrize(
    ("text", "now", "first", "after"),
    [
        ("today", "2026-11-21", "2026-11-21", "2026-11-22"),
        ("yesterday", "2026-03-01", "2026-02-28", "2026-03-01"),
        ("yesterday", "2028-03-01", "2028-02-29", "2028-03-01"),
        ("this week", "2026-11-22", "2026-11-16", "2026-11-23"),
        ("previous week", "2027-01-01", "2026-12-21", "2026-12-28"),
        ("this month", "2026-12-31", "2026-12-01", "2027-01-01"),
        ("previous month", "2026-03-31", "2026-02-01", "2026-03-01"),
        ("last month", "2028-03-29", "2028-02-01", "2028-03-01"),
        ("previous quarter", "2026-07-31", "2026-04-01", "2026-07-01"),
        ("previous quarter", "2026-08-31", "2026-04-01", "2026-07-01"),
        ("previous quarter", "2026-02-28", "2025-10-01", "2026-01-01"),
        ("previous year", "2028-02-29", "2027-01-01", "2028-01-01"),
        ("this year", "2028-02-29", "2028-01-01", "2029-01-01"),
        ("2026", "2026-11-21", "2026-01-01", "2027-01-01"),
        ("2026-02", "2026-11-21", "2026-02-01", "2026-03-01"),
        ("2028-02-29", "2026-11-21", "2028-02-29", "2028-03-01"),
        ("2026-Q4", "2026-11-21", "2026-10-01", "2027-01-01"),
        ("2026-W53", "2026-11-21", "2026-12-28", "2027-01-04"),
        ("2026-10-01..2026-10-31", "2026-11-21", "2026-10-01", "2026-11-01"),
        ("2026-10..2026-12", "2026-11-21", "2026-10-01", "2027-01-01"),
        ("2025-12-31..2026", "2026-11-21", "2025-12-31", "2027-01-01"),
    ],
)
def test_calendar_periods(text: str, now: str, first: str, after: str) -> None:
    """
    Calendar periods begin and end at local midnights, whatever day they are asked on.
    """
    assert (first, after) == days(text, now)


def test_quarter_to_date_asked_on_the_31st() -> None:
    """
    Quarter to date asked on 31 May begins on 1 April and ends now.
    """
    now = datetime(2026, 5, 31, 12, tzinfo=OSLO)
    period = parse_period("quarter-to-date", now, OSLO)
    assert midnight(date(2026, 4, 1), OSLO) == period.start
    assert now == period.end


@pytest.mark.parametrize(
    ("now", "text", "start"),
    [
        (datetime(2026, 5, 31, 10), "last 3 months", datetime(2026, 2, 28, 10)),
        (datetime(2028, 2, 29, 10), "last year", None),
        (datetime(2028, 2, 29, 10), "last 1 year", datetime(2027, 2, 28, 10)),
        (datetime(2026, 3, 31, 10), "last 1 quarter", datetime(2025, 12, 31, 10)),
        (datetime(2026, 11, 21, 10), "last-30-days", datetime(2026, 10, 22, 10)),
        (datetime(2026, 11, 21, 10), "last hour", datetime(2026, 11, 21, 9)),
        (datetime(2026, 11, 21, 10, 50), "last 1 day", datetime(2026, 11, 20, 10)),
        (datetime(2026, 11, 21, 10, 50), "last 24 hours", datetime(2026, 11, 20, 10, 50)),
    ],
)
def test_back_from_now(now: datetime, text: str, start: datetime | None) -> None:
    """
    The last N units go back by the wall clock, days and longer to the beginning of an hour; a day
    a month lacks becomes its last.
    """
    period = parse_period(text, now.replace(tzinfo=OSLO), OSLO)
    if start is None:
        assert date(2027, 1, 1) == period.days[0]  # type: ignore[index]
    else:
        assert start.replace(tzinfo=OSLO).astimezone(UTC) == period.start


@pytest.mark.parametrize(("day", "hours"), [("2026-03-29", 23), ("2026-10-25", 25)])
def test_days_of_clock_changes(day: str, hours: int) -> None:
    """
    The day clocks change has 23 or 25 hours.
    """
    period = parse_period(day, datetime(2026, 11, 21, tzinfo=UTC), OSLO)
    assert period.start is not None
    assert period.end is not None
    assert timedelta(hours=hours) == period.end - period.start


def test_moments_with_and_without_zone() -> None:
    """
    Moments are taken as written, in the cluster's zone when they name none.
    """
    period = parse_period(
        "2026-10-01T10:00..2026-10-01T12:00:00Z", datetime(2026, 11, 1, tzinfo=UTC), OSLO
    )
    assert datetime(2026, 10, 1, 8, tzinfo=UTC) == period.start
    assert datetime(2026, 10, 1, 12, tzinfo=UTC) == period.end


@pytest.mark.parametrize(
    "text",
    ["", "last", "2026-13", "2026-02-30", "2026-W54", "last 0 days", "last -3 days", "tomorrow",
     "x..y", "2026-02..2026-01", "last 99999 years", "2025-Q5", "0000"],
)  # fmt: skip
def test_nonsense_is_refused(text: str) -> None:
    """
    What is no period is refused in one line, never guessed.
    """
    with pytest.raises(QuestionError):
        parse_period(text, datetime(2026, 11, 21, tzinfo=UTC), OSLO)


@given(st.text(max_size=30), MOMENTS)
def test_any_text_is_read_or_refused(text: str, now: datetime) -> None:
    """
    A period is read or refused; nothing else is ever raised.
    """
    with suppress(QuestionError):
        parse_period(text, now, OSLO)


@given(UNITS, MOMENTS, ZONES)
def test_neighbours_leave_no_gap(unit: str, now: datetime, zone: ZoneInfo) -> None:
    """
    This unit holds now, begins on its first day, and the one before ends where it begins.
    """
    this = parse_period(f"this {unit}", now, zone)
    before, after = this.before(), this.after()
    assert this.start is not None
    assert this.end is not None
    assert this.start <= now < this.end
    assert before is not None
    assert after is not None
    assert (before.end, after.start) == (this.start, this.end)
    assert parse_period(f"previous {unit}", now, zone).start == before.start
    assert parse_period(before.text, now, zone).start == before.start


@given(st.dates(date(1995, 1, 1), date(2060, 1, 1)), UNITS, st.integers(-40, 40))
def test_moving_by_units_lands_in_the_right_one(day: date, unit: str, count: int) -> None:
    """
    Moving a first day by units lands on a first day, and back again.
    """
    first = first_of(day, unit)
    moved = move(first, unit, count)
    assert first_of(moved, unit) == moved
    assert first == move(moved, unit, -count)


def test_named_periods_of_the_site() -> None:
    """
    An allocation period named in the settings is a period like any other.
    """
    named = {"2026.1": "2026-04-01..2026-09-30"}
    period: Period = parse_period("2026.1", datetime(2026, 11, 1, tzinfo=UTC), OSLO, named)
    assert (date(2026, 4, 1), date(2026, 10, 1)) == period.days


@pytest.mark.parametrize(
    ("written", "before", "after"),
    [
        ("2026-10-01..2026-10-31", "2026-09-01..2026-09-30", "2026-11-01..2026-11-30"),
        ("2026-01-01..2026-02-28", "2025-11-01..2025-12-31", "2026-03-01..2026-04-30"),
        ("2026-10-01..2026-10-30", "2026-09-01..2026-09-30", "2026-10-31..2026-11-29"),
    ],
)
def test_beside_whole_months_stand_whole_months(written: str, before: str, after: str) -> None:
    """
    September stands before October, however October is written; thirty days before thirty days.
    """
    period = parse_period(written, datetime(2026, 12, 5, tzinfo=UTC), OSLO)
    beside = period.before(), period.after()
    assert [before, after] == [one.text for one in beside if one is not None]
