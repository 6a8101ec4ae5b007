"""The engine between spool and store: under any fault the books balance and nothing is lost."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from enrich.chain import Chain
from enrich.counters import Counters
from enrich.deadletters import DeadLetters
from enrich.delivery import Delivery
from enrich.seen import Seen
from enrich.settings import BackoffSettings, FlushSettings, WorkerSettings
from enrich.worker import Engine, WorkerSpool
from leadline.errors import StoreError
from leadline.formats import Document
from leadline.settings import Duration
from leadline.store.contract import Mode, Outcome
from leadline.store.memory import MemoryStore
from tests.enrich.conftest import make_line, make_sample

PATIENCE = 30.0


class FaultyStore(MemoryStore):
    """
    Fails now and then in every way a store can, and sometimes in one that nobody foresaw.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._dice = random.Random(seed)
        self._guard = threading.Lock()

    def write(self, documents: Sequence[Document], mode: Mode) -> Outcome:
        with self._guard:
            fault = self._dice.random()
            if fault < 0.1:
                raise StoreError("connection refused")
            if fault < 0.2:
                super().write(documents, mode)  # stored, but nobody is told
                raise RuntimeError("a bug")
            if fault < 0.4:
                half = len(documents) // 2
                outcome = super().write(documents[:half], mode)
                outcome.kept = list(documents[half:])
                return outcome
            return super().write(documents, mode)


class Running:
    """
    An engine in a thread, on a real spool.
    """

    def __init__(self, folder: Path, store: MemoryStore, chain: Chain, writers: int) -> None:
        tiny = BackoffSettings(init=Duration(0.001), max=Duration(0.002))
        settings = WorkerSettings(
            bulk_max_size=7, worker=writers, backoff=tiny, flush=FlushSettings(Duration(0.001))
        )
        self.letters = DeadLetters(folder / "deadletters")
        self.queue = WorkerSpool(folder / "spool", settings)
        self.counters = Counters(folder / "counters.json", self.queue.reader.position)
        self.stop = threading.Event()
        delivery = Delivery(
            store=store,
            chain=chain,
            letters=self.letters,
            backoff=tiny,
            wait=self.stop.wait,
            notice=lambda text: None,
        )
        self.engine = Engine(self.queue, delivery, self.counters, Seen(), settings, self.stop)
        self._thread = threading.Thread(target=self.engine.run)
        self._thread.start()

    def settle(self) -> None:
        end = time.monotonic() + PATIENCE
        while self.queue.pending() and time.monotonic() < end:
            time.sleep(0.005)
        assert 0 == self.queue.pending()

    def close(self) -> None:
        self.stop.set()
        self.queue.arrived.set()
        self._thread.join(PATIENCE)
        self.queue.close()


@pytest.fixture
def run(tmp_path: Path, chain: Chain) -> Callable[..., Running]:
    return lambda store, writers: Running(tmp_path, store, chain, writers)


@pytest.mark.parametrize("writers", [1, 3])
def test_books_balance_whatever_fails(run: Callable[..., Running], writers: int) -> None:
    """
    Lost connections, half answers and bugs: each line is stored or a dead letter, and counted once.
    """
    store = FaultyStore(seed=writers)
    worker = run(store, writers)
    for first in range(0, 200, 10):
        worker.queue.append([*(make_line(n) for n in range(first, first + 9)), b"broken"])
    worker.settle()
    worker.close()
    tally = worker.counters.tally
    assert 200 == tally.total == tally.stored + tally.duplicate + tally.dead_lettered
    assert (180, 20) == (len(store.tables["process"]), tally.dead_lettered)
    assert {b"broken"} == {letter.input.encode() for letter in worker.letters.read()}
    assert worker.engine.faults > 0


def test_stopped_in_the_middle_and_started_again(run: Callable[..., Running]) -> None:
    """
    Stops at any moment lose nothing and count nothing twice.
    """
    store = FaultyStore(seed=9)
    for first in range(0, 120, 12):
        worker = run(store, 2)
        worker.queue.append([make_line(n) for n in range(first, first + 12)])
        time.sleep(0.005)
        worker.close()
    worker = run(store, 2)
    worker.settle()
    worker.close()
    assert 120 == len(store.tables["process"]) == worker.counters.tally.total


def test_seen_hosts_tell_lag_and_drops(tmp_path: Path) -> None:
    """
    For each host: when it last spoke, how late, and what its shipper had to drop; kept on disk.
    """
    now = 1_774_744_260.0  # a minute after the sample
    node = make_sample(
        dataset="node",
        **{
            "@timestamp": "2026-03-29T00:30:00.000Z",
            "shipper.dropped_by_bound": 3,
            "shipper.pending": 5,
            "agent.version": "1.2",
        },
    )
    seen = Seen(tmp_path / "hosts.json")
    seen.note([node, node], now)
    seen.save()
    (host,) = Seen(tmp_path / "hosts.json").hosts()
    expected = {"cluster": "fox", "host": "c1-1", "documents": 2, "lag_seconds": 60.0}
    assert expected == {name: host[name] for name in expected}
    assert (6, 5, "1.2") == (host["dropped_by_bound"], host["pending"], host["agent_version"])
