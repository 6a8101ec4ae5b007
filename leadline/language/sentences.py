"""
Finished sentences in another language.

Advice, findings and notes are made below the pages, for the terminal as well, and some are kept
for weeks: they are English text with figures in it. Each is matched with the sentence it was made
from, `{asked} cores of {had} were busy`, and what stood in the braces is set into the other one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from leadline.language.figures import figure

_BRACES = re.compile(r"\{(\w+)\}")
DURATION = "{days} d {clock}"
_DURATION = re.compile(r"\b(?P<days>\d+) d (?P<clock>\d\d:\d\d)")
CLAUSES = "{one}; {other}"
_PIECE = re.compile(r"(?<=\.) ")
MOST_DEEP = 4
LONGEST = 2000


class Sentences:
    """
    The sentences of one catalogue, the most telling first.
    """

    def __init__(self, known: Mapping[str, str], language: str) -> None:
        self._plain = dict(known)
        self._language = language
        self._patterns = [
            (_pattern(text), told)
            for text, told in sorted(known.items(), key=lambda pair: -_fixed(pair[0]))
            if _BRACES.search(text) and _fixed(text) > 3
        ]

    def translated(self, text: str, depth: int = 0) -> str:
        if (told := self._plain.get(text)) is not None and (not depth or " " in text):
            return told or text
        if depth < MOST_DEEP and " " in text and len(text) < LONGEST:
            for pattern, told in self._patterns:
                if (found := pattern.fullmatch(text)) is not None:
                    inner = {n: self.translated(v, depth + 1) for n, v in found.groupdict().items()}
                    return _BRACES.sub(lambda brace, inner=inner: inner[brace[1]], told)  # type: ignore[misc]
            if len(pieces := _PIECE.split(text)) > 1:
                return " ".join(self.translated(piece, depth + 1) for piece in pieces)
            one, mark, other = text.partition("; ")
            if mark:
                both = self.translated(one, depth + 1), self.translated(other, depth + 1)
                return self._plain.get(CLAUSES, CLAUSES).format(one=both[0], other=both[1])
        return figure(self._lasting(text), self._language)

    def _lasting(self, text: str) -> str:
        """
        2 d 04:10, which stands in the middle of other text.
        """
        told = self._plain.get(DURATION, DURATION)
        return _DURATION.sub(lambda found: told.format(**found.groupdict()), text)


def _fixed(text: str) -> int:
    """
    How many letters of a sentence are its own.
    """
    return sum(map(str.isalpha, _BRACES.sub("", text)))


def _pattern(text: str) -> re.Pattern[str]:
    parts, names = [], set()
    for place, part in enumerate(_BRACES.split(text)):
        if place % 2 == 0:
            parts.append(re.escape(part))
        elif part in names:
            parts.append(f"(?P={part})")
        else:
            names.add(part)
            # No clause swallows the one before, and what is counted is a figure.
            inner = r"[\d,.]+" if part == "count" else r"(?:(?!; ).)*?"
            parts.append(f"(?P<{part}>{inner})")
    return re.compile("".join(parts), re.DOTALL)
