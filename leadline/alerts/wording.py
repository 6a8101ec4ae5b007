"""
One message for many alerts, in words a person reads at night.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from leadline.alerts.settings import RANK
from leadline.formats.counted import counted

LINES = 40


@dataclass(frozen=True, slots=True)
class Line:
    """
    One thing to say: an alert fires, or is over.
    """

    note: int
    kind: str  # fires, over
    rule: str
    cluster: str
    object: str
    severity: str
    since: float
    ended: float | None
    text: str


def fold(names: Sequence[str]) -> str:
    """
    c1, c2, c3, login → c[1-3],login
    """
    numbered: dict[tuple[str, int], set[int]] = defaultdict(set)
    others = []
    for name in dict.fromkeys(names):
        match = re.fullmatch(r"(.*?)(\d{1,9})", name)
        if match is None:
            others.append(name)
        else:
            width = len(match[2]) if match[2].startswith("0") else 0
            numbered[match[1], width].add(int(match[2]))
    parts = []
    for (head, width), numbers in sorted(numbered.items()):
        spans = _spans(sorted(numbers))
        written = ",".join(
            f"{a:0{width}d}" if a == b else f"{a:0{width}d}-{b:0{width}d}" for a, b in spans
        )
        parts.append(f"{head}[{written}]" if len(numbers) > 1 else f"{head}{written}")
    return ",".join(parts + others)


def _spans(numbers: Sequence[int]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1] = (spans[-1][0], number)
        else:
            spans.append((number, number))
    return spans


def worst(lines: Sequence[Line]) -> str:
    firing = [line.severity for line in lines if line.kind == "fires"]
    return max(firing, key=RANK.__getitem__) if firing else "info"


def subject(lines: Sequence[Line]) -> str:
    rules = list(dict.fromkeys(line.rule for line in lines))
    clusters = ", ".join(dict.fromkeys(line.cluster for line in lines if line.cluster))
    place = f"{clusters}: " if clusters else ""
    firing = [line for line in lines if line.kind == "fires"]
    head = f"[{worst(lines)}] " if firing else "[over] "
    if len(rules) > 1:
        return f"{head}{place}{counted(len(firing), 'alert')}, {len(lines) - len(firing)} over"
    told = firing or list(lines)
    if len(told) == 1:
        return f"{head}{place}{rules[0]}: {told[0].text}"
    return f"{head}{place}{rules[0]}: {len(told)} × {fold([line.object for line in told])}"


def body(lines: Sequence[Line], zone: tzinfo) -> str:
    parts = []
    for kind, title in (("fires", "Now"), ("over", "Over")):
        chosen = [line for line in lines if line.kind == kind]
        if not chosen:
            continue
        if len(chosen) > 1:
            title += f": {len(chosen)}, {fold([line.object for line in chosen])[:1000]}"
        shown = "\n".join(_written(line, zone) for line in chosen[:LINES])
        more = f"\n… and {len(chosen) - LINES} more" if len(chosen) > LINES else ""
        parts.append(f"{title}\n{shown}{more}")
    parts.append("`leadline alerts list` shows all; `leadline alerts silence RULE --for 2h`.")
    return "\n\n".join(parts)


def _written(line: Line, zone: tzinfo) -> str:
    since = datetime.fromtimestamp(line.since, zone)
    until = datetime.fromtimestamp(line.ended, zone) if line.ended else None
    span = f"{since:%Y-%m-%d %H:%M}" + (f" to {until:%H:%M %Z}" if until else f" {since:%Z}")
    return f"{span}  {line.cluster}  {line.rule}: {line.text}"
