"""
What became of the records of an import, and where the refused ones went.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

SHOWN = 120


@dataclass(slots=True)
class Tally:
    read: int = 0  # records; comments and empty lines are none
    inserted: int = 0
    updated: int = 0
    unchanged: int = 0
    duplicate: int = 0  # the same record twice in what was read
    merged: int = 0  # records that became part of another one's run
    waiting: int = 0  # records whose run has not ended: taken up again with the next import
    outside: int = 0  # of another time than was asked for
    skipped_bytes: int = 0  # known from an earlier import
    rejected: Counter[str] = field(default_factory=Counter)

    @property
    def adds_up(self) -> bool:
        parts = self.inserted + self.updated + self.unchanged + self.duplicate
        parts += self.merged + self.waiting + self.outside + self.rejected.total()
        return self.read == parts

    def lines(self) -> list[str]:
        counts = (
            f"read {self.read:,}  inserted {self.inserted:,}  updated {self.updated:,}"
            f"  unchanged {self.unchanged:,}  duplicate {self.duplicate:,}"
            f"  rejected {self.rejected.total():,}"
        )
        more = [
            f"{count:,} {what}"
            for count, what in (
                (self.merged, "merged into their run"),
                (self.waiting, "waiting for their run's end"),
                (self.outside, "outside the time asked for"),
                (self.skipped_bytes, "bytes known from an earlier import"),
            )
            if count
        ]
        reasons = [f"  {count:,} × {reason}" for reason, count in self.rejected.most_common()]
        return [counts, *([", ".join(more)] if more else []), *reasons]


class Rejects:
    """
    A file of refused lines, each after a comment that says where it stood and what is wrong.

    Once mended it can be read like the file it came from: `#` lines are comments to it.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.count = 0
        self._file: IO[bytes] | None = None

    def add(self, name: str, line: int, raw: bytes, reason: str) -> None:
        self.count += 1
        if self.path is None:
            return
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("ab")
            self.path.chmod(0o600)
        self._file.write(f"# {name}:{line}: {reason}\n".encode() + raw.rstrip(b"\n") + b"\n")

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
