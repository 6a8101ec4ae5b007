"""
Lists of hosts as Slurm folds them: `c1-[5-7,9],gpu-2` is five hosts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from leadline.errors import FormatError

MOST = 100_000  # hosts of one list; more is a mistake or an attack
RANGE = re.compile(r"(\d+)(?:-(\d+))?")


def expand_hosts(text: str | None) -> list[str]:
    """
    Every host of a folded list, in its order, each once.
    """
    if text is None or text.strip().lower() in {"", "(null)", "none assigned", "n/a", "none"}:
        return []
    found: dict[str, None] = {}
    for part in _split(text.strip()):
        for host in _expand(part):
            found[host] = None
            if len(found) > MOST:
                raise FormatError(f"host list {text[:60]!r} names more than {MOST} hosts")
    return list(found)


def _split(text: str) -> Iterator[str]:
    depth = start = 0
    for at, char in enumerate(text):
        depth += (char == "[") - (char == "]")
        if depth not in (0, 1):
            raise FormatError(f"host list: brackets do not match in {text[:80]!r}")
        if char == "," and depth == 0:
            yield text[start:at]
            start = at + 1
    if depth:
        raise FormatError(f"host list: brackets do not match in {text[:80]!r}")
    yield text[start:]


def _expand(part: str) -> Iterator[str]:
    head, bracket, rest = part.partition("[")
    if not bracket:
        if not part or re.search(r"\s", part):
            raise FormatError(f"host list: {part[:40]!r} is no host name")
        yield part
        return
    inside, _, tail = rest.partition("]")
    tails = list(_expand(tail)) if tail else [""]
    for piece in inside.split(","):
        match = RANGE.fullmatch(piece)
        if match is None:
            raise FormatError(f"host list: {piece[:40]!r} is no range")
        first, last = match[1], match[2] or match[1]
        if not int(first) <= int(last) < int(first) + MOST:
            raise FormatError(f"host list: {piece[:40]!r} is no range")
        for number in range(int(first), int(last) + 1):
            for after in tails:
                yield f"{head}{number:0{len(first)}d}{after}"
