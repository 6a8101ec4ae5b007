"""
Every chore by name, and the loop that does what is due.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from leadline.alerts.run import Alerts
from leadline.chores.capacity import keep_capacity
from leadline.chores.lease import done, take
from leadline.chores.names import hide_names
from leadline.chores.retain import retain
from leadline.chores.rollup import roll_up
from leadline.chores.seal import seal
from leadline.formats.counted import counted
from leadline.reports.finding import Case
from leadline.reports.findings import detected
from leadline.reports.inventory import Inventory
from leadline.reports.remembered import remember
from leadline.reports.settings import FindingSettings
from leadline.settings.common import RetentionSettings
from leadline.store.contract import Store
from leadline.store.scope import EVERYTHING

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Work:
    """
    What a chore may use.
    """

    store: Store
    now: datetime
    zone: Callable[[str], ZoneInfo]
    alerts: Alerts | None = None  # as the settings want them
    retention: RetentionSettings | None = None  # None: nothing is deleted
    inventory: Inventory | None = None  # nodes as the settings list them
    findings: FindingSettings | None = None  # when a detector speaks up
    alias: Callable[[str], str] | None = None  # a name's pseudonym; None: there is no key


@dataclass(frozen=True, slots=True)
class Chore:
    name: str
    every: int  # seconds between two runs, whoever does them
    work: Callable[[Work], tuple[int, str]]  # how much was done, and in words
    leased: bool = True  # no: each process does it, even when the store is away


def rollup(work: Work) -> tuple[int, str]:
    made = roll_up(work.store, work.now, work.zone)
    void = f", {made.void:,} made void" if made.void else ""
    late = f", {counted(made.expired, 'hour')} expired before" if made.expired else ""
    hours, documents = counted(made.units, "hour"), counted(made.written, "document")
    return made.written, f"{hours} of nodes, {documents}{void}{late}"


def capacity(work: Work) -> tuple[int, str]:
    hours, written = keep_capacity(work.store, work.now, work.zone, work.inventory)
    return written, f"{counted(hours, 'hour')} of nodes' capacity, {counted(written, 'document')}"


def seal_months(work: Work) -> tuple[int, str]:
    marked = seal(work.store, work.now)
    return len(marked), f"sealed {', '.join(marked)}" if marked else "no month is newly complete"


def delete_old(work: Work) -> tuple[int, str]:
    """
    What the settings no longer keep, if they want it done here.
    """
    if work.retention is None:
        return 0, "left to `leadline retain`"
    gone = retain(work.store, work.retention, work.now)
    count = sum(piece.documents for piece in gone)
    names = ", ".join(piece.name for piece in gone)
    return count, f"deleted {names}" if gone else "nothing is older than it is kept"


def names(work: Work) -> tuple[int, str]:
    """
    Pseudonyms in the place of names that were kept long enough.
    """
    if work.retention is None:
        return 0, "left to `leadline retain`"
    if not work.retention.names:
        return 0, "kept for ever"
    if work.alias is None:
        return 0, "no key; privacy.key names a file that holds one"
    hidden = hide_names(work.store, work.retention.names, work.alias, work.now)
    told = ", ".join(f"{count:,} {name}" for name, count in hidden.items())
    return sum(hidden.values()), f"hidden in {told}" if told else "none is older than it is kept"


def compact(work: Work) -> tuple[int, str]:
    """
    Merge small files, where the store has files.
    """
    merge = getattr(work.store, "compact", None)
    if merge is None:
        return 0, "nothing to merge in this store"
    merged = int(merge())
    return merged, f"{counted(merged, 'file')} merged"


def findings(work: Work) -> tuple[int, str]:
    """
    Look at the last day, and write down what began and what is gone.
    """
    limits = work.findings or FindingSettings()
    case = Case(work.store, EVERYTHING, work.now - DAY, work.now, work.now, limits=limits)
    change = remember(work.store, detected(case), work.now)
    words = f"{change.began:,} new, {change.lasting:,} as before, {change.over:,} gone"
    return change.began + change.over, words


def alerts(work: Work) -> tuple[int, str]:
    """
    Look by every rule, tell whom it concerns.
    """
    return work.alerts.run(work.store, work.now) if work.alerts else (0, "no settings")


CHORES: tuple[Chore, ...] = (
    Chore("rollup", 600, rollup),
    Chore("capacity", 3600, capacity),
    Chore("seal", 6 * 3600, seal_months),
    Chore("retain", 24 * 3600, delete_old),
    Chore("names", 24 * 3600, names),
    Chore("compact", 3600, compact),
    Chore("findings", 3600, findings),
    Chore("alerts", 60, alerts, leased=False),
)


def do(chore: Chore, work: Work, *, forced: bool = False) -> str | None:
    """
    One line on what was done; None when this slot's turn is somebody else's.
    """
    if not chore.leased:
        count, words = chore.work(work)
        return f"{chore.name}: {words}" if count or forced else None
    if not take(work.store, chore.name, work.now, chore.every) and not forced:
        return None
    begun = time.monotonic()
    count, words = chore.work(work)
    done(work.store, chore.name, work.now, work.now, count, chore.every)
    return f"{chore.name}: {words}, {time.monotonic() - begun:.1f} s"
