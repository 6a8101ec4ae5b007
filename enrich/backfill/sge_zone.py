"""
A zone's clock in SQL: the changes within a file's time, found once, as a CASE over seconds.
"""

from __future__ import annotations

from bisect import bisect_right
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo


def offset(name: str, zone: ZoneInfo, first: int, last: int, *, local: bool = False) -> str:
    """
    Seconds to add to UTC for the zone's clock, between FIRST and LAST. LOCAL: NAME is the clock's.
    """
    found = changes(zone, first, last)
    begin = _offset_at(zone, first - 2 * 86400)
    if not found:
        return str(begin)
    whens, before = [], begin
    for moment, after in found:
        limit = moment + (before if local else 0)
        whens.append(f"WHEN {name} < {limit} THEN {before}")
        before = after
    return f"(CASE {' '.join(whens)} ELSE {before} END)"


@lru_cache(maxsize=64)
def changes(zone: ZoneInfo, first: int, last: int) -> list[tuple[int, int]]:
    """
    The moments between FIRST and LAST at which the zone's clock is changed, with the new offset.
    """
    found = []
    moment = (first - 2 * 86400) // 86400 * 86400
    before = _offset_at(zone, moment)
    while moment < last + 3 * 86400:
        after = _offset_at(zone, moment + 86400)
        if after != before:
            seconds = range(moment, moment + 86401)
            place = bisect_right(seconds, before, key=lambda s: _step(zone, s, before))
            found.append((seconds[place], after))
            before = after
        moment += 86400
    return found


def _step(zone: ZoneInfo, seconds: int, before: int) -> int:
    return before if _offset_at(zone, seconds) == before else before + 1


def _offset_at(zone: ZoneInfo, seconds: int) -> int:
    moment = datetime.fromtimestamp(0, UTC) + timedelta(seconds=seconds)
    found = moment.astimezone(zone).utcoffset()
    assert found is not None
    return int(found.total_seconds())
