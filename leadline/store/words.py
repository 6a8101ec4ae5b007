"""
The search language and the rule that cuts command lines into words, written once for every store.

A line is cut at blanks and at ``/ = , ; : " ' ( ) [ ] { } < > | & @ $ % ! ? * \\ ` ``; leading
``- + .`` go; what is left counts whole and by its runs of letters and digits, in lower case. So
`gmx` finds gmx_mpi and python3 finds python3.11, and `train_v2.py` still finds only itself. This
is what the OpenSearch analyzer does (its tokenizer must not cut long words: max_token_length
8191). A word that comes to nothing, such as `--`, still takes a place within a phrase.

Search text: words, "phrases", prefixes (word*) and -exclusions. A line is found when it holds at
least one term, and no exclusion; `matched` counts the terms it holds. A single word with a
separator in it (/cluster/bin) is a phrase. `--epochs` is a word, `-epochs` an exclusion. Without
any term every line that holds no exclusion is found, with `matched` 0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

SEPARATORS = "/=,;:\"'()[]{}<>|&@$%!?*\\`"
STRIPPED = "-+."

_CUT = re.compile(r"[\s" + re.escape(SEPARATORS) + "]+")
_PARTS = re.compile(r"[^\W_]+")
_TERMS = re.compile(r'(-(?!-))?(?:"([^"]*)"?|(\S+))')


@dataclass(frozen=True, slots=True)
class Term:
    """
    One thing to look for: words at consecutive places of a line; `places` are their distances.
    """

    words: tuple[str, ...]
    places: tuple[int, ...]
    prefix: bool = False  # the last word need only begin so

    @property
    def text(self) -> str:
        """
        The term as an analyzer gets it.
        """
        return " ".join(self.words)


@dataclass(frozen=True, slots=True)
class Search:
    terms: tuple[Term, ...]
    excluded: tuple[Term, ...] = ()

    def matched(self, line: str) -> int | None:
        """
        How many terms LINE holds; None when it is not found.
        """
        places = index(line)
        if any(_holds(places, term) for term in self.excluded):
            return None
        count = sum(_holds(places, term) for term in self.terms)
        return count if count or not self.terms else None


def parse(text: str) -> Search:
    """
    TEXT as terms and exclusions; whatever is typed means something, so it never raises.
    """
    terms: dict[Term, None] = {}
    excluded: dict[Term, None] = {}
    for minus, phrase, word in _TERMS.findall(text):
        raw = phrase or word
        prefix = bool(word) and word.endswith("*")
        found = [(place, token) for place, token in enumerate(_tokens(raw)) if token]
        if found:
            first = found[0][0]
            term = Term(
                tuple(token for _, token in found),
                tuple(place - first for place, _ in found),
                prefix,
            )
            (excluded if minus else terms)[term] = None
    return Search(tuple(terms), tuple(excluded))


@lru_cache(maxsize=4096)
def index(line: str) -> tuple[frozenset[str], ...]:
    """
    What each place of a command line can be found by.
    """
    return tuple(
        frozenset((token, *_PARTS.findall(token))) if token else frozenset()
        for token in _tokens(line)
    )


def _tokens(text: str) -> list[str]:
    return [piece.lstrip(STRIPPED).lower() for piece in _CUT.split(text) if piece]


def _holds(places: tuple[frozenset[str], ...], term: Term) -> bool:
    last = len(term.words) - 1
    for start in range(len(places) - term.places[-1]):
        for number, (word, distance) in enumerate(zip(term.words, term.places, strict=True)):
            there = places[start + distance]
            if term.prefix and number == last:
                if not any(known.startswith(word) for known in there):
                    break
            elif word not in there:
                break
        else:
            return True
    return False
