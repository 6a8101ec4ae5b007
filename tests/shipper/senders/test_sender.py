"""
The sender: order kept, nothing forgotten before it is taken, and whatever a worker does survived.
"""

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.settings import Duration, Size
from leadline.spool import Spool
from shipper.senders.http import HttpSink
from shipper.senders.refused import RefusedFile
from shipper.senders.sender import READER, Sender
from shipper.senders.settings import BackoffSettings, FlushSettings, ShipSettings
from shipper.senders.sink import NotNow, Paused, Refused
from tests.shipper.senders.worker import Worker

Start = Callable[..., Worker]


class FakeSink:
    """
    Takes what it is told to take; raises what it is told to raise.
    """

    target = "fake"

    def __init__(self, judge: Callable[[list[bytes]], Exception | None] = lambda _: None) -> None:
        self.judge = judge
        self.taken: list[bytes] = []
        self.offers: list[int] = []
        self.closed = False

    def send(self, data: bytes, count: int) -> None:
        lines = data.splitlines()
        assert len(lines) == count
        self.offers.append(count)
        if problem := self.judge(lines):
            raise problem
        self.taken += lines

    def close(self) -> None:
        self.closed = True


class Rig:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.spool = Spool(folder / "spool")
        self.told: list[str] = []
        self.now = 1000.0

    def sender(self, sink: FakeSink | HttpSink, **more: object) -> Sender:
        chosen = ShipSettings(**more)  # type: ignore[arg-type]
        return Sender(
            self.spool.reader(READER),
            sink,
            chosen,
            RefusedFile(self.folder / "refused.ndjson"),
            tell=self.told.append,
            clock=lambda: self.now,
            draw=lambda low, high: high,
        )

    def fill(self, count: int) -> list[bytes]:
        lines = [b'{"n": %d}' % n for n in range(count)]
        self.spool.append(lines)
        return lines


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    rig = Rig(tmp_path)
    yield rig
    rig.spool.close()


def test_everything_is_sent_in_order_in_batches(rig: Rig) -> None:
    """
    Batches are as large as bulk_max_size allows, and then there is nothing left.
    """
    sink = FakeSink()
    lines = rig.fill(25)
    sender = rig.sender(sink, bulk_max_size=10)
    sender.drain(5)
    assert lines == sink.taken
    assert sink.offers == [10, 10, 5]
    assert rig.spool.pending(READER).documents == 0
    assert sender.state.state == "idle"


def test_bytes_of_a_batch_are_bounded(rig: Rig) -> None:
    """
    bulk_max_bytes holds too, whatever the count.
    """
    sink = FakeSink()
    lines = rig.fill(30)
    rig.sender(sink, bulk_max_bytes=Size(45)).drain(5)
    assert lines == sink.taken
    assert max(sink.offers) <= 5


def test_waits_double_up_to_the_maximum(rig: Rig) -> None:
    """
    Each failure doubles the ceiling below which the wait is drawn; success starts anew.
    """
    failing = [True]
    sink = FakeSink(lambda _: NotNow("down") if failing[0] else None)
    rig.fill(3)
    backoff = BackoffSettings(init=Duration(1), max=Duration(10))
    sender = rig.sender(sink, backoff=backoff)
    assert [sender.step() for _ in range(6)] == [1, 2, 4, 8, 10, 10]
    assert sender.state.state == "waiting"
    assert rig.told == ["waiting: down"]
    failing[0] = False
    assert sender.step() == 0
    failing[0] = True
    rig.fill(1)
    assert sender.step() == 1
    assert rig.told == ["waiting: down", "sending again to fake", "waiting: down"]


def test_worker_may_ask_for_a_longer_wait(rig: Rig) -> None:
    """
    Retry-After is honoured up to backoff.max.
    """
    wanted = [7.0]
    sink = FakeSink(lambda _: NotNow("busy", wanted[0]))
    rig.fill(1)
    sender = rig.sender(sink, backoff=BackoffSettings(Duration(1), Duration(60)))
    assert sender.step() == 7
    wanted[0] = 7000.0
    assert sender.step() == 60


def test_missing_right_pauses_and_keeps_everything(rig: Rig) -> None:
    """
    401 and its like: nothing is given up, the reason is told once, and it goes on when mended.
    """
    problem: list[Exception | None] = [Paused("401 unknown token")]
    sink = FakeSink(lambda _: problem[0])
    lines = rig.fill(5)
    sender = rig.sender(sink)
    assert [sender.step() for _ in range(3)] == [60, 60, 60]
    assert (sender.state.state, sender.state.reason) == ("paused", "401 unknown token")
    assert rig.told == ["paused: 401 unknown token"]
    problem[0] = None
    sender.drain(5)
    assert lines == sink.taken


def test_single_bad_document_is_isolated(rig: Rig) -> None:
    """
    One poisoned line among 1000: 999 arrive in order, the one is kept with the reason and counted.
    """
    bad = b'{"n": 613}'
    sink = FakeSink(lambda lines: Refused("400 broken") if bad in lines else None)
    lines = rig.fill(1000)
    rig.sender(sink, bulk_max_size=500).drain(5)
    assert [line for line in lines if line != bad] == sink.taken
    record = json.loads((rig.folder / "refused.ndjson").read_text())
    assert (record["reason"], record["document"]) == ("400 broken", bad.decode())
    assert len(sink.offers) < 60
    assert RefusedFile(rig.folder / "refused.ndjson").count == 1


def test_too_large_batches_become_smaller_for_good(rig: Rig) -> None:
    """
    After a 413 the byte limit stays below what was too much, so that it is not run into again.
    """
    sink = FakeSink(lambda lines: Refused("413", True) if sum(map(len, lines)) > 100 else None)
    lines = rig.fill(300)
    rig.sender(sink).drain(5)
    assert lines == sink.taken
    assert len(sink.offers) < 60


def test_worker_that_refuses_everything_slows_us_down(rig: Rig) -> None:
    """
    When not one document is taken any more it is probably not the documents: no rush to give up.
    """
    sink = FakeSink(lambda _: Refused("400 always"))
    rig.fill(100)
    sender = rig.sender(sink, bulk_max_size=4)
    waits = [sender.step() for _ in range(100)]
    assert waits.index(1) >= 20
    assert sender.state.reason == "refuses everything: 400 always"
    assert RefusedFile(rig.folder / "refused.ndjson").count < 100


def test_partial_batch_waits_for_more(rig: Rig) -> None:
    """
    With flush.timeout a small batch waits, and leaves when time is up or when it is full.
    """
    sink = FakeSink()
    rig.fill(3)
    sender = rig.sender(sink, bulk_max_size=10, flush=FlushSettings(Duration(5)))
    assert sender.step() == 5
    rig.now += 2
    assert sender.step() == 3
    rig.fill(7)
    assert sender.step() == 0
    rig.fill(1)
    assert sender.step() == 5
    rig.now += 5
    assert sender.step() == 0
    assert sink.offers == [10, 1]


def test_full_disk_does_not_stop_delivery(rig: Rig) -> None:
    """
    A position that cannot be written is kept in memory: each document leaves once, none waits.
    """
    sink = FakeSink()
    lines = rig.fill(30)
    sender = rig.sender(sink, bulk_max_size=10)
    position = rig.folder / "spool" / "reader-sender.json"
    position.unlink()
    (position / "in the way").mkdir(parents=True)
    sender.drain(5)
    assert lines == sink.taken
    assert "cannot keep the position" in rig.told[0]


def test_bug_in_a_sink_is_told_and_retried(rig: Rig) -> None:
    """
    An unexpected exception ends neither the thread nor the delivery.
    """
    broken = [True]

    def judge(_: list[bytes]) -> Exception | None:
        return ZeroDivisionError("oops") if broken.pop() else None

    broken = [False, True]
    sink = FakeSink(judge)
    lines = rig.fill(1)
    backoff = BackoffSettings(init=Duration(0.01), max=Duration(0.01))
    sender = rig.sender(sink, backoff=backoff)
    sender.start()
    wait_for(lambda: lines == sink.taken)
    sender.stop(2)
    assert "waiting: ZeroDivisionError: oops" in rig.told
    assert sink.closed


def test_thread_sends_what_arrives_and_stops_when_told(rig: Rig) -> None:
    """
    New documents leave at once after a wake-up; stop sends the rest first.
    """
    sink = FakeSink()
    sender = rig.sender(sink, bulk_max_size=10)
    sender.start()
    for _ in range(3):
        rig.fill(10)
        sender.wake()
    wait_for(lambda: len(sink.taken) == 30)
    rig.fill(50)
    sender.stop(5)
    assert len(sink.taken) == 80
    assert sender.state.state == "stopped"


def test_stop_does_not_wait_for_a_dead_worker(rig: Rig) -> None:
    """
    With the worker gone the end comes at once; what is spooled stays spooled.
    """
    sink = FakeSink(lambda _: NotNow("down"))
    rig.fill(10)
    sender = rig.sender(sink)
    sender.start()
    wait_for(lambda: bool(sink.offers))
    begun = time.monotonic()
    sender.stop(5)
    assert time.monotonic() - begun < 4.5
    assert rig.spool.pending(READER).documents == 10


@settings(max_examples=60, deadline=None)
@given(
    batches=st.lists(st.integers(1, 8), min_size=1, max_size=8),
    moods=st.lists(
        st.sampled_from(["take", "later", "pause", "refuse", "large", "bug"]), max_size=40
    ),
    bulk=st.integers(1, 10),
    poisoned=st.sets(st.integers(0, 30), max_size=3),
)
def test_any_moods_keep_order_and_lose_nothing(
    tmp_path_factory: pytest.TempPathFactory,
    batches: list[int],
    moods: list[str],
    bulk: int,
    poisoned: set[int],
) -> None:
    """
    Whatever the sink answers in whatever order: each document is taken once or refused once, and
    what is taken is in order.
    """
    rig = Rig(tmp_path_factory.mktemp("moods"))
    left = list(moods)

    def judge(lines: list[bytes]) -> Exception | None:
        mood = left.pop() if left else "take"
        if mood == "bug":
            return ValueError("bug")
        if mood in ("later", "pause"):
            return NotNow("later") if mood == "later" else Paused("pause")
        if poisoned & {json.loads(line)["n"] for line in lines}:
            return Refused("poison")
        if len(lines) > 1 and mood in ("refuse", "large"):
            return Refused(mood, mood == "large")
        return None

    sink = FakeSink(judge)
    total = sum(batches)
    rig.spool.append([b'{"n": %d}' % n for n in range(total)])
    sender = rig.sender(sink, bulk_max_size=bulk)
    for _ in range(1000):
        with contextlib.suppress(ValueError):
            sender.step()
        if rig.spool.pending(READER).documents == 0:
            break
    rig.spool.close()
    taken = [json.loads(line)["n"] for line in sink.taken]
    assert taken == [n for n in range(total) if n not in poisoned]
    assert RefusedFile(rig.folder / "refused.ndjson").count == len(poisoned & set(range(total)))


def test_real_worker_with_moods_gets_everything_once_in_order(rig: Rig, worker: Start) -> None:
    """
    Garbage, errors, cut connections and a proxy's page in between: all arrives, in order, once.
    """
    moods = [(503, b""), b"", None, (200, b"<html>"), b"\x00\xff", None, (429, b""), (502, b"bad")]
    said = iter(moods * 3)
    there = worker(lambda lines: next(said, None))
    lines = rig.fill(200)
    sink = HttpSink(ShipSettings(endpoints=(there.url,), timeout=Duration(2)), "n1")
    backoff = BackoffSettings(init=Duration(0.001), max=Duration(0.002))
    sender = rig.sender(sink, bulk_max_size=20, backoff=backoff)
    sender.start()
    wait_for(lambda: len(there.taken) >= 200)
    sender.stop(2)
    assert lines == there.taken


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < until, "did not happen within 10 s"
        time.sleep(0.005)
