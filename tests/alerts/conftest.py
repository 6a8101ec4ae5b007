"""
A site whose alerts go to one JSON file, and samples to trip its rules with.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.message import Message as Mail
from pathlib import Path
from typing import Any

import orjson
import pytest

from leadline.alerts.engine import Engine
from leadline.alerts.events import record
from leadline.alerts.ledger import Ledger
from leadline.alerts.notifiers import build_notifier
from leadline.alerts.outbox import Outbox
from leadline.alerts.rules import Rule
from leadline.alerts.settings import AlertSettings, NotifierSettings, PersonSettings
from leadline.alerts.watch import Look, Sighting
from leadline.settings.typed import Duration
from leadline.store.contract import Store
from leadline.store.memory import MemoryStore

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOT = Rule("silent", "{object} is hot")


def hot(*names: str, on: bool = True, **fields: object) -> list[Sighting]:
    return [Sighting(cluster="fox", object=name, on=on, **fields) for name in names]  # type: ignore[arg-type]


@dataclass
class Site:
    """
    Turns of the alerts at times of the test's own, over sightings it makes up.
    """

    folder: Path
    settings: AlertSettings = field(
        default_factory=lambda: AlertSettings(send=True, settle=Duration(0))
    )
    person: PersonSettings = field(default_factory=PersonSettings)
    rules: dict[str, Rule] = field(default_factory=lambda: {"hot": HOT})
    store: MemoryStore = field(default_factory=MemoryStore)
    complete: bool = False
    told: int = 0
    step: Callable[[str], None] | None = None  # called before each SQL statement

    def turn(self, seen: list[Sighting], minutes: float = 0) -> list[dict[str, str]]:
        """
        A new process, as after a restart, sees this; the messages that arrived by it.
        """
        now = NOON + timedelta(minutes=minutes)
        person = replace(self.person, by="file", address=str(self.folder / "told"), zone="UTC")
        people = {"admins": person}

        def see(rule: Rule, store: Store, now: datetime) -> Look:
            return Look(tuple(seen), self.complete)

        ledger = Ledger(self.folder / "state")
        ledger.db.set_trace_callback(self.step)
        Engine(ledger, self.rules, self.settings, people, see).evaluate(self.store, now)
        record(ledger, self.store)
        box = Outbox(ledger, self.settings, people, lambda n: build_notifier(n, NotifierSettings()))
        box.gather(now)
        box.deliver(now)
        ledger.close()
        before, lines = self.told, self.lines()
        self.told = len(lines)
        return lines[before:]

    def lines(self) -> list[dict[str, str]]:
        path = self.folder / "told"
        if not path.exists():
            return []
        return [orjson.loads(line) for line in path.read_bytes().splitlines()]

    def waiting(self) -> list[dict[str, str]]:
        ledger = Ledger(self.folder / "state")
        rows = [dict(row) for row in ledger.rows("SELECT * FROM outbox ORDER BY rowid")]
        ledger.close()
        return rows


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


class Inbox:
    """
    What a real SMTP server took; it refuses whom it does not know.
    """

    def __init__(self) -> None:
        self.mails: list[Mail] = []
        self.goodbye = "221 bye"

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, to: str, _: Any) -> str:  # noqa: N802 - aiosmtpd's name
        if to.startswith("nobody"):
            return "550 no such user"
        if to.startswith("later"):
            return "451 try again later"
        envelope.rcpt_tos.append(to)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802 - aiosmtpd's name
        from email import message_from_bytes, policy

        self.mails.append(message_from_bytes(envelope.content, policy=policy.default))
        return "250 taken"

    async def handle_QUIT(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802 - aiosmtpd's name
        return self.goodbye


@pytest.fixture
def mail() -> Iterator[tuple[Inbox, int]]:
    from aiosmtpd.controller import Controller

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    inbox = Inbox()
    server = Controller(inbox, hostname="127.0.0.1", port=port)
    server.start()
    yield inbox, port
    server.stop()
