"""
Every chore by name, and the loop that does what is due.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from leadline.chores.lease import done, take
from leadline.chores.rollup import roll_up
from leadline.store.contract import Store


@dataclass(frozen=True, slots=True)
class Work:
    """
    What a chore may use.
    """

    store: Store
    now: datetime
    zone: Callable[[str], ZoneInfo]


@dataclass(frozen=True, slots=True)
class Chore:
    name: str
    every: int  # seconds between two runs, whoever does them
    work: Callable[[Work], tuple[int, str]]  # how much was done, and in words


def rollup(work: Work) -> tuple[int, str]:
    made = roll_up(work.store, work.now, work.zone)
    void = f", {made.void:,} made void" if made.void else ""
    return made.written, f"{made.units:,} hours of nodes, {made.written:,} documents{void}"


def compact(work: Work) -> tuple[int, str]:
    """
    Merge small files, where the store has files.
    """
    merge = getattr(work.store, "compact", None)
    if merge is None:
        return 0, "nothing to merge in this store"
    merged = int(merge())
    return merged, f"{merged:,} files merged"


CHORES: tuple[Chore, ...] = (
    Chore("rollup", 600, rollup),
    Chore("compact", 3600, compact),
)


def do(chore: Chore, work: Work, *, forced: bool = False) -> str | None:
    """
    One line on what was done; None when this slot's turn is somebody else's.
    """
    if not take(work.store, chore.name, work.now, chore.every) and not forced:
        return None
    begun = time.monotonic()
    count, words = chore.work(work)
    done(work.store, chore.name, work.now, work.now, count, chore.every)
    return f"{chore.name}: {words}, {time.monotonic() - begun:.1f} s"
