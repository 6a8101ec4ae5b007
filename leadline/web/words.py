"""
How figures and days are written for people: thousands apart, units in the head, nothing measured as
a dash, all of it in the reader's language.
"""

from __future__ import annotations

from datetime import date, datetime

from babel.dates import format_date, format_datetime

from leadline.language import _, current, ngettext
from leadline.language.figures import figure
from leadline.render import duration

NOT_MEASURED = "–"
MOST_CHANGE = 20  # beyond it there was next to nothing before, and a percentage says little
LOCALES = {"en": "en_GB"}  # whose days are written day, month, year

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
    if unit == "seconds":
        return lasting(value)
    return figure(_english(value, unit), current())


def _english(value: float, unit: str) -> str:
    if unit in {"percent", "%"}:
        return f"{value:,.1f}"
    if unit in {"count", ""} and value == int(value):
        return f"{int(value):,}"
    if value == 0:
        return "0"
    if abs(value) < 0.05:
        return "< 0.1"
    return f"{value:,.1f}" if abs(value) < 9.95 else f"{value:,.0f}"


def size(value: float) -> str:
    """
    Bytes in GiB, or smaller where that would be nothing.
    """
    units = ((_("GiB"), 1 << 30), (_("MiB"), 1 << 20), (_("KiB"), 1 << 10))
    unit, scale = next((one for one in units if abs(value) >= one[1]), units[-1])
    scaled = value / scale
    text = f"{scaled:,.1f}" if scaled < 99.95 else f"{scaled:,.0f}"
    return f"{figure(text, current())} {unit}"


def share(part: Figure, whole: Figure) -> str:
    if not isinstance(part, int | float) or not isinstance(whole, int | float) or not whole:
        return NOT_MEASURED
    return figure(f"{100 * part / whole:.1f} %", current())


def percent(ratio: float) -> str:
    """
    A share in running text: 87 %; a little is not nothing.
    """
    if 0 < ratio < 0.005:
        return figure("< 1 %", current())
    return figure(f"{100 * ratio:,.0f} %", current())


def change(now: Figure, before: Figure, span: str) -> str:
    """
    How much more or less than before, in SPAN, as a sentence goes on.
    """
    if not isinstance(now, int | float) or not isinstance(before, int | float) or not before:
        return ""
    ratio = now / before - 1
    if abs(ratio) < 0.005:
        return _("as much as in {span}").format(span=span)
    if ratio > MOST_CHANGE:
        return ""
    if ratio > 0:
        return _("{percent} more than in {span}").format(percent=percent(ratio), span=span)
    return _("{percent} less than in {span}").format(percent=percent(-ratio), span=span)


def gain(now: Figure, before: Figure) -> str:
    """
    The same for a cell: +4 %, −12 %, new.
    """
    if not isinstance(now, int | float):
        return NOT_MEASURED
    if not isinstance(before, int | float) or not before:
        return _("new") if now else NOT_MEASURED
    ratio = now / before - 1
    if ratio > MOST_CHANGE:
        return f"× {number(now / before)}"
    sign = "+" if ratio > 0.0005 else "−" if ratio < -0.0005 else ""
    return f"{sign}{figure(f'{100 * abs(ratio):,.0f} %', current())}"


def day(value: date, month: str = "MMMM") -> str:
    return str(format_date(value, f"d {month} y", locale=_locale()))


def days(first: date, last: date, month: str = "MMMM") -> str:
    """
    1–31 October 2026; 28 September – 4 October 2026; with MMM as MONTH 28 Sept – 4 Oct 2026.
    """
    if first == last:
        return day(first, month)
    if (first.year, first.month) == (last.year, last.month):
        return f"{first.day}–{day(last, month)}"
    start = day(first, month)
    if first.year == last.year:
        start = str(format_date(first, f"d {month}", locale=_locale()))
    return f"{start} – {day(last, month)}"


def moment(value: datetime) -> str:
    """
    A moment in running text: Tuesday 3 November 14:02.
    """
    return str(format_datetime(value, "EEEE d MMMM HH:mm", locale=_locale()))


def stamp(value: datetime) -> str:
    """
    A moment in a table: 3 Nov 2026 14:02.
    """
    return str(format_datetime(value, "d MMM y HH:mm", locale=_locale()))


def lasting(seconds: float | None) -> str:
    """
    2 d 04:10, 04:10, or 12 s.
    """
    if seconds is None:
        return NOT_MEASURED
    text = duration(seconds)
    whole, mark, clock = text.partition(" d ")
    return _("{days} d {clock}").format(days=whole, clock=clock) if mark else text


def _locale() -> str:
    return LOCALES.get(current(), current())


def ago(then: datetime, now: datetime) -> str:
    seconds = max(0, int((now - then).total_seconds()))
    if seconds >= 2 * 86400:
        return _("{count} days ago").format(count=number(seconds // 86400))
    if seconds >= 2 * 3600:
        return _("{count} hours ago").format(count=seconds // 3600)
    if seconds >= 120:
        return _("{count} minutes ago").format(count=seconds // 60)
    if seconds >= 60:
        return _("a minute ago")
    return ngettext("{count} second ago", "{count} seconds ago", seconds).format(count=seconds)


def state_words(state: str | None) -> str:
    """
    The scheduler's states as people say them; one we do not know is shown as it is.
    """
    if state is None:
        return _("state unknown")
    return states().get(state, state.lower().replace("_", " "))


def states() -> dict[str, str]:
    return {
        "RUNNING": _("running"),
        "PENDING": _("pending"),
        "COMPLETED": _("completed"),
        "FAILED": _("failed"),
        "CANCELLED": _("cancelled"),
        "TIMEOUT": _("timed out"),
        "OUT_OF_MEMORY": _("out of memory"),
        "NODE_FAIL": _("its node failed"),
        "PREEMPTED": _("preempted"),
        "SUSPENDED": _("suspended"),
        "CONFIGURING": _("getting its nodes ready"),
        "COMPLETING": _("completing"),
        "REQUEUED": _("requeued"),
        "DEADLINE": _("ended at its deadline"),
        "BOOT_FAIL": _("its node did not boot"),
    }
