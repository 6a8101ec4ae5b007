"""
Snapshots of several nodes on one grid of intervals.

Each node looks at its own second of the minute, a little early now and late then. Its intervals
are laid around the second it mostly looks at, so that a look that comes early is not taken for a
second one of the interval before.
"""

from __future__ import annotations

import cmath
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import floor, tau

from leadline.formats.times import parse_time
from leadline.store.plan import Row


@dataclass(frozen=True, slots=True)
class Grid:
    first: int
    interval: float
    phases: Mapping[str, float]  # of each node: seconds into the interval at which it looks

    def tick(self, row: Row) -> int:
        host = str(row["host.name"])
        return _tick(_seconds(row), self.interval, self.phases.get(host, 0.0)) - self.first


def grid_of(rows: Iterable[Row], interval: float) -> Grid:
    moments: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        moments[str(row["host.name"])].append(_seconds(row))
    phases = {host: _phase(times, interval) for host, times in moments.items()}
    first = min(
        _tick(time, interval, phases[host]) for host, times in moments.items() for time in times
    )
    return Grid(first, interval, phases)


def _phase(times: Iterable[float], interval: float) -> float:
    """
    The mean on the circle of the interval: 59 s and 1 s are 0 s.
    """
    turn = tau / interval
    middle = sum(cmath.exp(1j * turn * (time % interval)) for time in times)
    return cmath.phase(middle) / turn % interval


def _tick(time: float, interval: float, phase: float) -> int:
    return floor((time - phase) / interval + 0.5)


def _seconds(row: Row) -> float:
    return parse_time(str(row["@timestamp"])).timestamp()
