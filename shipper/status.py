"""
What the shipper has done and is doing: counters that outlive it, for node documents and
`leadline status`.

Counters that can be derived from what is durable anyway are derived, so that kill -9 leaves no gap:
made = sent + refused + dropped by the bound + not accepted + pending, always.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

import orjson

from leadline.formats.times import from_epoch
from leadline.spool import Spool
from leadline.spool.segments import replace_durably
from shipper.senders.sender import READER, State

FILE_NAME = "status.json"


@dataclass(frozen=True, slots=True)
class Totals:
    """
    Documents since this state folder began.
    """

    read: int = 0  # made by the collectors
    sent: int = 0  # acknowledged by the sink
    refused: int = 0  # never to be taken: kept in refused.ndjson
    dropped_by_rule: int = 0  # left out by a filter, before they were made
    dropped_by_bound: int = 0  # waited too long, or were too many
    not_accepted: int = 0  # the spool could not take them: disk full


@dataclass(frozen=True, slots=True)
class Waiting:
    pending: int = 0
    pending_bytes: int = 0
    lag_seconds: float = 0.0


def measure(
    spool: Spool, refused: int, dropped_by_rule: int, not_accepted: int
) -> tuple[Totals, Waiting]:
    counters, left = spool.counters, spool.pending(READER)
    gone = refused + counters.dropped_documents + left.documents
    totals = Totals(
        read=counters.appended + not_accepted,
        sent=max(counters.appended - gone, 0),
        refused=refused,
        dropped_by_rule=dropped_by_rule,
        dropped_by_bound=counters.dropped_documents,
        not_accepted=not_accepted,
    )
    return totals, Waiting(left.documents, left.bytes, round(left.oldest_age, 3))


@dataclass(frozen=True, slots=True)
class Status:
    """
    One state of the shipper, as it lies in its state folder.
    """

    time: float
    started: float
    pid: int
    host: str
    interval: float
    totals: Totals
    waiting: Waiting
    reported: Totals  # what the node documents accepted so far have told
    confessed: Totals  # losses that events in the spool have told
    sink: State
    clock_ahead: float | None = None  # seconds, this node's clock less the worker's
    failures: int = 0  # of collectors, since the start
    tick_seconds: float = 0.0  # the last tick took
    unavailable: dict[str, str] | None = None  # collectors this machine cannot have, and why
    problem: str = ""  # what the last tick could not do
    notices: dict[str, float] | None = None  # what was said as an event, and when

    def as_text(self) -> bytes:
        told = asdict(self)
        for name in ("time", "started"):
            told[name] = from_epoch(told[name])
        for name in ("since", "last_sent"):
            told["sink"][name] = from_epoch(told["sink"][name]) if told["sink"][name] else None
        return orjson.dumps(told, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def write_status(folder: Path, status: Status) -> None:
    replace_durably(folder / FILE_NAME, status.as_text(), sync=False)


def read_status(folder: Path) -> dict[str, object] | None:
    """
    The status as plain values; None when no shipper has written one here.
    """
    try:
        found = orjson.loads((folder / FILE_NAME).read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return None
    return found if isinstance(found, dict) else None


def read_totals(folder: Path, name: str) -> Totals:
    """
    Counters of the run before; zeros where they cannot be read.
    """
    kept = (read_status(folder) or {}).get(name)
    if not isinstance(kept, dict):
        return Totals()
    values = {f.name: kept.get(f.name) for f in fields(Totals)}
    return Totals(**{k: v for k, v in values.items() if isinstance(v, int) and v >= 0})


def growth(now: Totals, before: Totals) -> Totals:
    """
    What to add to the sums in the store. A counter that fell (a new spool) starts anew.
    """
    grown = {
        f.name: getattr(now, f.name)
        - (getattr(before, f.name) if getattr(before, f.name) <= getattr(now, f.name) else 0)
        for f in fields(Totals)
    }
    return replace(now, **grown)
