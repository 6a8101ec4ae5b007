"""
From sightings to messages: an alert opens, is told once to each who wants it, and closes.

Every step is a change of the ledger that is whole or not at all, and doing one twice changes
nothing, so a process may die anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase

from leadline.alerts.ledger import Ledger
from leadline.alerts.notifiers.contract import printable
from leadline.alerts.rules import Rule
from leadline.alerts.settings import RANK, AlertSettings, PersonSettings
from leadline.alerts.watch import Look, Sighting, look
from leadline.alerts.wishes import current
from leadline.errors import LeadlineError
from leadline.store.contract import Store

DAY = 86400.0
GONE = 30 * DAY  # an object nobody has seen for so long is no longer there
KEPT = 90 * DAY
USER = "user:"
NOTED = "SELECT alert, recipient, dry, kind FROM notes"


@dataclass(frozen=True, slots=True)
class Engine:
    ledger: Ledger
    rules: Mapping[str, Rule]
    settings: AlertSettings
    people: Mapping[str, PersonSettings]
    see: Callable[[Rule, Store, datetime], Look] = look

    def evaluate(self, store: Store, now: datetime) -> list[str]:
        """
        Look by every rule that is due; a rule that cannot look leaves its alerts as they are.
        """
        moment, problems, away = now.timestamp(), [], False
        for name, rule in self.rules.items():
            due = moment >= self.ledger.mark(f"rule:{name}") + rule.every
            if not due or (away and rule.watch != "store"):  # one wait for it is enough
                continue
            try:
                seen = self.see(rule, store, now)
            except (LeadlineError, OSError) as error:
                away = True
                problems.append(f"{name}: {str(error).splitlines()[0]}")
                continue
            with self.ledger.change():
                self.take(name, rule, seen, moment)
                self.ledger.set_mark(f"rule:{name}", moment)
        with self.ledger.change():
            self.close_unwatched(moment)
            self.note(moment)
            self.ledger.tidy(moment - KEPT)
        return problems

    def take(self, name: str, rule: Rule, seen: Look, now: float) -> None:
        opened = {
            (one["cluster"], one["object"]): one["id"] for one in self.ledger.open_alerts(name)
        }
        on: dict[tuple[str, str], Sighting] = {}
        off: set[tuple[str, str]] = set()
        for one in seen.sightings:
            key = one.cluster, one.object
            if one.on:
                on.setdefault(key, one)
            else:
                off.add(key)
        again = [
            (now, one.value, one.hours, one.share, opened[key])
            for key, one in on.items()
            if key in opened
        ]
        text = "UPDATE alerts SET seen = ?, value = ?, hours = ?, share = ? WHERE id = ?"
        self.ledger.db.executemany(text, again)
        for key, one in on.items():
            if key not in opened:
                self.open(name, rule, one, now)
        over = set(opened) - set(on) if seen.complete else set(opened) & off - set(on)
        for key in over:
            self.ledger.do("UPDATE alerts SET ended = ? WHERE id = ?", now, opened[key])

    def open(self, name: str, rule: Rule, one: Sighting, now: float) -> None:
        text = rule.text.format(  # by names that users chose
            object=one.object,
            value=one.value or 0.0,
            words=one.words,
            user=one.user or "?",
            cluster=one.cluster,
        )
        self.ledger.do(
            "INSERT INTO alerts (rule, cluster, object, severity, since, seen, value, text, user,"
            " hours, share) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            *(name, one.cluster, one.object, rule.severity, now, now, one.value),
            " ".join(printable(text).split()),
            *(one.user, one.hours, one.share),
        )

    def close_unwatched(self, now: float) -> None:
        """
        Alerts of rules that are no more, and of objects that are not seen any more.
        """
        for one in self.ledger.open_alerts():
            watch = self.rules[one["rule"]].watch if one["rule"] in self.rules else None
            if watch is None or (one["seen"] < now - GONE and watch != "store"):
                self.ledger.do("UPDATE alerts SET ended = ? WHERE id = ?", now, one["id"])

    def note(self, now: float) -> None:
        """
        For everyone who wants to hear of it, that an alert fires or is over: each once.
        """
        silences = current(self.ledger, "silence", now)
        ended = "SELECT * FROM alerts WHERE ended > ?"
        known = {tuple(row) for row in self.ledger.rows(NOTED)}
        alerts = [*self.ledger.open_alerts(), *map(dict, self.ledger.rows(ended, now - 7 * DAY))]
        for one in alerts:
            if any(_fits(silence, one) for silence in silences):
                continue
            kind = "fires" if one["ended"] is None else "over"
            for recipient in self.audience(one, now):
                rule = self.rules.get(str(one["rule"]))
                dry = int(not self.settings.send or (rule is not None and rule.dry))
                if (one["id"], recipient, dry, kind) in known:
                    continue
                if one["ended"] is None:
                    self._add(one, recipient, dry, "fires", now)
                elif not recipient.startswith(USER):
                    self._over(one, recipient, dry, now)

    def audience(self, one: Mapping[str, object], now: float) -> list[str]:
        found = [
            name
            for name, person in self.people.items()
            if not person.off
            and RANK[str(one["severity"])] >= RANK[person.severity]
            and any(fnmatchcase(str(one["rule"]), pattern) for pattern in person.rules)
            and any(fnmatchcase(str(one["cluster"]), pattern) for pattern in person.clusters)
        ]
        return [*found, f"{USER}{one['user']}"] if self.concerns_user(one, now) else found

    def concerns_user(self, one: Mapping[str, object], now: float) -> bool:
        """
        The share and the hours must both be bad before a user is written to.
        """
        rule, wanted, user = self.rules.get(str(one["rule"])), self.settings, one["user"]
        if rule is None or not (rule.tell_user and wanted.users and wanted.user_domain and user):
            return False
        share, hours = one["share"], one["hours"]
        return (
            isinstance(share, float)
            and isinstance(hours, float)
            and share >= wanted.user_share
            and hours >= wanted.user_hours
            and user not in wanted.opt_out
            and not any(one["object"] == user for one in current(self.ledger, "opt-out", now))
        )

    def _add(self, one: Mapping[str, object], to: str, dry: int, kind: str, now: float) -> None:
        text = (
            "INSERT OR IGNORE INTO notes (alert, recipient, dry, kind, at) VALUES (?, ?, ?, ?, ?)"
        )
        self.ledger.do(text, one["id"], to, dry, kind, now)

    def _over(self, one: Mapping[str, object], to: str, dry: int, now: float) -> None:
        where = "alert = ? AND recipient = ? AND dry = ? AND kind = 'fires'"
        told = self.ledger.rows(f"SELECT message FROM notes WHERE {where}", one["id"], to, dry)  # noqa: S608 - our own words
        if not told or told[0]["message"] == "":
            return
        if told[0]["message"] is None and not self.people[to].digest:
            # Over before it was said: nobody has to know.
            self.ledger.do(f"UPDATE notes SET message = '' WHERE {where}", one["id"], to, dry)  # noqa: S608 - our own words
            return
        self._add(one, to, dry, "over", now)


def _fits(silence: Mapping[str, object], one: Mapping[str, object]) -> bool:
    names = ("rule", "cluster", "object")
    return all(fnmatchcase(str(one[name]), str(silence[name])) for name in names)
