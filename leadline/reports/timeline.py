"""
From changes of state to spans of time. Nobody looked is `unknown`, never up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from leadline.formats import Document
from leadline.formats.nodestate import Time, time_class, written
from leadline.formats.times import parse_time

GAP = 900.0  # seconds between two looks; longer, and nobody knows what happened in between
TOLD = 26 * 3600.0  # a state is told again each day; not heard of for longer, it is unknown
CLASSES: tuple[Time, ...] = ("up", "drained", "down", "unknown")

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Span:
    """
    A node in one state, from one moment to another, Unix seconds.
    """

    start: float
    end: float
    state: str  # MIXED+DRAIN; "" where nobody looked
    time: Time
    reason: str = ""
    reason_user: str = ""
    reservations: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        return self.end - self.start


def covered(looks: Iterable[float], gap: float = GAP) -> list[Interval]:
    """
    Stretches of time that looks speak for: from each look to the next, where that is near enough.
    """
    found: list[Interval] = []
    for look in sorted(looks):
        if found and look - found[-1][1] <= gap:
            found[-1] = (found[-1][0], look)
        else:
            found.append((look, look))
    return found


def spans(
    changes: Sequence[Document], looked: Sequence[Interval], start: float, end: float
) -> list[Span]:
    """
    What a node was from START to END without a hole. CHANGES are its state documents by time;
    the last one before START tells how it began.
    """
    found: list[Span] = []
    for document, begin, until in _in_force(changes, start, end):
        at = begin
        for first, last in looked:
            first, last = max(first, begin), min(last, until)
            if first >= last:
                continue
            _add(found, _unknown(at, first))
            _add(found, _span(document, first, last))
            at = last
        _add(found, _unknown(at, until))
    return found


def _in_force(
    changes: Sequence[Document], start: float, end: float
) -> Iterable[tuple[Document | None, float, float]]:
    current: Document | None = None
    at, until = start, start
    for document in changes:
        moment = parse_time(str(document["@timestamp"])).timestamp()
        if moment >= end:
            break
        yield from _held(current, at, moment, until)
        at, until = max(at, moment), moment + TOLD
        current = document
    yield from _held(current, at, end, until)


def _held(
    document: Document | None, start: float, end: float, until: float
) -> Iterable[tuple[Document | None, float, float]]:
    """
    DOCUMENT as long as it may hold, nothing from there on.
    """
    last = min(max(start, until), end)
    if last > start:
        yield document, start, last
    if end > last:
        yield None, last, end


def _span(document: Document | None, start: float, end: float) -> Span:
    if document is None:
        return _unknown(start, end)
    flags = _texts(document.get("state.flags"))
    name = str(document["state.name"])
    return Span(
        start,
        end,
        written(name, flags),
        time_class(name, flags),
        str(document.get("state.reason", "")),
        str(document.get("state.reason_user", "")),
        tuple(_texts(document.get("reservations"))),
    )


def _unknown(start: float, end: float) -> Span:
    return Span(start, end, "", "unknown")


def _add(found: list[Span], span: Span) -> None:
    """
    Neighbours that are the same are one.
    """
    if span.end <= span.start:
        return
    last = found[-1] if found else None
    if last is not None and last.end == span.start and _same(last, span):
        found[-1] = Span(last.start, span.end, *_of(span))
    else:
        found.append(span)


def _of(span: Span) -> tuple[str, Time, str, str, tuple[str, ...]]:
    return span.state, span.time, span.reason, span.reason_user, span.reservations


def _same(one: Span, other: Span) -> bool:
    return _of(one) == _of(other)


def _texts(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


def by_class(found: Iterable[Span]) -> dict[Time, float]:
    """
    Seconds up, drained, down and unknown.
    """
    seconds: dict[Time, float] = dict.fromkeys(CLASSES, 0.0)
    for span in found:
        seconds[span.time] += span.seconds
    return seconds


def by_state(found: Iterable[Span]) -> dict[str, float]:
    seconds: dict[str, float] = {}
    for span in found:
        seconds[span.state] = seconds.get(span.state, 0.0) + span.seconds
    return dict(sorted(seconds.items(), key=lambda item: (-item[1], item[0])))


def availability(seconds: Mapping[Time, float]) -> float | None:
    """
    Percent of the time that is known; None when nothing is.
    """
    known = sum(value for name, value in seconds.items() if name != "unknown")
    return 100.0 * seconds["up"] / known if known > 0 else None


def apart(known: Sequence[Span], most: int) -> list[Span]:
    """
    SPANS in so many pieces at MOST, as they can be told apart in a picture: a piece with several of
    them is the worst of these.
    """
    if len(known) <= most:
        return list(known)
    begin, step = known[0].start, (known[-1].end - known[0].start) / most
    slots: dict[int, Span] = {}
    for span in known:
        last = min(most - 1, int((span.end - begin) / step - 1e-9))
        for slot in range(int((span.start - begin) / step), last + 1):
            if slot not in slots or _badness(span) > _badness(slots[slot]):
                slots[slot] = span
    found: list[Span] = []
    for slot, span in sorted(slots.items()):
        start, end = begin + slot * step, begin + (slot + 1) * step
        if found and replace(found[-1], start=0, end=0) == replace(span, start=0, end=0):
            start = found.pop().start
        found.append(replace(span, start=start, end=end))
    return found


def _badness(span: Span) -> int:
    return ("up", "unknown", "drained", "down").index(span.time)
