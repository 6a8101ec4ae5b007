"""
Clocks that disagree: how far this node's is ahead of the worker's, and documents put right that
were made while it was.

When they were made is told by the clock since boot, which nobody can set; only what that moment was
called is wrong.
"""

from __future__ import annotations

import calendar
import time
from collections.abc import Callable
from datetime import datetime

import orjson

from leadline.formats import Document
from leadline.formats.times import from_epoch
from shipper.system import System

NOTABLE = 60.0  # seconds; closer clocks need no word
TIMES = ("@timestamp", "sample.time", "process.start")


def http_date(text: str | None) -> float | None:
    """
    The moment of an answer's Date header.
    """
    try:
        return calendar.timegm(time.strptime(text or "", "%a, %d %b %Y %H:%M:%S GMT"))
    except ValueError:
        return None


class Clocks:
    def __init__(self, system: System, clock: Callable[[], float]) -> None:
        self._system = system
        self._clock = clock
        self._boot_id = system.boot_id()
        self._last = 0.0

    def put_right(self, data: bytes, ahead: float) -> tuple[bytes, int]:
        """
        Lines with the times they would have by the worker's clock, and how many were changed. AHEAD
        is how far this node's clock is ahead of it. Of another boot, or without a time since boot,
        nothing is known.
        """
        booted = self._clock() - ahead - self._system.uptime()
        lines, changed = [], 0
        for line in data.splitlines(keepends=True):
            mended = self._mended(line, booted)
            changed += mended is not None
            lines.append(line if mended is None else mended)
        return b"".join(lines), changed

    def _mended(self, line: bytes, booted: float) -> bytes | None:
        try:
            document: Document = orjson.loads(line)
            since = document["sample.uptime"]
            wrong = epoch(document["sample.time"]) - booted - float(str(since))
        except (KeyError, TypeError, ValueError):  # no document of a look
            return None
        if abs(wrong) <= NOTABLE or document.get("boot.id") != self._boot_id:
            return None
        if abs(wrong - self._last) > 5:  # one figure for all, so that a repeat is the same document
            self._last = float(round(wrong))
        for name in TIMES:
            if name in document:
                document[name] = from_epoch(epoch(document[name]) - self._last)
        document["clock.corrected.seconds"] = self._last
        return orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)


def epoch(text: object) -> float:
    return datetime.fromisoformat(str(text)).timestamp()
