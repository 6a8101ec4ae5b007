"""Filters and the roll-up of like processes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from leadline.errors import SettingsError
from shipper.settings import ProcessSettings
from shipper.snapshot import Snapshots
from tests.shipper.conftest import of, processes
from tests.shipper.fake import FakeSystem

Start = Callable[..., Snapshots]


@pytest.fixture
def three(system: FakeSystem) -> FakeSystem:
    system.process(300, uid=1001, name=b"python", command=b"python\0a.py\0", rss=1000)
    system.process(301, uid=1002, name=b"bash", command=b"bash\0", rss=10)
    system.process(302, uid=0, name=b"sshd", command=b"sshd: x\0", rss=10)
    return system


@pytest.mark.parametrize(
    ("settings", "pids"),
    [
        (ProcessSettings(), [300, 301, 302]),
        (ProcessSettings(users=("alice", "0")), [300, 302]),
        (ProcessSettings(exclude_users=("root",)), [300, 301]),
        (ProcessSettings(uid_min=1000), [300, 301]),
        (ProcessSettings(uid_min=1002, uid_max=1002), [301]),
        (ProcessSettings(commands=("^python .*py$",)), [300]),
        (ProcessSettings(exclude_commands=("^bash$", "sshd")), [300]),
    ],
)
def test_filters_choose(
    three: FakeSystem, start: Start, settings: ProcessSettings, pids: list[int]
) -> None:
    """
    By user, uid range and command; what is left out is counted.
    """
    snapshots = start(process=settings)
    assert [p["process.pid"] for p in processes(snapshots.take())] == pids
    assert snapshots.tally.left_out == 3 - len(pids)


def test_minimum_cpu_and_memory(three: FakeSystem, start: Start) -> None:
    """
    One of the minima is enough; what was not measured yet is not below the minimum.
    """
    settings = ProcessSettings(minimum_cpu=50.0, minimum_memory=1000 * 4096)  # type: ignore[arg-type]
    snapshots = start(process=settings)
    assert len(processes(snapshots.take())) == 3
    three.process(302, uid=0, name=b"sshd", command=b"sshd: x\0", user=4000)
    three.pass_time(60)
    assert [p["process.pid"] for p in processes(snapshots.take())] == [300, 302]


def test_a_broken_pattern_is_named(start: Start) -> None:
    """
    A regular expression that is none is told by setting and text.
    """
    with pytest.raises(SettingsError, match=r"collect.process.commands: '\('"):
        start(process=ProcessSettings(commands=("(",)))


def test_like_processes_are_one(system: FakeSystem, start: Start) -> None:
    """
    Sums of what they used, the most active state, the earliest start, no pid.
    """
    for pid in (300, 301, 302):
        system.process(pid, session=300, parent=9, start=50_000 + pid)
    snapshots = start()
    snapshots.take()
    for pid, state in ((300, "S"), (301, "R"), (302, "S")):
        system.process(
            pid, session=300, parent=9, start=50_000 + pid, user=600, io=(100, 1), state=state
        )
    system.pass_time(60)
    (told,) = processes(snapshots.take())
    assert (told["rolled_up"], told["process.count"], told["process.state"]) == (True, 3, "R")
    assert (told["core_seconds"], told["cpu.percent"]) == (18.0, 30.0)
    assert (told["io.read.bytes"], told["memory.rss.bytes"]) == (300, 3 * 409_600)
    assert told["process.thread.count"] == 3
    assert "process.pid" not in told
    assert str(told["process.entity_id"]).startswith("r")


def test_only_like_ones_are_rolled_up(system: FakeSystem, start: Start) -> None:
    """
    Another user, another job, another command line, a zombie: each stands for itself.
    """
    system.process(300, session=300)
    system.process(301, session=300, uid=1002)
    system.process(302, session=302)
    system.process(303, session=300, command=b"sleep\x00301\x00")
    system.process(304, session=300, state="Z")
    told = processes(start().take())
    assert len(told) == 5
    assert not any(p.get("rolled_up") for p in told)


def test_unmeasured_is_never_summed_into_measured(system: FakeSystem, start: Start) -> None:
    """
    One whose I/O may not be read is not hidden in a sum that leaves it out.
    """
    system.process(300, session=300)
    system.process(301, session=300)
    system.denied.add("/proc/301/io")
    snapshots = start()
    snapshots.take()
    system.pass_time(60)
    told = processes(snapshots.take())
    assert sorted("io.read.bytes" in p for p in told) == [False, True]


def test_a_roll_up_keeps_its_id(system: FakeSystem, start: Start) -> None:
    """
    The id says what was merged, not which pids: the same from tick to tick.
    """
    snapshots = start()
    ids = set()
    for pids in ((300, 301), (301, 302)):
        for pid in pids:
            system.process(pid, session=300)
        ids |= {p["process.entity_id"] for p in processes(snapshots.take()) if "rolled_up" in p}
        system.pass_time(60)
        system.end(pids[0])
    assert len(ids) == 1


def test_roll_up_can_be_off(system: FakeSystem, start: Start) -> None:
    """
    Then every process is a document.
    """
    for pid in (300, 301):
        system.process(pid, session=300)
    assert len(processes(start(process=ProcessSettings(roll_up=False)).take())) == 2


def test_users_are_counted(three: FakeSystem, start: Start) -> None:
    """
    People with a process on the node, those a filter leaves out included; not the system's.
    """
    documents = start(process=ProcessSettings(users=("alice",))).take()
    assert of(documents, "node")[0]["users.count"] == 2
