"""What goes wrong on real nodes: nothing of it may crash a shipper or make a number wrong."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from leadline.formats import Document
from shipper.collectors.contract import Gear, NoticeError, Tick
from shipper.settings import CollectSettings, ProcessSettings
from shipper.snapshot import Snapshots
from shipper.system import HELD_DESCRIPTORS, System
from shipper.users import Users
from tests.shipper.conftest import of, processes
from tests.shipper.fake import FakeSystem

Start = Callable[..., Snapshots]
SOON = 0.15


class Odd:
    """
    A collector that does what a test tells it.
    """

    def __init__(self, work: Callable[[], Iterable[Document]]) -> None:
        self.work = work

    def build(self, gear: Gear) -> Odd:
        return self

    def __call__(self, tick: Tick) -> Iterator[Document]:
        yield from self.work()


def with_odd(system: FakeSystem, work: Callable[[], Iterable[Document]]) -> Snapshots:
    from shipper.collectors import BUILT_IN

    settings = CollectSettings(collectors=("process", "disk"), deadline=SOON)  # type: ignore[arg-type]
    return Snapshots(settings, system, modules={"process": BUILT_IN["process"], "disk": Odd(work)})


def test_a_collector_that_fails_is_an_event(system: FakeSystem) -> None:
    """
    The others go on; the event names collector and reason; it is counted.
    """

    def fail() -> Iterable[Document]:
        raise ValueError("column 7 is no number")

    system.process(300)
    snapshots = with_odd(system, fail)
    documents = snapshots.take()
    (event,) = of(documents, "event")
    assert event["rule.name"] == "shipper.disk"
    assert event["event.reason"] == "ValueError: column 7 is no number"
    assert len(processes(documents)) == 1
    assert snapshots.tally.failures == 1


def test_a_notice_is_said_in_its_own_words(system: FakeSystem) -> None:
    """
    A collector that knows what is wrong says it itself.
    """

    def tell() -> Iterable[Document]:
        raise NoticeError("the BMC is busy")

    (event,) = of(with_odd(system, tell).take(), "event")
    assert event["event.reason"] == "the BMC is busy"


def test_a_collector_that_hangs_is_cut_off(system: FakeSystem) -> None:
    """
    It costs its deadline once; while it hangs the others are not held up; it may come back, and
    what it answers late is sent once, with the time of the look that asked.
    """
    wake, entered = threading.Event(), threading.Semaphore(0)

    def hang() -> Iterable[Document]:
        entered.release()
        wake.wait(10)
        return [{"dataset": "disk", "disk.name": "sda"}]

    system.process(300)
    snapshots = with_odd(system, hang)
    documents = snapshots.take()
    asked = documents[-1]["sample.time"]
    assert entered.acquire(timeout=5)
    assert len(processes(documents)) == 1
    assert "deadline" in str(of(documents, "event")[0]["event.reason"])
    system.pass_time(60)
    assert of(snapshots.take(), "disk") == []
    wake.set()
    times = come_back(system, snapshots)
    assert times[0] == asked
    assert len(set(times)) == len(times)
    snapshots.close()


def test_each_collector_has_the_whole_deadline_and_no_more(system: FakeSystem) -> None:
    """
    Two that hang cost one deadline, not two, and what others measured meanwhile goes out with them.
    """
    from shipper.collectors import BUILT_IN

    wake = threading.Event()

    def hang() -> Iterable[Document]:
        wake.wait(10)
        return []

    modules = {"node": Odd(hang), "disk": Odd(hang), "process": BUILT_IN["process"]}
    settings = CollectSettings(collectors=tuple(modules), deadline=1.0)  # type: ignore[arg-type]
    system.process(300)
    system.uptime = time.monotonic  # type: ignore[method-assign]
    snapshots = Snapshots(settings, system, modules=modules)
    begun = time.monotonic()
    documents = snapshots.take()
    assert 1.0 <= time.monotonic() - begun < 1.9
    cut = {"shipper.node", "shipper.disk"}
    assert cut == {event["rule.name"] for event in of(documents, "event")}
    assert len(processes(documents)) == 1
    assert len(of(documents, "node")) == 1
    wake.set()
    snapshots.close()


def come_back(system: FakeSystem, snapshots: Snapshots) -> list[object]:
    """
    Looks until the collector answers in time again; the times of all its documents.
    """
    found: list[object] = []
    for _ in range(100):
        system.pass_time(60)
        documents = snapshots.take()
        found += [document["sample.time"] for document in of(documents, "disk")]
        if documents[-1]["sample.time"] in found:
            return found
        threading.Event().wait(0.01)
    raise AssertionError("did not come back")


def test_what_a_late_answer_cannot_tell_is_told(system: FakeSystem) -> None:
    """
    The node's document of the look that was cut off is sent already: what it lacks is an event.
    """
    wake = threading.Event()

    def hang() -> Iterable[Document]:
        wake.wait(10)
        return [{"dataset": "node", "processes.created": 5}]

    snapshots = with_odd(system, hang)
    snapshots.take()
    wake.set()
    for _ in range(100):
        reasons = [str(event["event.reason"]) for event in of(snapshots.take(), "event")]
        if any("late" in reason for reason in reasons):
            break
        threading.Event().wait(0.01)
    assert "answered late; the node's document lacks processes.created" in reasons
    snapshots.close()


def test_a_dead_directory_stalls_nothing(system: FakeSystem) -> None:
    """
    All users of a tick together wait once; the names arrive when the directory does.
    """
    wake = threading.Event()

    class Slow(FakeSystem):
        def user_name(self, uid: int) -> str | None:
            wake.wait(10)
            return super().user_name(uid)

    slow = Slow(Path(system.root))
    asked: list[float] = []
    slow.uptime = lambda: 1000.0  # type: ignore[method-assign]
    users = Users(slow, patience=0.05)
    users.turn()
    begun = time.monotonic()
    for uid in range(1001, 1201):
        asked.append(uid)
        assert users.name(uid) == f"_user_{uid}"
    assert time.monotonic() - begun < 2  # not 200 times 0.05 s, and not the directory's 10 s
    wake.set()
    for _ in range(200):
        users.turn()
        if users.name(1001) == "alice" and users.name(1002) == "bob":
            break
    assert (users.name(1001), users.name(1002)) == ("alice", "bob")


def test_an_unknown_user_keeps_a_name(system: FakeSystem, start: Start) -> None:
    """
    Users not in the directory are sent by number, never dropped.
    """
    system.process(300, uid=5555)
    (told,) = processes(start().take())
    assert (told["user.name"], told["user.id"]) == ("_user_5555", "5555")


def test_a_directory_that_forgets_renames_nobody(system: FakeSystem) -> None:
    """
    A name once known is kept while the directory answers that there is no such user.
    """
    users = Users(system)
    assert users.name(1001) == "alice"
    system.users.clear()
    system.pass_time(10_000)
    users.name(1001)
    threading.Event().wait(0.05)
    users.turn()
    assert users.name(1001) == "alice"


def test_a_full_disk_stops_no_sample(system: FakeSystem, start: Start, tmp_path: Path) -> None:
    """
    State that cannot be written costs the next run its deltas, and is told; the sample goes out.
    """
    blocked = tmp_path / "state"
    blocked.write_text("a file where the folder should be")
    system.process(300)
    documents = start(state=blocked).take()
    assert len(processes(documents)) == 1
    assert [e["rule.name"] for e in of(documents, "event")] == ["shipper.state"]


def test_no_descriptors_left(system: FakeSystem, start: Start) -> None:
    """
    Beyond the limit files are opened each time: slower, with the same figures.
    """
    system.spare_descriptors = 3
    for pid in range(300, 320):
        system.process(pid, session=pid)
    snapshots = start()
    snapshots.take()
    for pid in range(300, 320):
        system.process(pid, session=pid, user=60, io=(9, 9))
    system.pass_time(60)
    told = processes(snapshots.take())
    assert {(p["core_seconds"], p["io.read.bytes"]) for p in told} == {(0.6, 9)}
    assert len(told) == 20


def test_descriptors_are_bounded_whatever_the_limit(system: FakeSystem) -> None:
    """
    Each held file is a page of kernel memory: a fork bomb must not make the shipper as large.
    """
    system.process(300)
    system._descriptors = HELD_DESCRIPTORS
    assert System.hold(system, 300, "stat") == -1
    system._descriptors = 0
    descriptor = System.hold(system, 300, "stat")
    assert descriptor >= 0
    system.let_go(descriptor)


def test_descriptors_are_given_back(system: FakeSystem, start: Start) -> None:
    """
    Processes that come and go leave no open file behind.
    """
    folder = Path("/proc/self/fd")
    snapshots = start()
    snapshots.take()
    before = len(list(folder.iterdir()))
    for round_ in range(20):
        pids = range(300 + 10 * round_, 310 + 10 * round_)
        for pid in pids:
            system.process(pid)
        snapshots.take()
        for pid in pids:
            system.end(pid)
    snapshots.take()
    assert len(list(folder.iterdir())) <= before


def test_one_look_twice_at_the_same_moment(system: FakeSystem, start: Start) -> None:
    """
    No interval, no rate: nothing is divided by zero.
    """
    system.process(300)
    snapshots = start()
    snapshots.take()
    (told,) = processes(snapshots.take())
    assert "cpu.percent" not in told


@pytest.mark.parametrize("line", [b"", b"300", b"300 (x", b"300 (x) S 1", b"\xff\0\xff" * 99])
def test_a_broken_stat_line_is_no_process(system: FakeSystem, start: Start, line: bytes) -> None:
    """
    Half a line, or none: the process is left out of this tick, without a failure.
    """
    system.process(300)
    system.put("/proc/300/stat", line)
    documents = start().take()
    assert processes(documents) == of(documents, "event") == []


def test_a_hundred_thousand_processes(start: Start, system: FakeSystem) -> None:
    """
    A fork bomb is measured like anything else, in bounded time.
    """

    class Many(FakeSystem):
        def pids(self) -> list[int]:
            return list(range(100_000, 200_000))

        def hold(self, pid: int, name: str) -> int:
            return -1

        def read(self, path: str, limit: int = 1 << 22) -> bytes | None:
            parts = path.split("/")
            if len(parts) == 4 and parts[2].isdigit():
                return self.answer(int(parts[2]), parts[3])
            return super().read(path, limit)

        def answer(self, pid: int, name: str) -> bytes | None:
            if name == "stat":
                return b"%d (bomb) S 1 9 9 0 -1 0 0 0 0 0 5 5 0 0 20 0 1 0 5 9 1 1 1 1 7 0\n" % pid
            return b"bomb\0" if name == "cmdline" else b""

    many = Many(Path(system.root))
    settings = CollectSettings(collectors=("process",), deadline=100)  # type: ignore[arg-type]
    snapshots = Snapshots(settings, many)
    begun = time.process_time()
    (told,) = processes(snapshots.take())
    assert told["process.count"] == 100_000
    assert time.process_time() - begun < 60
    snapshots.close()


def test_pss_is_read_for_the_large(system: FakeSystem, start: Start) -> None:
    """
    Where a setting asks for it; a small process is not worth the walk through its pages.
    """
    for pid, pages in ((300, 1000), (301, 1)):
        system.process(pid, rss=pages)
        system.put(f"/proc/{pid}/smaps_rollup", "Rss: 900 kB\nPss:  123 kB\n")
    settings = ProcessSettings(pss_from=100 * 4096)  # type: ignore[arg-type]
    large, small = processes(start(process=settings).take())
    assert large["memory.pss.bytes"] == 123 * 1024
    assert "memory.pss.bytes" not in small
