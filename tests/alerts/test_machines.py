"""
Several machines with chores on and one store: what one has said, no other says again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import orjson
import pytest

from leadline.alerts import watch
from leadline.alerts.holder import GRACE, SLOT, holds
from leadline.alerts.ledger import Ledger
from leadline.alerts.rules import Rule
from leadline.alerts.run import Alerts
from leadline.alerts.schedule import Schedule
from leadline.alerts.settings import (
    AlertSettings,
    NotifierSettings,
    PersonSettings,
    ScheduleSettings,
)
from leadline.alerts.watch import Look, Sighting
from leadline.alerts.wishes import add, current, end, share
from leadline.errors import StoreError
from leadline.settings.typed import Duration
from leadline.store.contract import Outcome, Store
from leadline.store.memory import MemoryStore
from tests.alerts.conftest import NOON, hot

RULES = "h:\n  watch: silent\n  text: '{object} is hot'\n"


class Shared(MemoryStore):
    """
    A store that may be away for everybody.
    """

    away = False

    def write(self, documents: Sequence[Any], mode: Any) -> Outcome:
        if self.away:
            raise StoreError("the store does not answer")
        return super().write(documents, mode)

    def scan(self, *args: Any, **more: Any) -> Iterator[Any]:
        if self.away:
            raise StoreError("the store does not answer")
        return super().scan(*args, **more)


@dataclass
class Machines:
    """
    A, B and C, each with a ledger of its own; they tell one file, as one mailbox would.
    """

    folder: Path
    store: Shared = field(default_factory=Shared)
    seen: list[Sighting] = field(default_factory=list)
    reports: dict[str, ScheduleSettings] = field(default_factory=dict)
    mailbox: str = "told"

    def turn(self, name: str, minutes: float) -> str:
        settings = AlertSettings(
            send=True, settle=Duration(0), pause=Duration(0), rules=self.folder / "rules.yaml",
            off=self.off,
        )  # fmt: skip
        person = PersonSettings(by="file", address=str(self.folder / self.mailbox))
        schedule = Schedule(self.reports, ZoneInfo("UTC"))
        site = Alerts(
            settings, {"admins": person}, NotifierSettings(), self.folder / name, schedule
        )
        _, said = site.run(self.store, NOON + timedelta(minutes=minutes))
        return said

    @property
    def off(self) -> tuple[str, ...]:
        from leadline.alerts.rules import read_rules

        return tuple(read_rules())

    def told(self) -> list[str]:
        path = self.folder / self.mailbox
        lines = path.read_bytes().splitlines() if path.exists() else []
        return [orjson.loads(line)["subject"] for line in lines]

    def ledger(self, name: str) -> Ledger:
        return Ledger(self.folder / name)


@pytest.fixture
def machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machines:
    (tmp_path / "rules.yaml").write_text(RULES)
    made = Machines(tmp_path)

    def see(rule: Rule, store: Store, now: datetime) -> Look:
        return Look(tuple(made.seen))

    monkeypatch.setitem(watch.WATCHES, "silent", see)
    return made


def test_one_of_them_does_it_and_stays(machines: Machines) -> None:
    """
    Whoever was first, slot after slot; the others look on.
    """
    for minute in range(24):
        said = [machines.turn(name, minute) for name in "ABC"]
        assert [False, True, True] == ["another machine" in one for one in said], minute


def test_a_machine_that_dies_is_followed_by_one_that_knows(machines: Machines) -> None:
    """
    What fires is not said again, its end is said once, by the other.
    """
    machines.seen = hot("c1", "c2")
    for minute in range(3):
        machines.turn("A", minute)
        machines.turn("B", minute)
    assert ["[warning] fox: h: 2 × c[1-2]"] == machines.told()
    for minute in range(3, 30):
        machines.turn("B", minute)
    assert 1 == len(machines.told())
    machines.seen = hot("c1", on=False) + hot("c2", "c3")
    machines.turn("B", 30)
    machines.turn("B", 31)
    assert ["[warning] fox: h: c3 is hot"] == machines.told()[1:]
    machines.seen = hot("c1", "c2", "c3", on=False)
    machines.turn("B", 32)
    rest = " ".join(machines.told()[2:])
    assert 1 == sum("[over]" in one for one in machines.told()[2:]), rest


def test_it_comes_back_and_says_nothing_old(machines: Machines) -> None:
    """
    What was over meanwhile is over for it too, and was told.
    """
    machines.seen = hot("c1")
    machines.turn("A", 0)
    for minute in range(1, 20):
        machines.turn("B", minute)
    machines.seen = hot("c1", on=False) + hot("c2")
    machines.turn("B", 20)
    before = machines.told()
    for minute in range(21, 40):
        machines.turn("A", minute)
    assert before == machines.told()
    machines.seen = hot("c2", on=False)
    machines.turn("A", 40)
    assert len(before) + 1 == len(machines.told())


def test_a_message_that_never_left_is_sent_by_the_next(machines: Machines) -> None:
    """
    It waited in the outbox of a machine that is gone; when that one is back it is not sent twice.
    """
    machines.seen = hot("c1")
    machines.mailbox = "no/such/folder"
    machines.turn("A", 0)
    machines.mailbox = "told"
    assert [] == machines.told()
    for minute in range(1, 20):
        machines.turn("B", minute)
    assert ["[warning] fox: h: c1 is hot"] == machines.told()
    for minute in range(20, 40):
        machines.turn("A", minute)
    assert 1 == len(machines.told())


def test_who_had_them_goes_on_while_the_store_is_away(machines: Machines) -> None:
    """
    The others keep silent then, and for a while when it is back.
    """
    machines.turn("A", 0)
    machines.turn("B", 0)
    machines.store.away = True
    for minute in range(1, 20):
        assert "another machine" not in machines.turn("A", minute)
        assert "another machine" in machines.turn("B", minute)
    machines.store.away = False
    assert "another machine" in machines.turn("B", 20)
    assert "another machine" not in machines.turn("A", 20)
    for minute in range(21, 33):
        assert "another machine" in machines.turn("B", minute)
        assert "another machine" not in machines.turn("A", minute)


def test_a_new_ledger_knows_what_was_said(machines: Machines) -> None:
    """
    A machine set up anew, its disk lost, does not write to everybody.
    """
    machines.seen = hot("c1", "c2", "c3")
    machines.turn("A", 0)
    assert 1 == len(machines.told())
    machines.turn("fresh", 30)
    assert 1 == len(machines.told())


def test_a_report_goes_out_once_from_all_of_them(machines: Machines) -> None:
    """
    Whoever has the alerts on the first; nobody repeats it.
    """
    machines.reports = {"chem": ScheduleSettings(about="project=chem", to=("admins",))}
    machines.turn("A", 0)
    assert 1 == len(machines.told())
    for minute in range(10, 24):
        machines.turn("B", minute)
    machines.turn("fresh", 200)
    assert 1 == len(machines.told())


def test_a_silence_holds_on_whichever_machine(machines: Machines) -> None:
    """
    Made on B, heeded by A; ended on A, forgotten on B.
    """
    machines.turn("A", 0)
    b, a = machines.ledger("B"), machines.ledger("A")
    moment = NOON + timedelta(minutes=1)
    number = add(b, "silence", until=moment.timestamp() + 7200, now=moment.timestamp(), rule="h")
    share(b, machines.store, moment)
    machines.seen = hot("c1")
    machines.turn("A", 2)
    assert [] == machines.told()
    later = NOON + timedelta(minutes=3)
    assert 1 == end(a, number, later.timestamp())
    machines.turn("A", 4)
    assert 1 == len(machines.told())
    share(b, machines.store, NOON + timedelta(minutes=5))
    assert [] == current(b, "silence", later.timestamp() + 60)
    b.close()
    a.close()


def test_a_wish_made_while_the_store_is_away_is_told_later(machines: Machines) -> None:
    """
    It holds on its own machine at once, and is not lost for the others.
    """
    b, a = machines.ledger("B"), machines.ledger("A")
    add(b, "opt-out", until=4e9, now=NOON.timestamp(), object="alice")
    machines.store.away = True
    with pytest.raises(StoreError):
        share(b, machines.store, NOON)
    machines.store.away = False
    for ledger in (b, a):
        share(ledger, machines.store, NOON + timedelta(minutes=1))
    assert ["alice"] == [one["object"] for one in current(a, "opt-out", NOON.timestamp())]
    year = NOON + timedelta(days=300)
    share(b, machines.store, year)
    newest = max(str(d["@timestamp"]) for d in machines.store.tables["event"].values())
    assert newest.startswith(f"{year:%Y-%m-%d}")
    b.close()
    a.close()


def moments(ledgers: dict[str, Ledger], store: MemoryStore) -> Callable[[float], list[str]]:
    def at(seconds: float) -> list[str]:
        now = NOON + timedelta(seconds=seconds)
        return [name for name, ledger in ledgers.items() if holds(ledger, store, now)]

    return at


@pytest.mark.parametrize("step", [20.0, 60.0, 140.0])
def test_never_two_and_soon_another(tmp_path: Path, step: float) -> None:
    """
    However the turns fall, at most one holds; a dead one is followed within three slots.
    """
    ledgers = {name: Ledger(tmp_path / name) for name in "ABC"}
    at, seconds = moments(ledgers, MemoryStore()), 0.0
    while seconds < 20 * SLOT:
        assert ["A"] == at(seconds)
        seconds += step
    ledgers.pop("A").close()
    died = seconds
    while not (held := at(seconds)):
        seconds += step
    assert seconds - died <= 2 * SLOT + GRACE + step
    while seconds < died + 20 * SLOT:
        assert held == at(seconds)
        seconds += step
    for ledger in ledgers.values():
        ledger.close()


def test_lake_refuses_the_second_claim(tmp_path: Path) -> None:
    """
    As every store does.
    """
    from leadline.store.lake import LakeStore

    store = LakeStore(tmp_path / "lake")
    ledgers = [Ledger(tmp_path / name) for name in "AB"]
    assert [True, False] == [holds(ledger, store, NOON) for ledger in ledgers]
    for ledger in ledgers:
        ledger.close()
    store.close()


def test_ledger_of_before_is_taken_over(tmp_path: Path) -> None:
    """
    One without the newer columns.
    """
    ledger = Ledger(tmp_path)
    ledger.do("ALTER TABLE alerts DROP COLUMN heard")
    ledger.close()
    again = Ledger(tmp_path)
    assert [] == again.rows("SELECT heard FROM alerts")
    identity = again.identity()
    again.close()
    last = Ledger(tmp_path)
    assert identity == last.identity()
    last.close()
