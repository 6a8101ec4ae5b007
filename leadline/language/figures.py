"""
Figures as a language writes them: 41,230.5 is 41 230,5 in French.
"""

from __future__ import annotations

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
