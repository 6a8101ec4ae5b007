"""
Small files that several processes of the pages read and write, one at a time.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from io import StringIO
from pathlib import Path
from threading import Lock
from typing import TextIO

TRIES, WINDOW = 10, timedelta(minutes=5)  # wrong passwords for one name
_TRY = re.compile(r"(\d+) (\S+)")


@contextmanager
def alone(file: Path) -> Iterator[TextIO]:
    """
    FILE, while no other process has it; nothing that lasts where it cannot be written, or the disk
    is full.
    """
    try:
        handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError:
        yield StringIO()
        return
    shared = os.fdopen(handle, "r+", encoding="utf-8")
    try:
        fcntl.flock(shared, fcntl.LOCK_EX)
        yield shared
    finally:
        with suppress(OSError):
            shared.close()


class Tries:
    """
    Who gave a wrong password when, in a file; where that cannot be written, in memory.
    """

    def __init__(self, file: Path, clock: Callable[[], datetime]) -> None:
        self._file = file
        self._clock = clock
        self._lock = Lock()
        self._memory = ""

    def wrong(self, name: str) -> None:
        with self._recent() as tries:
            tries.append((int(self._clock().timestamp()), name))

    def waits(self, name: str) -> bool:
        with self._recent() as tries:
            return sum(other == name for _, other in tries) >= TRIES

    @contextmanager
    def _recent(self) -> Iterator[list[tuple[int, str]]]:
        since = (self._clock() - WINDOW).timestamp()
        with self._lock, alone(self._file) as shared:
            text = shared.read() or self._memory
            known = (_TRY.fullmatch(line) for line in text.splitlines())
            tries = [(int(t[1]), t[2]) for t in known if t and int(t[1]) >= since]
            yield tries
            told = "".join(f"{when} {name}\n" for when, name in tries)
            if told != text:
                shared.seek(0)
                shared.truncate()
                shared.write(told)
                self._memory = told
