"""
The shortest text a pattern stands for: what the linter asks the other rules about.
"""

import re
from typing import Any

_parser: Any = re._parser  # type: ignore[attr-defined]  # Python's own, the only one at hand
_CLASSES = {"CATEGORY_DIGIT": "0", "CATEGORY_WORD": "x", "CATEGORY_SPACE": " "}
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")


def sample(pattern: str) -> str | None:
    """
    A text PATTERN matches, of its first alternatives and least repeats; None if it is beyond us.
    """
    try:
        text = _all(_parser.parse(pattern))
        return text if re.search(pattern, text) else None
    except re.error:
        return None


def _all(parts: Any) -> str:
    return "".join(_one(str(kind), value) for kind, value in parts)


def _one(kind: str, value: Any) -> str:
    if kind == "LITERAL":
        return chr(value)
    if kind == "IN":
        return _of_set(value)
    if kind == "BRANCH":
        return _all(value[1][0])
    if kind == "SUBPATTERN":
        return _all(value[3])
    if kind in _REPEATS:
        return _all(value[2]) * int(value[0])
    return "x" if kind in {"ANY", "NOT_LITERAL"} else ""


def _of_set(items: Any) -> str:
    kind, value = str(items[0][0]), items[0][1]
    if kind == "LITERAL":
        return chr(value)
    if kind == "RANGE":
        return chr(value[0])
    return _CLASSES.get(str(value), "x") if kind == "CATEGORY" else "x"
