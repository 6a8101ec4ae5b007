"""
What people asked for: silences, and not to be written to. Kept in the ledger, so that they hold
while the store is away, and in the store, for whichever machine does the alerts.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from leadline.alerts.ledger import Ledger
from leadline.formats import Document
from leadline.formats.times import format_time, parse_time
from leadline.query.rollups import NOBODY, RULE
from leadline.store.contract import Store
from leadline.store.plan import Condition, Op
from leadline.store.scope import EVERYTHING

FOREVER = 4e9
MARK = "alerts.wish "
BACK = timedelta(days=365)  # events are kept so long
AGAIN = 200 * 86400.0  # what lasts longer is told once more before its event goes


def add(
    ledger: Ledger, kind: str, *, until: float, now: float, rule: str = "*", cluster: str = "*",
    object: str = "*", reason: str = "",
) -> str:  # fmt: skip
    number = uuid.uuid4().hex[:12]
    ledger.do(
        "INSERT INTO wishes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)",
        *(number, kind, rule, cluster, object, until, reason, now, now),
    )
    return number


def end(ledger: Ledger, number: str, now: float) -> int:
    """
    How many begin so and last no longer.
    """
    text = "UPDATE wishes SET until = ?, changed = ?, shared = 0 WHERE id LIKE ? AND until > ?"
    return ledger.do(text, now, now, f"{number}%", now) if number.isalnum() else 0


def current(ledger: Ledger, kind: str, now: float) -> list[dict[str, Any]]:
    text = "SELECT * FROM wishes WHERE kind = ? AND until > ? ORDER BY made"
    return [dict(row) for row in ledger.rows(text, kind, now)]


def share(ledger: Ledger, store: Store, now: datetime) -> None:
    """
    Tell the store what it does not know, and take from it what other machines were told.
    """
    moment = now.timestamp()
    text = "SELECT * FROM wishes WHERE NOT shared OR (until > ? AND shared < ?)"
    rows = [dict(row) for row in ledger.rows(text, moment, moment - AGAIN)]
    if rows:
        outcome = store.write([_event(row, moment) for row in rows], "replace")
        if outcome.kept or outcome.rejected:
            return
    found = list(_told(store, now))
    with ledger.change():
        for row in rows:
            text = "UPDATE wishes SET shared = ? WHERE id = ? AND changed = ?"
            ledger.do(text, moment, row["id"], row["changed"])
        for event in found:
            _take(ledger, event, moment)


def _event(row: dict[str, Any], now: float) -> Document:
    begin = now if row["shared"] else float(row["made"])
    return {
        "dataset": "event",
        "@timestamp": _time(begin),
        "cluster": NOBODY,
        "rule.name": RULE,
        "event.object": f"{MARK}{row['id']}",
        "event.kind": "notice",
        "event.severity": "info",
        "event.start": _time(float(row["made"])),
        "event.end": _time(float(row["until"])),
        "event.reason": row["reason"] or row["kind"],
        "message": f"{row['kind']} {row['rule']} {row['object']}",
        "labels": {name: row[name] for name in ("kind", "rule", "cluster", "object", "reason")},
        "record.version": int(float(row["changed"]) * 1000),
    }


def _told(store: Store, now: datetime) -> Iterator[Document]:
    where = (
        Condition("rule.name", Op.IN, (RULE,)),
        Condition("event.object", Op.PREFIX, (MARK,)),
    )
    ahead = now + timedelta(hours=1)  # on a machine whose clock is, it is no less a wish
    for batch in store.scan("event", EVERYTHING, where=where, start=now - BACK, end=ahead):
        yield from batch


def _take(ledger: Ledger, event: Document, now: float) -> None:
    said, number = event.get("labels"), str(event["event.object"]).removeprefix(MARK)
    assert isinstance(said, dict)
    changed = int(str(event["record.version"])) / 1000
    made, until = _moment(event, "event.start"), _moment(event, "event.end")
    names = ("kind", "rule", "cluster", "object")
    ledger.do(
        "INSERT INTO wishes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET until = excluded.until, changed = excluded.changed,"
        " shared = excluded.shared WHERE excluded.changed > changed + 0.001",
        *(number, *(str(said.get(name, "*")) for name in names)),
        *(until, str(said.get("reason", "")), made, changed, now),
    )


def _moment(event: Document, name: str) -> float:
    return parse_time(str(event[name])).timestamp()


def _time(moment: float) -> str:
    return format_time(datetime.fromtimestamp(moment, UTC))
