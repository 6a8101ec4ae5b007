"""
Chores under random trial: workers beside each other, crashes, late and ancient samples. Whatever
the order, answers are those of raw samples at any moment, and in the end usage is as if made at
once.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from leadline.chores.rollup import roll_up
from leadline.chores.run import CHORES, Work, do
from leadline.formats import Document
from leadline.formats.times import format_time
from leadline.query import ask, parse_question
from leadline.store.contract import Mode, Outcome, Store
from leadline.store.lake import LakeStore
from leadline.store.memory import MemoryStore
from leadline.store.plan import Condition, Op
from leadline.store.scope import EVERYTHING
from tests.query.conftest import stored

START = datetime(2026, 11, 1, 6, tzinfo=UTC)
ZONE = ZoneInfo("Europe/Oslo")
ROLLUP = CHORES[0]
LONG_AGO = (timedelta(days=3), timedelta(days=40), timedelta(days=1200))
QUESTIONS = (
    "core_hours_used by user during all",
    "core_hours_used by program, host during last 7 days",
    "core_hours_used by hour during all",
    "memory_max by user during all",
)
PROGRAMS = (("VASP", "vasp #"), ("GROMACS", "gmx #"), (None, "x #"))


class CrashedError(Exception):
    """
    The machine that did a chore is gone.
    """


class Crashing:
    """
    A store seen by a worker that dies when it has written so often.
    """

    def __init__(self, store: Store, writes: int) -> None:
        self._store = store
        self._left = writes

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def write(self, documents: Sequence[Document], mode: Mode) -> Outcome:
        if self._left == 0:
            raise CrashedError
        self._left -= 1
        return self._store.write(documents, mode)


def samples(dice: random.Random, now: datetime, count: int, number: int) -> list[Document]:
    """
    Some of now, some late, some of years ago; all taken in now.
    """
    found = []
    for place in range(count):
        back = timedelta(minutes=dice.randrange(120))
        if dice.random() < 0.4:
            back += dice.choice(LONG_AGO)
        program, shape = dice.choice(PROGRAMS)
        user = dice.choice("abc")
        taken = now - back
        found.append(
            {
                "dataset": "process",
                "@timestamp": format_time(taken),
                "event.ingested": format_time(now),
                "cluster": "fox",
                "host.name": dice.choice(["c1", "c2"]),
                "boot.id": "b",
                "sample.uptime": int(taken.timestamp()),
                "process.entity_id": f"{number}-{place}",
                "interval.seconds": 60.0,
                "user.name": user,
                "user.id": f"u{user}",
                "command.shape": shape,
                "core_seconds": float(dice.randrange(1, 60)),
                "memory.rss.bytes": dice.randrange(1, 2**30),
                **({"program.name": program} if program else {}),
            }
        )
    return found


def usage(store: Store) -> list[Document]:
    held = (Condition("sample.count", Op.AT_LEAST, (1,)),)
    batches = store.scan("usage", EVERYTHING, where=held)
    mine = ("record.version", "event.ingested")
    found = [{k: v for k, v in d.items() if k not in mine} for batch in batches for d in batch]
    return sorted(found, key=lambda d: sorted((k, str(v)) for k, v in d.items()))


def answers(store: Store, now: datetime, *, rolled: bool) -> list[object]:
    found: list[object] = []
    for text in QUESTIONS:
        told = ask(parse_question(text), store, EVERYTHING, now, zone=ZONE, rolled=rolled)
        rows = [{k: round(v, 6) if isinstance(v, float) else v for k, v in row.items()}
                for row in told.rows]  # fmt: skip
        found.append((sorted(map(str, rows)), round(float(told.total[told.question.measures[0]]
                                                          or 0), 6)))  # fmt: skip
    return found


def turn(store: Store, now: datetime) -> str | None:
    return do(ROLLUP, Work(store, now, lambda cluster: ZONE))


def trial(store: Store, dice: random.Random, steps: int) -> tuple[list[Document], datetime]:
    """
    STEPS of samples coming in and workers that turn, some of which die; every answer is checked.
    """
    now, everything = START, []
    for step in range(steps):
        now += timedelta(minutes=dice.choice([1, 4, 11, 45]))
        batch = samples(dice, now, dice.randrange(1, 12), step)
        assert not store.write(batch, "create").rejected
        everything += batch
        luck = dice.random()
        if luck < 0.25:
            with suppress(CrashedError):  # its turn, when it had one, is taken and never done
                turn(Crashing(store, dice.randrange(4)), now)  # type: ignore[arg-type]
        elif luck < 0.7:
            turns = [turn(store, now), turn(store, now + timedelta(seconds=1))]
            assert None in turns, "one slot, one worker"
        assert answers(store, now, rolled=True) == answers(store, now, rolled=False)
    return everything, now + timedelta(hours=2)


def as_if_at_once(documents: list[Document], now: datetime) -> list[Document]:
    fresh = stored(documents)
    roll_up(fresh, now, lambda cluster: ZONE)
    return usage(fresh)


@pytest.mark.parametrize("seed", range(6))
def test_whatever_comes_late_and_whoever_dies(seed: int) -> None:
    """
    Memory: twenty steps a seed, every answer on the way is that of raw samples.
    """
    store = MemoryStore()
    documents, now = trial(store, random.Random(seed), 20)
    assert turn(store, now) is not None
    assert as_if_at_once(documents, now) == usage(store)


def test_the_lake_tells_the_same(tmp_path: Path) -> None:
    """
    The same trial on the lake.
    """
    store = LakeStore(tmp_path / "lake")
    documents, now = trial(store, random.Random(99), 8)
    assert turn(store, now) is not None
    assert as_if_at_once(documents, now) == usage(store)
    store.close()


def test_workers_beside_each_other_on_one_lake(tmp_path: Path) -> None:
    """
    Two roll up at once while samples still come in: the next run leaves it as if made at once.
    """
    dice, folder = random.Random(7), tmp_path / "lake"
    first, second = LakeStore(folder), LakeStore(folder)
    documents = samples(dice, START, 150, 1)
    late = samples(dice, START + timedelta(minutes=5), 50, 2)
    first.write(documents, "create")
    failed: list[Exception] = []

    def work(store: Store, minutes: int) -> None:
        try:
            roll_up(store, START + timedelta(minutes=minutes), lambda cluster: ZONE)
        except Exception as error:
            failed.append(error)

    workers = [threading.Thread(target=work, args=(s, m)) for s, m in ((first, 3), (second, 4))]
    for worker in workers:
        worker.start()
    first.write(late, "create")
    for worker in workers:
        worker.join()
    assert [] == failed
    now = START + timedelta(minutes=6)
    assert turn(second, now) is not None
    assert as_if_at_once([*documents, *late], now) == usage(first)
    first.close()
    second.close()
