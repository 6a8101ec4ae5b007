"""
When to look: at wall-clock multiples of the interval, so that all nodes of a cluster look at the
same moment (or spread over a window, by name), and nothing drifts.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import zlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ticks:
    interval: float
    offset: float = 0.0  # seconds after each multiple of the interval

    @classmethod
    def spread(cls, interval: float, window: float, host: str) -> Ticks:
        """
        The host's own place within the window, always the same.
        """
        return cls(interval, window * (zlib.crc32(host.encode()) / 2**32))

    def after(self, now: float) -> float:
        """
        The first tick later than `now`. Ticks that were missed are not made up for.
        """
        count = math.floor((now - self.offset) / self.interval) + 1
        due = count * self.interval + self.offset
        return due if due > now else due + self.interval  # when rounding met the tick itself

    def still_due(self, due: float, now: float) -> bool:
        """
        Whether waiting on for `due` makes sense: not when the clock was set back.
        """
        return now < due <= now + self.interval


class Bell:
    """
    A wait that a signal's handler or another thread may end. A pipe, because an Event taken by the
    main thread must not be set by a handler that runs in the main thread.
    """

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)

    def wait(self, seconds: float) -> None:
        ready, _, _ = select.select([self._read], [], [], max(seconds, 0.0))
        if ready:
            os.read(self._read, 4096)

    def wake(self) -> None:
        with contextlib.suppress(BlockingIOError):  # rung already, more often than anybody counts
            os.write(self._write, b"\0")

    def close(self) -> None:
        os.close(self._read)
        os.close(self._write)
