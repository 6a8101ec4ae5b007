"""
Alerts as events of the store, and back: what one machine has said, another one knows.

`event.names` of an alert's event holds who has heard of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from leadline.alerts.ledger import Ledger
from leadline.formats import Document
from leadline.formats.times import format_time, parse_time
from leadline.query.rollups import NOBODY, RULE
from leadline.store.contract import Store
from leadline.store.plan import Condition, Op
from leadline.store.scope import EVERYTHING

AT_ONCE = 5000
KNOWN = timedelta(days=90)  # back
ELSEWHERE = "elsewhere"  # the message of a note that another machine has sent
HEARD = """
SELECT group_concat(recipient, char(10)) FROM (
  SELECT DISTINCT n.recipient FROM notes n LEFT JOIN outbox o ON o.id = n.message
  WHERE n.alert = a.id AND n.kind = 'fires' AND NOT n.dry
    AND (n.message = 'elsewhere' OR o.state = 'sent')
  ORDER BY n.recipient)
"""
POST = "alerts.posted "
POSTED = """
SELECT id, subject, sent FROM outbox WHERE state = 'sent'
  AND EXISTS (SELECT 1 FROM marks WHERE name = 'post:' || outbox.id)
  AND NOT EXISTS (SELECT 1 FROM marks WHERE name = 'told:' || outbox.id)
"""
# What another machine has said is not said here, nor what still waits here to say it.
TOLD = """
INSERT INTO notes (alert, recipient, dry, kind, at, message) VALUES (?, ?, 0, 'fires', ?, ?)
ON CONFLICT DO UPDATE SET message = excluded.message
WHERE message IS NULL OR message IN (SELECT id FROM outbox WHERE state <> 'sent')
"""
WAITS = "SELECT message FROM notes WHERE alert = ? AND recipient = ? AND NOT dry AND message <> ''"
IDLE = """
DELETE FROM outbox WHERE id = ? AND state <> 'sent'
  AND id NOT IN (SELECT message FROM notes WHERE message IS NOT NULL)
"""
CHANGED = f"""
SELECT * FROM (SELECT a.*, coalesce(({HEARD}), '') AS heard_now FROM alerts a)
WHERE stored < CASE WHEN ended IS NULL THEN 1 ELSE 2 END OR heard <> heard_now LIMIT {AT_ONCE}
"""  # noqa: S608 - our own words


def record(ledger: Ledger, store: Store) -> int:
    """
    What changed since the store was last told; how many alerts.
    """
    rows = [dict(row) for row in ledger.rows(CHANGED)]
    if not rows:
        return 0
    outcome = store.write([_event(row) for row in rows], "replace")
    if outcome.kept:
        return 0  # all of them again next time: a repeat changes nothing
    with ledger.change():
        for row in rows:
            stage = 1 if row["ended"] is None else 2
            told = "UPDATE alerts SET stored = ?, heard = ? WHERE id = ?"
            ledger.do(told, stage, row["heard_now"], row["id"])
    return len(rows)


def _event(one: Mapping[str, Any]) -> Document:
    since, ended = float(one["since"]), one["ended"]
    changed = float(ended) if ended is not None else since
    heard = str(one["heard_now"]).splitlines()
    return {
        "dataset": "event",
        "@timestamp": _time(since),
        "cluster": one["cluster"] or NOBODY,
        "rule.name": one["rule"],
        "event.object": str(one["object"])[:1000],
        "event.kind": "alert",
        "event.severity": one["severity"],
        "event.start": _time(since),
        "message": one["text"],
        "record.version": int(changed * 1000),
        **({"event.names": heard} if heard else {}),
        **({"event.end": _time(changed)} if ended is not None else {}),
        **({"event.value": one["value"]} if one["value"] is not None else {}),
        **({"user.name": one["user"]} if one["user"] else {}),
    }


def adopt(ledger: Ledger, store: Store, now: datetime) -> None:
    """
    Take over from whichever machine did it before: its open alerts with who has heard of them, and
    what it has ended. What waits here for somebody who has heard meanwhile is not sent.
    """
    events, posted = list(_known(store, now)), list(_posted(store, now))
    with ledger.change():
        for number in posted:
            ledger.set_mark(f"post:{number}", now.timestamp())
            ledger.set_mark(f"told:{number}", now.timestamp())
            ledger.do("DELETE FROM outbox WHERE id = ? AND state <> 'sent'", number)
        for event in events:
            _adopt(ledger, event, now.timestamp())


def record_posts(ledger: Ledger, store: Store) -> None:
    """
    Reports that went out, so that no other machine sends them as well.
    """
    rows = ledger.rows(POSTED)
    if rows and not store.write([_post(dict(row)) for row in rows], "create").kept:
        with ledger.change():
            for row in rows:
                ledger.set_mark(f"told:{row['id']}", float(row["sent"]))


def _post(row: Mapping[str, Any]) -> Document:
    return {
        "dataset": "event",
        "@timestamp": _time(float(row["sent"])),
        "cluster": NOBODY,
        "rule.name": RULE,
        "event.object": f"{POST}{row['id']}",
        "event.kind": "notice",
        "event.severity": "info",
        "event.start": _time(float(row["sent"])),
        "message": str(row["subject"]),
        "record.version": 1,
    }


def _posted(store: Store, now: datetime) -> Iterator[str]:
    where = (
        Condition("rule.name", Op.IN, (RULE,)),
        Condition("event.object", Op.PREFIX, (POST,)),
    )
    for batch in store.scan("event", EVERYTHING, where=where, start=now - KNOWN, end=now):
        yield from (str(event["event.object"]).removeprefix(POST) for event in batch)


def _known(store: Store, now: datetime) -> Iterator[Document]:
    where = (Condition("event.kind", Op.IN, ("alert",)),)
    for batch in store.scan("event", EVERYTHING, where=where, start=now - KNOWN, end=now):
        yield from batch


def _adopt(ledger: Ledger, event: Document, now: float) -> None:
    cluster = "" if event["cluster"] == NOBODY else event["cluster"]
    key = event["rule.name"], cluster, event["event.object"]
    same = "rule = ? AND cluster = ? AND object = ? AND ended IS NULL"
    mine = ledger.rows(f"SELECT id, since FROM alerts WHERE {same}", *key)  # noqa: S608 - our own words
    since = _moment(event, "event.start")
    if "event.end" in event:
        if mine and mine[0]["since"] <= since + 1:
            _end(ledger, int(mine[0]["id"]), _moment(event, "event.end"))
        return
    number = int(mine[0]["id"]) if mine else _insert(ledger, event, key, since, now)
    names = event.get("event.names") or []
    assert isinstance(names, list)
    for recipient in names:
        waits = ledger.rows(WAITS, number, recipient)
        ledger.do(TOLD, number, recipient, now, ELSEWHERE)
        for row in waits:
            ledger.do(IDLE, row["message"])


def _end(ledger: Ledger, number: int, ended: float) -> None:
    """
    Over, and told by the machine that saw it.
    """
    ledger.do("UPDATE alerts SET ended = ?, stored = 2 WHERE id = ?", ended, number)
    ledger.do(
        "INSERT OR IGNORE INTO notes (alert, recipient, dry, kind, at, message)"
        " SELECT alert, recipient, dry, 'over', ?, ? FROM notes WHERE alert = ? AND kind = 'fires'",
        *(ended, ELSEWHERE, number),
    )


def _insert(
    ledger: Ledger, event: Document, key: tuple[object, ...], since: float, now: float
) -> int:
    ledger.do(
        "INSERT INTO alerts (rule, cluster, object, severity, since, seen, value, text, user,"
        " stored) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1)",
        *key,
        *(event.get("event.severity"), since, now, event.get("event.value")),
        *(event.get("message"), event.get("user.name")),
    )
    return int(ledger.rows("SELECT last_insert_rowid() AS id")[0]["id"])


def _moment(event: Document, name: str) -> float:
    return parse_time(str(event[name])).timestamp()


def _time(moment: float) -> str:
    return format_time(datetime.fromtimestamp(moment, UTC))
