"""
One turn of everything: look, note, make messages, hand them over.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from leadline.alerts.engine import Engine
from leadline.alerts.events import record, record_posts
from leadline.alerts.holder import AWAY, had_them, holds
from leadline.alerts.ledger import Ledger
from leadline.alerts.notifiers import build_notifier
from leadline.alerts.outbox import Outbox
from leadline.alerts.rules import Rule, read_rules
from leadline.alerts.schedule import Schedule
from leadline.alerts.settings import AlertSettings, NotifierSettings, PersonSettings
from leadline.alerts.wishes import share
from leadline.errors import LeadlineError
from leadline.store.contract import Store


@dataclass(frozen=True, slots=True)
class Alerts:
    """
    The alerts of a site, as its settings say.
    """

    settings: AlertSettings
    people: Mapping[str, PersonSettings]
    notifiers: NotifierSettings
    folder: Path
    schedule: Schedule = field(default_factory=Schedule)

    def rules(self) -> dict[str, Rule]:
        return read_rules(self.settings.rules, self.settings.off)

    def run(self, store: Store, now: datetime) -> tuple[int, str]:
        """
        How much was done, and in words.
        """
        if not self.settings.enabled:
            return 0, "switched off"
        ledger = Ledger(self.folder)
        try:
            with ledger.alone() as alone:
                if not alone:
                    return 0, "another process is at it"
                if not self._ours(ledger, store, now):
                    return 0, "another machine does the alerts"
                return self._turn(ledger, store, now)
        finally:
            ledger.close()

    def _ours(self, ledger: Ledger, store: Store, now: datetime) -> bool:
        try:
            share(ledger, store, now)
            return holds(ledger, store, now)
        except (LeadlineError, OSError):  # that it is away has to be said all the more
            ledger.set_mark(AWAY, now.timestamp())
            return had_them(ledger)

    def _turn(self, ledger: Ledger, store: Store, now: datetime) -> tuple[int, str]:
        engine = Engine(ledger, self.rules(), self.settings, self.people)
        problems = engine.evaluate(store, now)
        box = self.outbox(ledger)
        recorded = _told(ledger, store, problems)
        problems += self.schedule.post(box, store, now)
        made = box.gather(now)
        sent, troubles = box.deliver(now)
        if sent and recorded:
            _told(ledger, store, problems)
        open_now = len(ledger.open_alerts())
        dry = "" if self.settings.send else " (a dry run: alerts.send is no)"
        said = "".join(f"; {problem}" for problem in [*problems, *troubles])
        count = made + sent + len(problems) + len(troubles)
        return count, f"{open_now} open, {made} messages made, {sent} sent{dry}{said}"

    def outbox(self, ledger: Ledger) -> Outbox:
        return Outbox(
            ledger, self.settings, self.people, lambda n: build_notifier(n, self.notifiers)
        )


def _told(ledger: Ledger, store: Store, problems: list[str]) -> bool:
    """
    Whether the store knows now what fires, and who has heard of it.
    """
    try:
        record(ledger, store)
        record_posts(ledger, store)
    except (LeadlineError, OSError) as error:
        problems.append(f"events: {str(error).splitlines()[0]}")
        return False
    return True
