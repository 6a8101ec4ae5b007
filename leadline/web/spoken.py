"""
Periods in the reader's words, and back into those of questions.
"""

from __future__ import annotations

import re
from functools import cache

from leadline.language import _, languages, ngettext, spoken
from leadline.web.words import number

UNITS = ("minute", "hour", "day", "week", "month", "quarter", "year")
_LAST = re.compile(rf"last (?:(\d+) )?({'|'.join(UNITS)})s?")


def spoken_period(text: str) -> str:
    """
    A period's written form in the reader's language: last 30 days.
    """
    if text in (known := _periods()):
        return known[text]
    if (found := _LAST.fullmatch(text)) is not None:
        count = int(found[1] or 1)
        return _unit_words(found[2], count).format(count=number(count))
    return text


def _unit_words(unit: str, count: int) -> str:
    return {
        "minute": ngettext("last minute", "last {count} minutes", count),
        "hour": ngettext("last hour", "last {count} hours", count),
        "day": ngettext("last day", "last {count} days", count),
        "week": ngettext("last 1 week", "last {count} weeks", count),
        "month": ngettext("last 1 month", "last {count} months", count),
        "quarter": ngettext("last 1 quarter", "last {count} quarters", count),
        "year": ngettext("last 1 year", "last {count} years", count),
    }[unit]


def _periods() -> dict[str, str]:
    return {
        "all": _("everything kept"),
        "today": _("today"),
        "yesterday": _("yesterday"),
        "this week": _("this week"),
        "this month": _("this month"),
        "this quarter": _("this quarter"),
        "this year": _("this year"),
        "previous week": _("previous week"),
        "previous month": _("previous month"),
        "previous quarter": _("previous quarter"),
        "previous year": _("previous year"),
        "now": _("now"),
    }


def written_period(text: str) -> str:
    """
    A period as questions write it, whatever language's words it is told in.
    """
    plain = _plain(text)
    if _LAST.fullmatch(plain):
        return text
    for words, counted in _written():
        if plain in words:
            return words[plain]
        for unit, form in counted:
            if (found := form.fullmatch(plain)) is not None:
                return f"last {found[1]} {unit}s"
    return text


def _plain(text: str) -> str:
    return " ".join(text.casefold().replace("’", "'").split())


@cache
def _written() -> tuple[tuple[dict[str, str], list[tuple[str, re.Pattern[str]]]], ...]:
    """
    By language: what each name of a period means, and how a count of units is told.
    """
    found = []
    for code in languages():
        with spoken(code):
            words = {_plain(told): text for text, told in _periods().items()}
            words |= {_plain(_unit_words(unit, 1)): f"last 1 {unit}" for unit in UNITS}
            counted = [(unit, _counted(_unit_words(unit, 2))) for unit in UNITS]
        found.append((words, counted))
    return tuple(found)


def _counted(words: str) -> re.Pattern[str]:
    return re.compile(re.escape(_plain(words)).replace(r"\{count\}", r"(\d+)"))
