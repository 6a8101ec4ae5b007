"""
Who does a chore now: whoever writes the slot's event first. Every store refuses the second.

A slot is a span of ten minutes. Nobody has to give a lease back and nobody who died keeps it: the
next slot is free again. Should a run outlast its slot, two may meet; what they do is idempotent.
"""

from __future__ import annotations

from datetime import UTC, datetime

from leadline.formats import Document
from leadline.formats.times import format_time
from leadline.query.rollups import NOBODY, RULE
from leadline.store.contract import Store

SLOT = 600


def take(store: Store, chore: str, now: datetime, slot: int = SLOT) -> bool:
    """
    Whether this caller, and nobody else, does CHORE in the slot of NOW.
    """
    return store.write([_event(chore, now, slot)], "create").accepted == 1


def done(
    store: Store, chore: str, begun: datetime, now: datetime, made: int, slot: int = SLOT
) -> None:
    """
    Mark that CHORE, begun at BEGUN, is complete: what was taken in before is dealt with.
    """
    event = _event(chore, begun, slot)
    finished = {
        "event.end": format_time(now),
        "event.count": made,
        "record.version": int(now.timestamp() * 1000),
    }
    store.write([{**event, **finished}], "replace")


def _event(chore: str, now: datetime, slot: int) -> Document:
    begin = datetime.fromtimestamp(now.timestamp() // slot * slot, UTC)
    return {
        "dataset": "event",
        "@timestamp": format_time(begin),
        "cluster": NOBODY,
        "rule.name": RULE,
        "event.object": chore,
        "event.kind": "notice",
        "event.severity": "info",
        "event.start": format_time(now),
        "message": f"Chore {chore}",
        "record.version": 1,
    }
