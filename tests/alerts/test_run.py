"""
A turn as `leadline chores` does it: under no lease, and all the more while the store is away.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import orjson
import pytest

from leadline.alerts.ledger import Ledger
from leadline.alerts.notifiers import Letter
from leadline.alerts.run import Alerts
from leadline.alerts.settings import AlertSettings, NotifierSettings, PersonSettings
from leadline.chores.run import CHORES, Work, do
from leadline.errors import StoreError
from leadline.settings.typed import Duration
from leadline.store.contract import Health, Outcome
from leadline.store.memory import MemoryStore
from tests.alerts.conftest import NOON

(ALERTS,) = [chore for chore in CHORES if chore.name == "alerts"]


class Away(MemoryStore):
    """
    A store nobody answers for.
    """

    asked = 0

    def ask(self, *args: Any) -> Any:
        self.asked += 1
        raise StoreError("http://store:9200 does not answer")

    def scan(self, *args: Any, **more: Any) -> Iterator[Any]:
        return self.ask()  # type: ignore[no-any-return]

    def write(self, documents: Sequence[Any], mode: Any) -> Outcome:
        return self.ask()  # type: ignore[no-any-return]

    def health(self) -> Health:
        return self.ask()  # type: ignore[no-any-return]


def alerts(folder: Path) -> Alerts:
    settings = AlertSettings(send=True, settle=Duration(0))
    people = {"admins": PersonSettings(by="file", address=str(folder / "told"))}
    return Alerts(settings, people, NotifierSettings(), folder / "state")


def alerts_of(store: MemoryStore) -> list[Any]:
    return [one for one in store.tables["event"].values() if one["event.kind"] == "alert"]


def turn(folder: Path, store: MemoryStore, minutes: int = 0) -> str | None:
    now = (NOON + timedelta(minutes=minutes)).astimezone(UTC)
    return do(ALERTS, Work(store, now, lambda cluster: ZoneInfo("UTC"), alerts(folder)))


def test_store_that_is_away_is_said_once_and_its_return_too(tmp_path: Path) -> None:
    """
    The ledger is beside it, so that this needs no store; one wait for it is enough for all rules.
    """
    store = Away()
    assert "1 messages made, 1 sent" in (turn(tmp_path, store) or "")
    assert store.asked <= 4  # silences, the first rule, the store's own, the events
    assert "0 messages made, 0 sent" in (turn(tmp_path, store, 20) or "")
    well = MemoryStore()
    assert "1 sent" in (turn(tmp_path, well, 40) or "")
    subjects = [orjson.loads(x)["subject"] for x in (tmp_path / "told").read_bytes().splitlines()]
    away = "store-unhealthy: http://store:9200 does not answer"
    assert [f"[critical] {away}", f"[over] {away}"] == subjects
    assert 1 == len(alerts_of(well))


def test_turn_without_news_says_nothing(tmp_path: Path) -> None:
    """
    It happens every minute.
    """
    assert turn(tmp_path, MemoryStore()) is None


def test_two_processes_do_not_meet(tmp_path: Path) -> None:
    """
    Both would send the same message.
    """
    ledger = Ledger(tmp_path / "state")
    with ledger.alone() as alone:
        assert alone
        assert (0, "another process is at it") == alerts(tmp_path).run(MemoryStore(), NOON)
    ledger.close()


def test_ledger_is_nobody_elses(tmp_path: Path) -> None:
    """
    It holds who ran what.
    """
    turn(tmp_path, MemoryStore())
    for path in (tmp_path / "state", tmp_path / "state" / "alerts.db"):
        assert 0 == path.stat().st_mode & 0o077


@pytest.mark.parametrize("send", [True, False])
def test_switched_off_does_nothing(tmp_path: Path, send: bool) -> None:
    """
    Not even a file.
    """
    off = Alerts(AlertSettings(enabled=False, send=send), {}, NotifierSettings(), tmp_path / "x")
    assert (0, "switched off") == off.run(Away(), NOON)
    assert not (tmp_path / "x").exists()


def test_report_is_posted_once_per_schedule(tmp_path: Path) -> None:
    """
    By the same way as alerts; the next month's is another.
    """
    site, ledger = alerts(tmp_path), Ledger(tmp_path / "state")
    box = site.outbox(ledger)
    october, november = Letter("October", "text"), Letter("November", "text")
    assert box.post("monthly 2026-10", "admins", october, NOON)
    assert not box.post("monthly 2026-10", "admins", october, NOON)
    assert box.post("monthly 2026-11", "admins", november, NOON)
    assert (2, []) == box.deliver(NOON)
    subjects = [orjson.loads(x)["subject"] for x in (tmp_path / "told").read_bytes().splitlines()]
    assert ["October", "November"] == subjects
    ledger.close()
