"""
Killed at any statement, the alerts go on where they were: nothing twice, nothing forgotten.
"""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from leadline.alerts import run, watch
from leadline.alerts.ledger import Ledger
from leadline.alerts.rules import read_rules
from leadline.alerts.run import Alerts
from leadline.alerts.schedule import Schedule
from leadline.alerts.settings import (
    AlertSettings,
    NotifierSettings,
    PersonSettings,
    ScheduleSettings,
)
from leadline.alerts.watch import Look
from leadline.settings.typed import Duration
from leadline.store.contract import Outcome
from leadline.store.memory import MemoryStore
from tests.alerts.conftest import NOON, Site, hot

TURNS = (
    (hot("c1", "c2"), 0),
    (hot("c1", "c2"), 20),
    (hot("c2", "c3") + hot("c1", on=False), 40),
    (hot("c1", "c2", "c3", on=False), 60),
)
EXPECTED = ["c1 is hot", "c1 is hot", "c2 is hot", "c2 is hot", "c3 is hot", "c3 is hot"]


def play(site: Site, first: int = 0) -> None:
    for number, (seen, minute) in enumerate(TURNS):
        if number >= first:
            (site.folder / "turn").write_text(str(number))
            site.turn(seen, minute)


def die_at(folder: Path, last: int) -> bool:
    """
    Whether a process of its own was killed before its LAST statement, or came to its end.
    """
    child = os.fork()
    if child == 0:
        done = 0

        def step(statement: str) -> None:
            nonlocal done
            done += 1
            if done == last:
                os.kill(os.getpid(), signal.SIGKILL)

        try:
            play(Site(folder, step=step))
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def test_killed_anywhere_says_all_of_it_once(tmp_path: Path) -> None:
    """
    Before every single statement of the ledger, the moment after a message was handed over too.
    """
    points = 0
    while True:
        folder = tmp_path / str(points)
        folder.mkdir()
        if not die_at(folder, points + 1):
            break
        points += 1
        site = Site(folder)
        play(site, int((folder / "turn").read_text()))
        lines = [text for line in site.lines() for text in line["text"].splitlines()]
        told = sorted(text.rpartition("hot: ")[2] for text in lines if "  hot: " in text)
        assert EXPECTED == told, f"killed before statement {points}: {told}"
        ids = [line["id"] for line in site.lines()]
        assert len(set(ids)) == len(ids)
    assert points > 60


class Kept(MemoryStore):
    """
    A store that outlives the process, whole after each write.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        if path.exists():
            self.tables = pickle.loads(path.read_bytes())

    def write(self, documents: Sequence[Any], mode: Any) -> Outcome:
        outcome = super().write(documents, mode)
        beside = self.path.with_suffix(".new")
        beside.write_bytes(pickle.dumps(self.tables))
        beside.replace(self.path)
        return outcome


def whole_turns(folder: Path, first: int = 0) -> None:
    """
    As the chores do it: silences, who does the alerts, rules, a report, events, messages.
    """
    person = PersonSettings(by="file", address=str(folder / "told"), zone="UTC")
    settings = AlertSettings(
        send=True, settle=Duration(0), pause=Duration(0), off=tuple(read_rules()),
        rules=folder / "rules.yaml",
    )  # fmt: skip
    report = ScheduleSettings(about="project=chem", to=("admins",))
    schedule = Schedule({"chem": report}, ZoneInfo("UTC"))
    for number, (seen, minute) in enumerate(TURNS):
        if number >= first:
            (folder / "turn").write_text(str(number))
            watch.WATCHES["silent"] = lambda rule, store, now, seen=seen: Look(tuple(seen))  # type: ignore[misc]
            site = Alerts(
                settings, {"admins": person}, NotifierSettings(), folder / "state", schedule
            )
            site.run(Kept(folder / "store"), NOON + timedelta(minutes=minute))


def whole_die_at(folder: Path, last: int) -> bool:
    child = os.fork()
    if child == 0:
        done = 0

        class Traced(Ledger):
            def __init__(self, place: Path) -> None:
                super().__init__(place)
                self.db.set_trace_callback(step)

        def step(statement: str) -> None:
            nonlocal done
            done += 1
            if done == last:
                os.kill(os.getpid(), signal.SIGKILL)

        run.Ledger = Traced  # type: ignore[attr-defined, assignment]
        try:
            whole_turns(folder)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def test_the_whole_turn_killed_anywhere_says_all_of_it_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """
    With a store that remembers who does the alerts and who has heard what; every eighth statement.
    """
    monkeypatch.setitem(watch.WATCHES, "silent", watch.WATCHES["silent"])  # put back in the end
    points = 0
    while True:
        folder = tmp_path / str(points)
        folder.mkdir()
        (folder / "rules.yaml").write_text("hot:\n  watch: silent\n  text: '{object} is hot'\n")
        if not whole_die_at(folder, points + 1):
            break
        whole_turns(folder, int((folder / "turn").read_text()))
        lines = Site(folder).lines()
        texts = [text for line in lines for text in line["text"].splitlines()]
        told = sorted(text.rpartition("hot: ")[2] for text in texts if "  hot: " in text)
        assert EXPECTED == told, f"killed before statement {points + 1}: {told}"
        assert 1 == sum("Project chem" in line["subject"] for line in lines)
        points += 8
    assert points > 100
