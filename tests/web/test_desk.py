"""The desk: answers are remembered for some seconds, and asked for once."""

from __future__ import annotations

import subprocess
import sys
import threading
from dataclasses import replace
from datetime import datetime, timedelta

from leadline.query import Question
from leadline.web.asking import Desk
from tests.counting import CountingStore
from tests.web.conftest import NOW, site_of, week

ASKED = Question(by=("program",))


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


def desk_with(store: CountingStore) -> tuple[Desk, Clock]:
    clock = Clock()
    return Desk(replace(site_of(store), clock=clock)), clock


def test_same_question_is_asked_once_for_some_seconds() -> None:
    """
    Within the seconds an answer is remembered the store is left in peace; then it is asked again.
    """
    store = CountingStore()
    store.write(week()[:40], "create")
    desk, clock = desk_with(store)
    first = desk.ask(ASKED)
    count = store.count
    clock.now += timedelta(seconds=2)
    assert desk.ask(ASKED) is first
    assert store.count == count
    clock.now += timedelta(seconds=60)
    assert desk.ask(ASKED) is not first
    assert store.count > count


def test_readers_of_the_same_page_wait_for_one_answer() -> None:
    """
    Eight threads that ask at once make the store work once.
    """
    alone = CountingStore()
    alone.write(week()[:40], "create")
    desk_with(alone)[0].ask(ASKED)

    store = CountingStore()
    store.write(week()[:40], "create")
    store.gate.clear()
    desk, _ = desk_with(store)
    threads = [threading.Thread(target=desk.ask, args=(ASKED,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    store.gate.set()
    for thread in threads:
        thread.join(20)
    assert store.count == alone.count


def test_settings_are_read_without_flask() -> None:
    """
    A node reads the section `web` of its settings file though it has no Flask.
    """
    code = "import sys; import leadline.web.settings; sys.exit('flask' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_what_holds_its_moment_is_kept_longer() -> None:
    """
    Findings and answers name the moment they are of: within it they are not looked for again,
    while the health of the store is.
    """
    desk, clock = desk_with(CountingStore())
    made: list[str] = []

    def work(name: str) -> int:
        made.append(name)
        return len(made)

    for _ in range(2):
        desk.once(("findings", NOW), lambda: work("findings"))
        desk.once(("health",), lambda: work("health"))
        clock.now += timedelta(seconds=60)
    assert made == ["findings", "health", "health"]


def test_a_clock_set_back_keeps_nothing_for_ever() -> None:
    """
    What was answered at a moment that is still to come is asked again.
    """
    desk, clock = desk_with(CountingStore())
    answers = iter(range(9))
    assert desk.once(("health",), lambda: next(answers)) == 0
    clock.now -= timedelta(hours=1)
    assert desk.once(("health",), lambda: next(answers)) == 1
    assert desk.once(("health",), lambda: next(answers)) == 1
