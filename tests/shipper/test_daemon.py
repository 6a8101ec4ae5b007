"""
The shipper's loop under everything that may go wrong around it.
"""

import json
import resource
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leadline.errors import SettingsError, SpoolError
from leadline.formats import Document
from leadline.settings import Duration, Size
from leadline.spool import SpoolSettings
from shipper.daemon import CHUNK, Daemon, Post, Shipper, run_once
from shipper.lock import OneAtATime
from shipper.senders.settings import BackoffSettings, QueueSettings, ShipSettings
from shipper.senders.sink import NotNow
from shipper.snapshot import Tally
from shipper.status import read_status
from tests.needs import lacking
from tests.shipper.conftest import wait_for

MINUTES_OF_A_DAY = 1440


class FakeLooker:
    """
    Numbers its documents; fails or stalls when told.
    """

    def __init__(self, per_tick: int = 3) -> None:
        self.unavailable = {"nvidia": "no driver"}
        self.per_tick = per_tick
        self.taken = self.ticks = 0
        self.times: list[float] = []
        self.problem: Exception | None = None
        self.closed = False

    @property
    def tally(self) -> Tally:
        return Tally(self.taken, self.ticks, 0)

    def stream(self) -> Iterator[Document]:
        self.ticks += 1
        self.times.append(time.time())
        for _ in range(self.per_tick):
            if self.problem is not None:
                raise self.problem
            self.taken += 1
            yield {"n": self.taken - 1}

    def close(self) -> None:
        self.closed = True


class ListSink:
    target = "list"

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.problem: Exception | None = None

    def send(self, data: bytes, count: int) -> None:
        if self.problem is not None:
            raise self.problem
        self.lines += data.splitlines()

    def close(self) -> None: ...


class Rig:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.looker = FakeLooker()
        self.sink = ListSink()
        self.told: list[str] = []
        self.out = folder / "out.ndjson"
        self.settings = ShipSettings(
            interval=Duration(0.1),
            sink="file",
            path=self.out,
            backoff=BackoffSettings(Duration(0.01), Duration(0.02)),
            shutdown_timeout=Duration(2),
        )

    def post(self, **more: object) -> Post:
        return Post(
            settings=replace(self.settings, **more),  # type: ignore[arg-type]
            look=lambda: self.looker,
            host="n1",
            state=self.folder / "state",
            spool=self.folder / "spool",
        )

    def shipper(self, **more: object) -> Shipper:
        return Shipper(self.post(**more), self.told.append, sink=self.sink)

    def status(self) -> dict[str, Any]:
        found = read_status(self.folder / "state")
        assert found is not None
        return found


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path)


def numbers(lines: list[bytes]) -> list[int]:
    found = [json.loads(line) for line in lines]
    return [document["n"] for document in found if "n" in document]


@pytest.fixture
def daemon(rig: Rig) -> Iterator[Callable[..., Daemon]]:
    running: list[tuple[Daemon, threading.Thread]] = []

    def start(load: Callable[[], Post]) -> Daemon:
        daemon = Daemon(load, rig.told.append)
        thread = threading.Thread(target=daemon.run)
        thread.start()
        running.append((daemon, thread))
        return daemon

    yield start
    for one, thread in running:
        if thread.is_alive():
            one.stop()
        thread.join(10)
        assert not thread.is_alive()


def test_ticks_come_at_multiples_and_all_arrives(rig: Rig, daemon: Callable[..., Daemon]) -> None:
    """
    After the first look, each one is at a multiple of the interval; stop sends what is there.
    """
    one = daemon(rig.post)
    wait_for(lambda: rig.looker.ticks >= 5)
    one.stop()
    wait_for(lambda: rig.looker.closed)
    late = [when % 0.1 for when in rig.looker.times[1:]]
    assert sorted(late)[len(late) // 2] < 0.05
    assert numbers(rig.out.read_bytes().splitlines()) == list(range(rig.looker.taken))
    assert rig.status()["totals"]["sent"] == rig.looker.taken


def test_worker_gone_for_a_day_loses_nothing(rig: Rig) -> None:
    """
    A day of ticks without a worker waits on disk, and goes in order once it is back.
    """
    rig.sink.problem = NotNow("down")
    shipper = rig.shipper()
    for _ in range(MINUTES_OF_A_DAY):
        shipper.tick()
    assert shipper.sender.step() > 0
    assert rig.status()["waiting"]["pending"] == MINUTES_OF_A_DAY * 3
    assert rig.status()["totals"]["sent"] == 0
    rig.sink.problem = None
    shipper.sender.drain(20)
    assert numbers(rig.sink.lines) == list(range(MINUTES_OF_A_DAY * 3))
    shipper.close(0)


def test_bound_is_counted_and_told(rig: Rig) -> None:
    """
    When the spool is full the oldest go, the event says how many, and the sum is right.
    """
    rig.sink.problem = NotNow("down")
    rig.looker.per_tick = 500
    disk = SpoolSettings(max_size=Size(1 << 16))
    shipper = rig.shipper(queue=QueueSettings(disk))
    for _ in range(30):
        shipper.tick()
    lost = rig.status()["totals"]["dropped_by_bound"]
    assert lost > 0
    rig.sink.problem = None
    shipper.sender.drain(5)
    found = [json.loads(line) for line in rig.sink.lines]
    events = [document for document in found if document.get("dataset") == "event"]
    assert [event["rule.name"] for event in events] in ([], ["shipper.dropped_by_bound"])
    got = numbers(rig.sink.lines)
    assert got == list(range(got[0], 15000))
    shipper.close(0)
    totals = rig.status()["totals"]
    assert totals["read"] == totals["sent"] + totals["dropped_by_bound"]


def test_lasting_loss_is_one_event_an_hour(rig: Rig) -> None:
    """
    A spool that stays full tells it at once and then hourly, with everything lost in between.
    """
    now = [1e9]
    disk = SpoolSettings(max_size=Size(1 << 16))
    rig.sink.problem = NotNow("down")
    rig.looker.per_tick = 400
    post = rig.post(queue=QueueSettings(disk))
    shipper = Shipper(post, rig.told.append, sink=rig.sink, clock=lambda: now[0])
    confessed = []
    for _ in range(150):
        shipper.tick()
        now[0] += 60
        confessed.append(rig.status()["confessed"]["dropped_by_bound"])
    assert len(set(confessed)) == 1 + 3
    assert confessed == sorted(confessed)
    shipper.close(0)


def test_failing_snapshot_is_told_once_and_the_loop_goes_on(rig: Rig) -> None:
    """
    Even a bug in looking leaves the loop alive.
    """
    shipper = rig.shipper()
    rig.looker.problem = ValueError("bug")
    for _ in range(3):
        shipper.tick()
    assert rig.told == ["snapshot failed: ValueError: bug"]
    assert rig.status()["failures"] == 3
    rig.looker.problem = None
    shipper.tick()
    assert rig.status()["problem"] == ""
    shipper.sender.drain(5)
    assert numbers(rig.sink.lines) == [0, 1, 2]
    shipper.close(0)


def test_look_is_never_held_whole(rig: Rig) -> None:
    """
    What a large node has is put into the spool while the rest is still being made.
    """
    shipper = rig.shipper()
    held: list[int] = []

    class Watched(FakeLooker):
        def stream(self) -> Iterator[Document]:
            for document in super().stream():
                held.append(self.taken - shipper.spool.counters.appended)
                yield document

    shipper.looker = Watched(1700)
    shipper.tick()
    assert max(held) <= CHUNK + 1
    assert shipper.spool.counters.appended == 1700
    shipper.close(0)


def test_look_that_breaks_off_keeps_what_it_had(rig: Rig) -> None:
    """
    What was made before a look failed is shipped: its deltas were taken.
    """
    shipper = rig.shipper()

    class Breaking(FakeLooker):
        def stream(self) -> Iterator[Document]:
            yield from super().stream()
            raise ValueError("bug")

    shipper.looker = Breaking(700)
    shipper.tick()
    assert rig.told == ["snapshot failed: ValueError: bug"]
    shipper.sender.drain(5)
    assert numbers(rig.sink.lines) == list(range(700))
    shipper.close(0)


def test_full_disk_counts_what_it_costs(rig: Rig) -> None:
    """
    What the disk cannot take is counted and told; before and after nothing is lost.
    """
    shipper = rig.shipper()
    rig.looker.per_tick = 1000
    shipper.tick()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, before[1]))
    try:
        shipper.tick()
        shipper.tick()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert len(rig.told) == 1
    assert "documents not accepted: File too large" in rig.told[0]
    assert "(1000 documents in all)" in rig.told[0]
    shipper.tick()
    shipper.sender.drain(5)
    assert numbers(rig.sink.lines) == [*range(1000), *range(3000, 4000)]
    event = next(json.loads(line) for line in rig.sink.lines if b"not_accepted" in line)
    assert event["event.count"] == 2001  # with the notice of the first loss
    shipper.close(0)
    assert rig.status()["totals"]["not_accepted"] == 2001


def test_really_full_disk(rig: Rig, tmp_path: Path) -> None:
    """
    On a file system of 256 KiB: full, told, freed, and everything accepted arrives in order.
    """
    mount = tmp_path / "small"
    mount.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=256k", "leadline-test", str(mount)]
    if subprocess.run(words, capture_output=True).returncode:
        lacking("needs the right to mount a small tmpfs")
    try:
        check_full_disk(rig, mount)
    finally:
        subprocess.run(["umount", "-l", str(mount)], check=True)


def check_full_disk(rig: Rig, mount: Path) -> None:
    rig.folder = mount
    rig.looker.per_tick = 1000
    shipper = rig.shipper()
    shipper.tick()
    (mount / "filler").write_bytes(b"x" * 200_000)
    for _ in range(12):
        shipper.tick()
    assert "documents not accepted: No space left on device" in " ".join(rig.told)
    shipper.sender.drain(5)
    (mount / "filler").unlink()
    shipper.tick()
    shipper.sender.drain(5)
    assert rig.status()["totals"]["not_accepted"] > 0
    got = numbers(rig.sink.lines)
    assert got == sorted(set(got))
    assert len(got) % CHUNK == 0
    assert got[-1] == rig.looker.taken - 1
    assert len(rig.sink.lines) == shipper.spool.counters.appended
    shipper.close(0)


def test_settings_are_read_again(rig: Rig, daemon: Callable[..., Daemon]) -> None:
    """
    A reload changes the sink without losing a document; settings that fail change nothing.
    """
    posts = [rig.post(), rig.post(path=rig.folder / "second.ndjson")]
    broken: list[Exception] = []

    def load() -> Post:
        if broken:
            raise broken[0]
        return posts.pop(0)

    one = daemon(load)
    wait_for(lambda: rig.looker.ticks >= 2)
    one.reload()
    wait_for(lambda: "settings read again" in rig.told)
    broken.append(SettingsError("leadline.yaml line 3: unknown setting ship.intervall"))
    one.reload()
    wait_for(lambda: any("line 3" in told for told in rig.told))
    ticks = rig.looker.ticks
    wait_for(lambda: rig.looker.ticks >= ticks + 2)
    one.stop()
    wait_for(lambda: rig.status()["sink"]["state"] == "stopped")
    wait_for(lambda: rig.status()["waiting"]["pending"] == 0)
    lines = rig.out.read_bytes() + (rig.folder / "second.ndjson").read_bytes()
    got = numbers(lines.splitlines())
    assert got == list(range(len(got)))
    assert len(got) >= 3 * ticks


def test_second_daemon_is_refused(rig: Rig) -> None:
    """
    Two shippers on one spool: the second says who is there.
    """
    shipper = rig.shipper()
    with pytest.raises(SpoolError, match="writes here already"):
        Shipper(rig.post(), rig.told.append, sink=ListSink())
    shipper.close(0)


def test_one_shot_runs_carry_over(rig: Rig) -> None:
    """
    Cron's runs share spool and counters: what one could not send, the next sends first.
    """
    (rig.out).mkdir()
    post = rig.post()
    assert run_once(post, rig.told.append)
    assert rig.status()["waiting"]["pending"] == 3
    rig.out.rmdir()
    assert run_once(post, rig.told.append)
    assert numbers(rig.out.read_bytes().splitlines()) == list(range(6))
    assert rig.status()["totals"]["sent"] == 6


def test_one_shot_runs_never_pile_up(rig: Rig) -> None:
    """
    While one run is still at work the next ends without doing anything.
    """
    with OneAtATime(rig.folder / "state"):
        assert not run_once(rig.post(), rig.told.append)
    assert rig.looker.ticks == 0
