"""
Documents a worker will never take, with its reason, for a person to look at.
"""

from __future__ import annotations

import contextlib
import json
from datetime import UTC, datetime
from pathlib import Path

from leadline.spool.segments import replace_durably

LIMIT = 10 << 20  # bytes; then the file becomes `.1`, and the one before is gone


class RefusedFile:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._counter = path.with_suffix(".count")
        self.count = read_count(self._counter)

    def add(self, line: bytes, reason: str, now: float) -> None:
        """
        Keep the document and count it; on a full disk it is at least counted.
        """
        self.count += 1
        record = {
            "time": datetime.fromtimestamp(now, UTC).isoformat(timespec="seconds"),
            "reason": reason,
            "document": line.decode(errors="replace"),
        }
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if self.path.exists() and self.path.stat().st_size > LIMIT:
                self.path.replace(self.path.with_name(self.path.name + ".1"))
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
        with contextlib.suppress(OSError):
            replace_durably(self._counter, b"%d" % self.count)


def read_count(path: Path) -> int:
    try:
        return int(path.read_bytes())
    except (OSError, ValueError):
        return 0
