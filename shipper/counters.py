"""
Counters between two looks: what a delta is taken against, kept per boot so that a shipper that
was restarted, or runs once a minute from cron, goes on where it stopped.
"""

from __future__ import annotations

import os
from pathlib import Path

import orjson

FILE_NAME = "counters.json"


class Counters:
    """
    The last value of every cumulative counter, by name.
    """

    def __init__(self, before: dict[str, float] | None = None) -> None:
        self._before = before or {}
        self._now: dict[str, float] = {}

    def turn(self) -> None:
        """
        A new tick begins: what was read in the last one is what deltas are taken against.

        A name nobody read in between is kept, so that one bad tick costs no gap.
        """
        self._before.update(self._now)
        self._now = {}

    def delta(self, name: str, value: float | None) -> float | None:
        """
        Growth of NAME since it was last read; None at first sight and when it fell.
        """
        if value is None:
            return None
        before = self._before.get(name)
        self._now[name] = value
        return value - before if before is not None and value >= before else None

    def whole(self, name: str, value: int | None) -> int | None:
        change = self.delta(name, value)
        return None if change is None else int(change)

    def before(self, name: str) -> float | None:
        return self._before.get(name)

    def values(self) -> dict[str, float]:
        return {**self._before, **self._now}


class State:
    """
    One file in a folder: the last tick's time, counters, and what collectors want to remember.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def load(self, boot_id: str) -> dict[str, object]:
        """
        What was kept in this boot, of another one what lasts; empty when there is nothing, or
        nothing that can be read.
        """
        if self.folder is None:
            return {}
        try:
            kept = orjson.loads((self.folder / FILE_NAME).read_bytes())
        except (OSError, orjson.JSONDecodeError):
            return {}
        if not isinstance(kept, dict):
            return {}
        return kept if kept.get("boot.id") == boot_id else {"lasting": kept.get("lasting")}

    def save(self, boot_id: str, kept: dict[str, object]) -> None:
        """
        Written before the tick's documents go out: a crash in between leaves a gap in the
        measurement, never the same seconds counted twice. What lasts is on disk before it counts.
        """
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        target = self.folder / FILE_NAME
        draft = target.with_suffix(f".{os.getpid()}")
        with draft.open("wb") as file:
            file.write(orjson.dumps({"boot.id": boot_id, **kept}))
            if kept.get("lasting"):
                file.flush()
                os.fsync(file.fileno())
        draft.replace(target)
