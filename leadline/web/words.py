"""
How figures are written for people: thousands apart, units in the head, nothing measured as a dash.
"""

from __future__ import annotations

from datetime import date, datetime

NOT_MEASURED = "–"
MOST_CHANGE = 20  # beyond it there was next to nothing before, and a percentage says little
YEAR = "January February March April May June July August September October November December"
MONTHS = YEAR.split()

Figure = float | int | str | None


def number(value: Figure, unit: str = "") -> str:
    """
    VALUE as a table shows it: 41,230 hours, 4.2 hours, 12.1 GiB, 61.0 %.
    """
    if value is None:
        return NOT_MEASURED
    if isinstance(value, str):
        return value
    if unit == "bytes":
        return size(value)
    if unit in {"percent", "%"}:
        return f"{value:,.1f}"
    if unit in {"count", ""} and value == int(value):
        return f"{int(value):,}"
    if 0 < abs(value) < 0.05:
        return "< 0.1"
    return f"{value:,.1f}" if abs(value) < 9.95 else f"{value:,.0f}"


def size(value: float) -> str:
    """
    Bytes in GiB, or smaller where that would be nothing.
    """
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if abs(value) >= scale or unit == "KiB":
            scaled = value / scale
            return f"{scaled:,.1f} {unit}" if scaled < 99.95 else f"{scaled:,.0f} {unit}"
    return f"{value:,.0f} B"


def share(part: Figure, whole: Figure) -> str:
    if not isinstance(part, int | float) or not isinstance(whole, int | float) or not whole:
        return NOT_MEASURED
    return f"{100 * part / whole:.1f} %"


def percent(ratio: float) -> str:
    """
    A share in running text: 87 %.
    """
    return f"{100 * ratio:,.0f} %"


def change(now: Figure, before: Figure) -> str:
    """
    How much more or less than before, in words.
    """
    if not isinstance(now, int | float) or not isinstance(before, int | float) or not before:
        return ""
    ratio = now / before - 1
    if abs(ratio) < 0.005:
        return "as much as"
    if ratio > MOST_CHANGE:
        return ""
    return f"{percent(abs(ratio))} {'more' if ratio > 0 else 'less'} than"


def day(value: date) -> str:
    return f"{value.day} {MONTHS[value.month - 1]} {value.year}"


def days(first: date, last: date) -> str:
    """
    1–31 October 2026; 28 September – 4 October 2026.
    """
    if first == last:
        return day(first)
    if (first.year, first.month) == (last.year, last.month):
        return f"{first.day}–{day(last)}"
    if first.year == last.year:
        return f"{first.day} {MONTHS[first.month - 1]} – {day(last)}"
    return f"{day(first)} – {day(last)}"


def ago(moment: datetime, now: datetime) -> str:
    seconds = max(0, int((now - moment).total_seconds()))
    for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length} {unit}s ago"
    return f"{seconds} seconds ago" if seconds < 60 else "a minute ago"
