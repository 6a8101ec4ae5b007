"""
Which machine does the alerts: the one that had them before, as long as it is there.

Slots of five minutes are claimed as events, and every store refuses the second claim. Who holds a
slot claims the next one before it ends; when it does not, because it is gone, another machine
claims it, and takes over what was said from the store. While the store is away who had the
alerts last goes on with them.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from leadline.alerts.events import adopt
from leadline.alerts.ledger import Ledger
from leadline.errors import StoreError
from leadline.formats import Document
from leadline.formats.times import format_time
from leadline.query.rollups import NOBODY, RULE
from leadline.store.contract import Store
from leadline.store.plan import Condition, Op
from leadline.store.scope import EVERYTHING

SLOT = 300.0
GRACE = 75.0  # who did not have them lets who had them come first, also when the store is back
OBJECT = "alerts"
MINE, OTHERS, AWAY = "holder:mine", "holder:others", "holder:away"


def holds(ledger: Ledger, store: Store, now: datetime) -> bool:
    """
    Whether this machine does the alerts in the slot of NOW. Raises what the store raises.
    """
    moment = now.timestamp()
    slot = moment // SLOT * SLOT
    if ledger.mark(MINE) < slot and not _take(ledger, store, slot, now):
        return False
    if moment >= slot + SLOT / 2 and ledger.mark(MINE) < slot + SLOT:
        _claim(ledger, store, slot + SLOT)
    return had_them(ledger)


def had_them(ledger: Ledger) -> bool:
    """
    Whether no other machine is known to have had them since; what counts while the store is away.
    """
    return ledger.mark(MINE) >= ledger.mark(OTHERS)


def _take(ledger: Ledger, store: Store, slot: float, now: datetime) -> bool:
    before = ledger.mark(MINE)
    waits = max(slot, ledger.mark(AWAY)) + GRACE
    if not had_them(ledger) and now.timestamp() < waits and _owner(store, slot) is None:
        return False
    if not _claim(ledger, store, slot):
        return False
    if before < slot - SLOT:  # there was time for another one
        adopt(ledger, store, now)
    return True


def _claim(ledger: Ledger, store: Store, slot: float) -> bool:
    me = ledger.identity()
    outcome = store.write([_event(slot, me)], "create")
    if outcome.kept:
        raise StoreError(outcome.reason or "the store takes nothing now")
    mine = outcome.accepted == 1 or _owner(store, slot) == me
    ledger.set_mark(MINE if mine else OTHERS, slot)
    return mine


def _owner(store: Store, slot: float) -> str | None:
    where = (Condition("rule.name", Op.IN, (RULE,)), Condition("event.object", Op.IN, (OBJECT,)))
    begin = datetime.fromtimestamp(slot, UTC)
    end = begin + timedelta(seconds=1)
    for batch in store.scan("event", EVERYTHING, where=where, start=begin, end=end):
        for event in batch:
            return str(event["event.reason"])
    return None


def _event(slot: float, me: str) -> Document:
    begin = format_time(datetime.fromtimestamp(slot, UTC))
    return {
        "dataset": "event",
        "@timestamp": begin,
        "cluster": NOBODY,
        "rule.name": RULE,
        "event.object": OBJECT,
        "event.kind": "notice",
        "event.severity": "info",
        "event.start": begin,
        "event.reason": me,
        "message": "Who does the alerts",
        "record.version": 1,
    }
