"""
The one place that searches: many patterns in one pass over a text, in linear time.

google-re2 does that. Without it (a node without `leadline[server]`) the same patterns run one by
one in Python's own engine: the same answers, slower.
"""

import re
from collections.abc import Sequence
from typing import Any, Protocol

try:
    import re2
except ImportError:
    re2 = None

_MEMORY = 256 << 20  # an upper bound for the automaton of a thousand patterns, not what it takes
_BEYOND_RE2 = re.compile(r"\(\?(?:=|!|<=|<!|>|P=|\()|(?<!\\)\\[1-9]")


class Searcher(Protocol):
    """
    Tells which of its patterns occur in a text, by their places in the list, ascending.
    """

    def hits(self, text: str) -> list[int]: ...


class PatternError(Exception):
    """
    A pattern that cannot be compiled, with the reason.
    """


def _options() -> Any:
    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    return options


def compile_pattern(pattern: str) -> Any:
    beyond = _BEYOND_RE2.search(pattern)
    if beyond:
        raise PatternError(f"{beyond[0]!r} looks around or back, which linear matching cannot")
    try:
        if re2 is not None:
            return re2.compile(pattern, _options())
        return re.compile(pattern, re.ASCII)
    except (re.error, getattr(re2, "error", re.error)) as error:
        raise PatternError(_reason(pattern, error)) from error


def _reason(pattern: str, error: Exception) -> str:
    try:
        re.compile(pattern)
    except re.error as clearer:
        return clearer.msg
    text = error.args[0] if error.args else error
    return text.decode() if isinstance(text, bytes) else str(text)


class _Together:
    def __init__(self, patterns: Sequence[str]) -> None:
        self._set = re2.Set.SearchSet(_options())
        for pattern in patterns:
            self._set.Add(pattern)
        self._set.Compile()

    def hits(self, text: str) -> list[int]:
        found = self._set.Match(text.encode("utf-8", "replace"))
        return sorted(found) if found else []


class _OneByOne:
    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = [re.compile(pattern, re.ASCII) for pattern in patterns]

    def hits(self, text: str) -> list[int]:
        return [place for place, pattern in enumerate(self._patterns) if pattern.search(text)]


class _Never:
    def hits(self, text: str) -> list[int]:
        return []


def searcher(patterns: Sequence[str], *, linear: bool = True) -> Searcher:
    """
    A searcher for PATTERNS; `linear=False` asks for Python's engine even where re2 is installed.
    """
    if not patterns:
        return _Never()
    return _Together(patterns) if linear and re2 is not None else _OneByOne(patterns)
