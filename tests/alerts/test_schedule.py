"""
Reports that go out by themselves: one each month and person, by real mail, killed or not.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import orjson
import pytest

from leadline.alerts.ledger import Ledger
from leadline.alerts.notifiers import build_notifier
from leadline.alerts.outbox import Outbox
from leadline.alerts.run import Alerts
from leadline.alerts.schedule import Schedule, due
from leadline.alerts.settings import (
    AlertSettings,
    NotifierSettings,
    PersonSettings,
    ScheduleSettings,
    SmtpSettings,
)
from leadline.settings.typed import Duration
from leadline.store.memory import MemoryStore
from tests.alerts.conftest import Inbox
from tests.query.conftest import sample, stored

OSLO = ZoneInfo("Europe/Oslo")
CHEM = ScheduleSettings(about="project=chem-1", to=("head",))
FIRST = datetime(2026, 11, 1, 7, 30, tzinfo=OSLO)


@pytest.mark.parametrize(
    ("every", "now", "span"),
    [
        ("month", datetime(2026, 11, 1, 6, 59, tzinfo=OSLO), None),
        ("month", datetime(2026, 11, 1, 7, 0, tzinfo=OSLO), "2026-10"),
        ("month", datetime(2026, 11, 30, 23, 0, tzinfo=OSLO), "2026-10"),
        ("week", datetime(2026, 11, 2, 6, 0, tzinfo=OSLO), None),
        ("week", datetime(2026, 11, 2, 8, 0, tzinfo=OSLO), "2026-W44"),
    ],
)
def test_due_when_the_span_is_over_and_the_hour_has_come(
    every: str, now: datetime, span: str | None
) -> None:
    """
    In the zone of the cluster; a machine that was away on the first catches up.
    """
    wanted = ScheduleSettings(to=("head",), every=every)  # type: ignore[arg-type]
    found = due(wanted, now.astimezone(UTC), OSLO)
    assert span == (found.text if found else None)


def store() -> MemoryStore:
    time = {"@timestamp": "2026-10-20T11:00:00.000Z", "local.day": "2026-10-20"}
    fields = {"user.name": "alice", "project": "chem-1", "program.name": "VASP", **time}
    return stored([sample(number, **fields) for number in range(3)])


def site(folder: Path, notifiers: NotifierSettings, person: PersonSettings, send: bool) -> Alerts:
    settings = AlertSettings(send=send, settle=Duration(0), off=("node-silent",))
    schedule = Schedule({"chem": CHEM}, OSLO)
    return Alerts(settings, {"head": person}, notifiers, folder / "state", schedule)


def test_report_is_mailed_once_with_its_file(tmp_path: Path, mail: tuple[Inbox, int]) -> None:
    """
    Through a real mail server: text to read anywhere, the page beside it; not again next minute,
    not on the next day, not by a process that has just started.
    """
    inbox, port = mail
    notifiers = NotifierSettings(smtp=SmtpSettings(host="127.0.0.1", port=port))
    person = PersonSettings(address="head@uni.example")
    for minutes in (-60, 0, 1, 24 * 60):
        alerts = site(tmp_path, notifiers, person, send=True)
        alerts.run(store(), FIRST.astimezone(UTC) + timedelta(minutes=minutes))
    reports = [mail for mail in inbox.mails if "chem-1" in str(mail["Subject"])]
    assert 1 == len(reports)
    parts: Any = reports[0].get_payload()
    text, page = parts
    assert "used 3.0 core hours in October 2026" in text.get_content()
    assert "leadline-chem-2026-10.html" == page.get_filename()
    assert "<h1>Project chem-1" in page.get_content()
    ledger = Ledger(tmp_path / "state")
    assert [] == ledger.rows("SELECT * FROM files")
    ledger.close()


def test_a_dry_run_does_not_use_it_up(tmp_path: Path) -> None:
    """
    What was only shown is sent when sending is allowed.
    """
    person = PersonSettings(by="file", address=str(tmp_path / "told"))
    moment = FIRST.astimezone(UTC)
    site(tmp_path, NotifierSettings(), person, send=False).run(store(), moment)
    assert not (tmp_path / "told").exists()
    site(tmp_path, NotifierSettings(), person, send=True).run(store(), moment)
    assert ["Project chem-1" in subject for subject in subjects(tmp_path)] == [True]


def subjects(folder: Path) -> list[str]:
    lines = (folder / "told").read_bytes().splitlines()
    return [orjson.loads(line)["subject"] for line in lines]


def turn(folder: Path, step: Callable[[str], None] | None = None) -> None:
    person = PersonSettings(by="file", address=str(folder / "told"))
    ledger = Ledger(folder / "state")
    ledger.db.set_trace_callback(step)
    settings = AlertSettings(send=True)
    box = Outbox(
        ledger, settings, {"head": person}, lambda n: build_notifier(n, NotifierSettings())
    )
    assert [] == Schedule({"chem": CHEM}, OSLO).post(box, MemoryStore(), FIRST.astimezone(UTC))
    box.deliver(FIRST.astimezone(UTC))
    ledger.close()


def die_at(folder: Path, last: int) -> bool:
    child = os.fork()
    if child == 0:
        done = 0

        def step(statement: str) -> None:
            nonlocal done
            done += 1
            if done == last:
                os.kill(os.getpid(), signal.SIGKILL)

        try:
            turn(folder, step)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def test_killed_anywhere_it_is_sent_once(tmp_path: Path) -> None:
    """
    Before every statement of the ledger, while the report is made and after it was handed over.
    """
    points = 0
    while True:
        folder = tmp_path / str(points)
        folder.mkdir()
        if not die_at(folder, points + 1):
            break
        points += 1
        turn(folder)
        assert 1 == len(subjects(folder)), f"killed before statement {points}"
    assert points > 8


def test_nobody_to_send_to_is_refused() -> None:
    """
    A schedule without people is a slip.
    """
    with pytest.raises(ValueError, match="names nobody"):
        ScheduleSettings(about="project=x")
