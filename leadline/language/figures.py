"""
Figures as a language writes them: 41,230.5 is 41 230,5 in French.
"""

from __future__ import annotations

import calendar
import re
from functools import cache

ENGLISH = "en"
_FIGURE = re.compile(r"(?<![\w.:/-])[+-]?\d{1,3}(?:,\d{3})*(?:\.\d+)?(?![\w:/-])(?!\.\d)")


def figure(text: str, language: str) -> str:
    """
    TEXT with its figures, written the English way, as LANGUAGE writes them.
    """
    if language == ENGLISH or not any(map(str.isdigit, text)):
        return text
    marks = _marks(language)
    return _FIGURE.sub(lambda found: found[0].translate(marks), text)


@cache
def _marks(language: str) -> dict[int, str]:
    from babel import Locale

    symbols = Locale.parse(language).number_symbols["latn"]
    return {ord(","): symbols["group"], ord("."): symbols["decimal"]}


@cache
def for_charts(language: str) -> tuple[dict[str, object], dict[str, object]] | None:
    """
    Figures, and days and months, in the two tables the chart engine takes; None for English.
    """
    if language == ENGLISH:
        return None
    from babel import Locale

    known = Locale.parse(language)
    symbols = known.number_symbols["latn"]
    figures: dict[str, object] = {
        "decimal": symbols["decimal"],
        "thousands": symbols["group"],
        "grouping": [3],
        "currency": ["", ""],
    }
    days, months = known.days["format"], known.months["format"]
    sunday = (6, 0, 1, 2, 3, 4, 5)  # theirs begin with it, Babel's with Monday
    times: dict[str, object] = {
        "dateTime": "%A %e %B %Y %X",
        "date": "%Y-%m-%d",
        "time": "%H:%M:%S",
        "periods": ["AM", "PM"],
        "days": [days["wide"][day] for day in sunday],
        "shortDays": [days["abbreviated"][day] for day in sunday],
        "months": [months["wide"][month] for month in range(1, 13)],
        "shortMonths": [months["abbreviated"][month] for month in range(1, 13)],
    }
    return figures, times


def short_month(number: int, language: str) -> str:
    """
    The NUMBERth month as charts write it.
    """
    if (told := for_charts(language)) is None:
        return calendar.month_abbr[number]
    return str(told[1]["shortMonths"][number - 1])  # type: ignore[index]
