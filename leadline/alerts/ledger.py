"""
What was seen, said and still has to be said: one SQLite file, every change whole or not at all.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SCHEMA = """
CREATE TABLE IF NOT EXISTS alerts (
  id INTEGER PRIMARY KEY, rule TEXT, cluster TEXT, object TEXT, severity TEXT, since REAL,
  seen REAL, ended REAL, value REAL, text TEXT, user TEXT, hours REAL, share REAL,
  stored INTEGER DEFAULT 0, heard TEXT DEFAULT '');
CREATE UNIQUE INDEX IF NOT EXISTS open_alerts ON alerts (rule, cluster, object) WHERE ended IS NULL;
CREATE TABLE IF NOT EXISTS notes (
  id INTEGER PRIMARY KEY, alert INTEGER, recipient TEXT, dry INTEGER, kind TEXT, at REAL,
  message TEXT, UNIQUE (alert, recipient, dry, kind));
CREATE INDEX IF NOT EXISTS notes_pending ON notes (recipient) WHERE message IS NULL;
CREATE TABLE IF NOT EXISTS outbox (
  id TEXT PRIMARY KEY, recipient TEXT, subject TEXT, body TEXT, severity TEXT, made REAL,
  state TEXT, attempts INTEGER DEFAULT 0, next REAL DEFAULT 0, sent REAL, error TEXT);
CREATE INDEX IF NOT EXISTS outbox_waiting ON outbox (made) WHERE state IN ('waiting', 'sending');
CREATE TABLE IF NOT EXISTS files (message TEXT PRIMARY KEY, name TEXT, kind TEXT, data BLOB);
CREATE TABLE IF NOT EXISTS marks (name TEXT PRIMARY KEY, at REAL);
CREATE TABLE IF NOT EXISTS own (name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE IF NOT EXISTS wishes (
  id TEXT PRIMARY KEY, kind TEXT, rule TEXT, cluster TEXT, object TEXT, until REAL, reason TEXT,
  made REAL, changed REAL, shared REAL DEFAULT 0);
"""


class Ledger:
    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.folder = folder
        self.db = sqlite3.connect(folder / "alerts.db", timeout=30, isolation_level=None)
        self.db.row_factory = sqlite3.Row
        (folder / "alerts.db").chmod(0o600)
        self.db.execute("PRAGMA journal_mode = WAL")
        self.db.execute("PRAGMA synchronous = FULL")
        self.db.execute("PRAGMA secure_delete = ON")  # who ran what is in it
        self.db.executescript(SCHEMA)
        if "heard" not in {row["name"] for row in self.rows("PRAGMA table_info(alerts)")}:
            self.do("ALTER TABLE alerts ADD COLUMN heard TEXT DEFAULT ''")

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """
        Whether no other process is at it: two would send the same message.
        """
        handle = os.open(self.folder / "alerts.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True
        finally:
            os.close(handle)

    @contextmanager
    def change(self) -> Iterator[None]:
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")

    def rows(self, text: str, *values: object) -> list[sqlite3.Row]:
        return self.db.execute(text, values).fetchall()

    def do(self, text: str, *values: object) -> int:
        return self.db.execute(text, values).rowcount

    def mark(self, name: str) -> float:
        found = self.rows("SELECT at FROM marks WHERE name = ?", name)
        return float(found[0]["at"]) if found else 0.0

    def set_mark(self, name: str, at: float) -> None:
        self.do("INSERT OR REPLACE INTO marks VALUES (?, ?)", name, at)

    def open_alerts(self, rule: str | None = None) -> list[dict[str, Any]]:
        where = "WHERE ended IS NULL AND (? IS NULL OR rule = ?) ORDER BY since, id"
        return [dict(row) for row in self.rows(f"SELECT * FROM alerts {where}", rule, rule)]  # noqa: S608 - our own words

    def identity(self) -> str:
        """
        What tells this ledger from those of other machines.
        """
        self.do("INSERT OR IGNORE INTO own VALUES ('identity', ?)", uuid.uuid4().hex)
        return str(self.rows("SELECT value FROM own WHERE name = 'identity'")[0]["value"])

    def tidy(self, before: float) -> None:
        """
        Forget what ended and was sent long ago.
        """
        self.do("DELETE FROM outbox WHERE state IN ('sent', 'dry') AND made < ?", before)
        self.do("DELETE FROM files WHERE message NOT IN (SELECT id FROM outbox)")
        self.do("DELETE FROM alerts WHERE ended < ?", before)
        self.do("DELETE FROM notes WHERE alert NOT IN (SELECT id FROM alerts)")
        self.do("DELETE FROM wishes WHERE until < ?", before)

    def close(self) -> None:
        self.db.close()
