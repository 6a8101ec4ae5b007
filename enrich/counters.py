"""
The books of the worker: read = stored + duplicate + dead-lettered + dropped + expired + pending.

What is read and what is pending the spool knows by its line numbers. The rest is written just
before the spool's position is, each time with the entry before it: after a crash the entry that
fits the position counts, so that no batch is counted twice or never.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path

import orjson

from leadline.spool import Position
from leadline.spool.segments import replace_durably


@dataclass(frozen=True, slots=True)
class Tally:
    """
    What became of some documents.
    """

    stored: int = 0
    duplicate: int = 0
    dead_lettered: int = 0
    dropped_by_rule: int = 0
    dropped_by_bound: int = 0
    expired: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            **{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        )

    @property
    def total(self) -> int:
        return sum(getattr(self, f.name) for f in fields(self))


@dataclass(frozen=True, slots=True)
class Entry:
    """
    The tally of everything before a position of the spool.
    """

    position: Position = field(default_factory=Position)
    tally: Tally = field(default_factory=Tally)


class Counters:
    """
    The tally so far, durable in PATH.
    """

    def __init__(self, path: Path, position: Position) -> None:
        self._path = path
        now, before = _read(path)
        fitting = [entry for entry in (now, before) if entry.position == position]
        self.entry = fitting[0] if fitting else replace(now, position=position)
        # A spool that is ahead of its books (they were lost, or copied) lost that many to nobody.
        missing = self.entry.position.line - self.entry.tally.total
        if missing > 0:
            lost = Tally(dropped_by_bound=missing)
            self.entry = replace(self.entry, tally=self.entry.tally + lost)

    @property
    def tally(self) -> Tally:
        return self.entry.tally

    def note(self, tally: Tally, position: Position) -> None:
        """
        TALLY is what became of the documents up to POSITION; call it before the spool's commit.
        """
        total = self.entry.tally + tally
        skipped = position.line - total.total
        if skipped > 0:  # the spool's bound took them before they were read
            total += Tally(dropped_by_bound=skipped)
        entry = Entry(position, total)
        data = orjson.dumps({"now": asdict(entry), "before": asdict(self.entry)})
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        replace_durably(self._path, data)
        self.entry = entry


def _read(path: Path) -> tuple[Entry, Entry]:
    try:
        data = orjson.loads(path.read_bytes())
        return _entry(data["now"]), _entry(data["before"])
    except (OSError, ValueError, TypeError, KeyError):
        return Entry(), Entry()


def _entry(data: dict[str, dict[str, int]]) -> Entry:
    return Entry(Position(**data["position"]), Tally(**data["tally"]))
