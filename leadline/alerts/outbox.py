"""
Notes become messages, messages wait until they are taken: nothing is lost, nothing made twice.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from sqlite3 import Row
from zoneinfo import ZoneInfo

from leadline.alerts.engine import USER
from leadline.alerts.ledger import Ledger
from leadline.alerts.notifiers import Attachment, Letter, Message, Notifier, RefusedError
from leadline.alerts.settings import SPAN, AlertSettings, PersonSettings
from leadline.alerts.wording import Line, body, subject, worst
from leadline.settings.zones import local_zone

LONGEST_WAIT = 3600.0
RUN_SECONDS = 60.0  # one run of deliveries ends after so long; the rest is for the next
PENDING = """
SELECT n.id AS note, n.kind, n.recipient, n.dry, n.at, a.rule, a.cluster, a.object, a.severity,
       a.since, a.ended, a.text
FROM notes n JOIN alerts a ON a.id = n.alert WHERE n.message IS NULL
ORDER BY n.recipient, n.dry, a.cluster, a.rule, n.id
"""


@dataclass(frozen=True, slots=True)
class Outbox:
    ledger: Ledger
    settings: AlertSettings
    people: Mapping[str, PersonSettings]
    notifier: Callable[[str], Notifier]

    def gather(self, now: datetime) -> int:
        """
        Make the messages whose time has come; how many.
        """
        made = 0
        with self.ledger.change():
            rows = self.ledger.rows(PENDING)
            for (to, dry), notes in groupby(rows, key=lambda row: (row["recipient"], row["dry"])):
                person = self.person(to)
                if person is None:
                    continue
                group = (lambda row: ()) if person.digest else (lambda row: (row[6], row[5]))
                for _, part in groupby(notes, key=group):
                    made += self._message(to, bool(dry), person, list(part), now)
        return made

    def person(self, to: str) -> PersonSettings | None:
        if not to.startswith(USER):
            return self.people.get(to)
        address = f"{to.removeprefix(USER)}@{self.settings.user_domain}"
        return PersonSettings(by=self.settings.user_by, address=address, severity="info")

    def _message(
        self,
        to: str,
        dry: bool,
        person: PersonSettings,
        rows: list[Row],
        now: datetime,
    ) -> int:
        zone = ZoneInfo(person.zone) if person.zone else local_zone()
        local, moment = now.astimezone(zone), now.timestamp()
        if person.quiet and not person.digest and is_quiet(person.quiet, local):
            rows = [row for row in rows if row["severity"] == "critical"]
        if not rows:
            return 0
        mark = (
            f"digest:{to}:{dry}" if person.digest else f"pace:{to}:{dry}:{rows[0][6]}:{rows[0][5]}"
        )
        if not self._due(to, person, rows, mark, local):
            return 0
        names = Line.__dataclass_fields__
        lines = [Line(**{name: row[name] for name in names}) for row in rows]
        number = uuid.uuid4().hex
        self.ledger.do(
            "INSERT INTO outbox (id, recipient, subject, body, severity, made, state)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            *(number, to, subject(lines), body(lines, zone), worst(lines), moment),
            "dry" if dry else "waiting",
        )
        for line in lines:
            self.ledger.do("UPDATE notes SET message = ? WHERE id = ?", number, line.note)
        self.ledger.set_mark(mark, moment)
        return 1

    def _due(
        self,
        to: str,
        person: PersonSettings,
        rows: list[Row],
        mark: str,
        local: datetime,
    ) -> bool:
        now, last = local.timestamp(), self.ledger.mark(mark)
        if person.digest:
            hour, minute = map(int, person.digest.split(":"))
            today = local.replace(hour=hour, minute=minute, second=0, microsecond=0).timestamp()
            return now >= today > last
        pause = self.settings.user_again if to.startswith(USER) else self.settings.pause
        oldest = min(row["at"] for row in rows)
        return now >= last + pause and now >= oldest + self.settings.settle

    def posted(self, once: str, to: str) -> bool:
        """
        Whether ONCE went to this person before; what only a dry run said still has to go.
        """
        return bool(self.ledger.mark(f"post:{self._number(once, to)}"))

    def post(self, once: str, to: str, letter: Letter, now: datetime) -> bool:
        """
        A report or digest of somebody else's making for a person; False: ONCE was posted before.
        """
        number, moment = self._number(once, to), now.timestamp()
        with self.ledger.change():
            if self.posted(once, to):
                return False
            self.ledger.set_mark(f"post:{number}", moment)
            self.ledger.do(
                "INSERT INTO outbox (id, recipient, subject, body, severity, made, state)"
                " VALUES (?, ?, ?, ?, 'info', ?, ?)",
                *(number, to, letter.subject, letter.text, moment),
                "waiting" if self.settings.send else "dry",
            )
            if letter.file is not None and self.settings.send:
                file = letter.file
                text = "INSERT INTO files VALUES (?, ?, ?, ?)"
                self.ledger.do(text, number, file.name, file.kind, file.data)
        return True

    def _number(self, once: str, to: str) -> str:
        dry = "" if self.settings.send else " dry"
        return uuid.uuid5(uuid.NAMESPACE_OID, f"{to} {once}{dry}").hex

    def deliver(self, now: datetime) -> tuple[int, list[str]]:
        """
        Try every message that waits, each recipient's in order; how many were taken, and troubles.
        """
        moment, begun, sent = now.timestamp(), time.monotonic(), 0
        troubles: dict[str, str] = {}
        text = "SELECT * FROM outbox WHERE state IN ('waiting', 'sending') ORDER BY made, rowid"
        for row in self.ledger.rows(text):
            to = row["recipient"]
            if to in troubles or time.monotonic() - begun > RUN_SECONDS:
                continue
            if row["next"] > moment:
                troubles[to] = f"{to}: {row['error']}"
                continue
            message = Message(
                row["id"], row["subject"], row["body"], row["severity"], self._file(row["id"])
            )
            state, trouble = self._attempt(to, message)
            wait = min(60 * 2 ** min(row["attempts"], 10), LONGEST_WAIT)
            self.ledger.do(
                "UPDATE outbox SET state = ?, error = ?, next = ?, sent = ? WHERE id = ?",
                *(state, trouble, moment + wait, moment if state == "sent" else None, row["id"]),
            )
            if state == "sent":
                self.ledger.do("DELETE FROM files WHERE message = ?", row["id"])
            sent += state == "sent"
            if trouble:
                troubles[to] = f"{to}: {trouble}"
        return sent, list(troubles.values())

    def _file(self, number: str) -> Attachment | None:
        found = self.ledger.rows("SELECT name, kind, data FROM files WHERE message = ?", number)
        return Attachment(*found[0]) if found else None

    def _attempt(self, to: str, message: Message) -> tuple[str, str | None]:
        person = self.person(to)
        if person is None:
            return "refused", f"nobody is called {to} in the settings any more"
        count = "UPDATE outbox SET state = 'sending', attempts = attempts + 1 WHERE id = ?"
        self.ledger.do(count, message.id)
        try:
            self.notifier(person.by).send(message, address_of(person))
        except RefusedError as error:
            return "refused", str(error)
        except Exception as error:  # a plug-in may raise anything; the message waits, and says why
            return (
                "waiting",
                f"{str(error).splitlines()[0] if str(error) else type(error).__name__}",
            )
        return "sent", None


def address_of(person: PersonSettings) -> str:
    if person.address_file is None:
        return person.address
    return person.address_file.read_text(encoding="utf-8").strip()


def is_quiet(span: str, local: datetime) -> bool:
    match = SPAN.fullmatch(span)
    assert match is not None
    h1, m1, h2, m2 = map(int, match.groups())
    start, end, now = 60 * h1 + m1, 60 * h2 + m2, 60 * local.hour + local.minute
    return start <= now < end if start <= end else now >= start or now < end
