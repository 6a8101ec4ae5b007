"""
Several processes on one lake: writers with the very same batches, readers, one that is killed.
"""

from __future__ import annotations

import multiprocessing as mp
import os
import signal
import time
from multiprocessing.synchronize import Event
from pathlib import Path
from queue import Empty

import pytest

from leadline.formats import Document
from leadline.store.lake import LakeStore
from leadline.store.plan import Aggregate, Function, Group, Plan
from leadline.store.scope import EVERYTHING
from tests.store.documents import job, process

SPAWN = mp.get_context("spawn")  # DuckDB's threads do not survive a fork
COUNT = Plan("process", (Aggregate("n", Function.COUNT),))
PER_KEY = Plan(
    "process", (Aggregate("n", Function.COUNT),), by=(Group("host.name"), Group("sample.uptime"))
)


def batch(number: int) -> list[Document]:
    host = {"host.name": f"c{number}", "core_seconds": 1.0}
    return [process(place, **host) for place in range(50)]


def write(folder: Path, writer: int, stop: Event, answers: mp.Queue[tuple[str, int, int]]) -> None:
    """
    Batches of its own, and each third one the same as the other writers write.
    """
    store = LakeStore(folder, threads=1)
    accepted = own = 0
    number = 0
    while not number or not stop.is_set():
        shared = number % 3 == 0
        outcome = store.write(
            batch(number if shared else (writer + 1) * 1_000_000 + number), "create"
        )
        assert not outcome.kept, outcome.reason
        assert not outcome.rejected
        accepted += outcome.accepted
        own += 0 if shared else 50
        store.write([job(1, version=number)], "replace")
        number += 1
        if number % 20 == 0:
            store.compact()
    answers.put(("writer", accepted, own))


def read(folder: Path, stop: Event, answers: mp.Queue[tuple[str, int, int]]) -> None:
    """
    Counts never fall, no key is there twice, and there is one version of the job.
    """
    store = LakeStore(folder, threads=1)
    seen = asked = 0
    while not asked or not stop.is_set():
        count = store.ask(COUNT, EVERYTHING)[0]["n"]
        assert isinstance(count, int)
        assert count >= seen
        seen = count
        assert {row["n"] for row in store.ask(PER_KEY, EVERYTHING)} <= {1}
        assert sum(len(found) for found in store.scan("job", EVERYTHING)) <= 1
        asked += 1
    answers.put(("reader", asked, seen))


def share_a_lake(folder: Path, seconds: float) -> None:
    stop, answers = SPAWN.Event(), SPAWN.Queue()
    workers = [SPAWN.Process(target=write, args=(folder, n, stop, answers)) for n in range(2)]
    workers += [SPAWN.Process(target=read, args=(folder, stop, answers)) for _ in range(2)]
    for worker in workers:
        worker.start()
    time.sleep(seconds)
    stop.set()
    told = []
    try:
        for _ in workers:
            told.append(answers.get(timeout=30))
    except Empty:
        pass
    for worker in workers:
        worker.join(30)
    assert [worker.exitcode for worker in workers] == [0, 0, 0, 0]

    store = LakeStore(folder)
    stored = store.ask(COUNT, EVERYTHING)[0]["n"]
    assert stored == sum(accepted for who, accepted, _ in told if who == "writer")
    assert {row["n"] for row in store.ask(PER_KEY, EVERYTHING)} == {1}
    assert all(asked > 0 for who, asked, _ in told if who == "reader")
    store.close()


def test_two_write_while_two_read(tmp_path: Path) -> None:
    """
    No error, nothing lost, nothing doubled, with merges going on in between.
    """
    share_a_lake(tmp_path / "lake", 5)


@pytest.mark.slow
def test_two_write_while_two_read_for_a_minute(tmp_path: Path) -> None:
    """
    The same over hundreds of commits, checkpoints and merges.
    """
    share_a_lake(tmp_path / "lake", 60)


def write_until_killed(folder: Path, said: mp.Queue[int]) -> None:
    store = LakeStore(folder, threads=1)
    number = 0
    while True:
        store.write(batch(number), "create")
        said.put(number)
        number += 1


@pytest.mark.parametrize("patience", [0.0, 0.013, 0.05])
def test_a_killed_writer_loses_nothing_it_said_was_stored(tmp_path: Path, patience: float) -> None:
    """
    After kill -9 every acknowledged batch is whole, the others are whole or not there, and the
    next writer goes on at once.
    """
    folder = tmp_path / "lake"
    said: mp.Queue[int] = SPAWN.Queue()
    writer = SPAWN.Process(target=write_until_killed, args=(folder, said))
    writer.start()
    assert [said.get(timeout=30) for _ in range(3)] == [0, 1, 2]
    time.sleep(patience)
    assert writer.pid is not None
    os.kill(writer.pid, signal.SIGKILL)
    writer.join(10)
    last = 2
    while not said.empty():
        last = said.get(timeout=1)

    store = LakeStore(folder)
    plan = Plan("process", (Aggregate("n", Function.COUNT),), by=(Group("host.name"),))
    batches = {row["host.name"]: row["n"] for row in store.ask(plan, EVERYTHING)}
    assert {f"c{number}" for number in range(last + 1)} <= batches.keys()
    assert set(batches.values()) == {50}
    assert store.write(batch(0), "create").duplicate == 50
    assert store.write(batch(999_999), "create").accepted == 50
    store.close()
