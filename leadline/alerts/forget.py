"""
A person taken out of the ledger: alerts about her, what was said of them, and what went to her.

That she does not want to be written to stays: without it nobody would know.
"""

from __future__ import annotations

import re

from leadline.alerts.engine import USER
from leadline.alerts.ledger import Ledger
from leadline.store.people import pattern

ABOUT = "SELECT id FROM alerts WHERE user = ?"


def forget(ledger: Ledger, name: str, alias: str | None, *, dry_run: bool) -> int:
    """
    How many alerts and messages it concerns. ALIAS None: alerts about her are deleted.
    """
    said = f"SELECT DISTINCT message FROM notes WHERE alert IN ({ABOUT}) AND message <> ''"  # noqa: S608 - our own words
    word = re.compile(pattern(name), re.ASCII)
    messages = [
        row
        for row in ledger.rows(f"SELECT * FROM outbox WHERE id IN ({said})", name)  # noqa: S608 - our own words
        if word.search(f"{row['subject']}\n{row['body']}")
    ]
    to_her = "SELECT count(*) FROM outbox WHERE recipient = ?"
    count = len(ledger.rows(ABOUT, name)) + len(messages)
    count += int(ledger.rows(to_her, f"{USER}{name}")[0][0])
    if dry_run or not count:
        return count
    with ledger.change():
        for row in messages:
            texts = [word.sub(alias or "(erased)", row[n]) for n in ("subject", "body")]
            ledger.do("UPDATE outbox SET subject = ?, body = ? WHERE id = ?", *texts, row["id"])
        ledger.do("DELETE FROM outbox WHERE recipient = ?", f"{USER}{name}")
        ledger.do("DELETE FROM notes WHERE recipient = ?", f"{USER}{name}")
        ledger.do("DELETE FROM marks WHERE name LIKE ? ESCAPE '!'", f"pace:{_like(name)}:%")
        _alerts(ledger, name, alias)
    ledger.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return count


def _alerts(ledger: Ledger, name: str, alias: str | None) -> None:
    if alias is None:
        ledger.do(f"DELETE FROM notes WHERE alert IN ({ABOUT})", name)  # noqa: S608 - our own words
        ledger.do("DELETE FROM alerts WHERE user = ?", name)
        return
    for row in ledger.rows("SELECT id, object, text FROM alerts WHERE user = ?", name):
        texts = [
            re.sub(pattern(name), alias, str(row[n]), flags=re.ASCII) for n in ("object", "text")
        ]
        told = "UPDATE OR REPLACE alerts SET user = ?, object = ?, text = ? WHERE id = ?"
        ledger.do(told, alias, *texts, row["id"])


def _like(name: str) -> str:
    safe = re.sub(r"([!%_])", r"!\1", name)
    return f"{USER}{safe}"
