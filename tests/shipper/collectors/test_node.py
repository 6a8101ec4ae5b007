"""The node's document: what the whole machine did, and that it is alive."""

from __future__ import annotations

from collections.abc import Callable

from leadline.formats import Document
from shipper.snapshot import Snapshots
from tests.shipper.conftest import of
from tests.shipper.fake import FakeSystem

Start = Callable[..., Snapshots]


def told(snapshots: Snapshots) -> Document:
    (document,) = of(snapshots.take(), "node")
    return document


def test_cpu_time_is_a_delta_per_state(system: FakeSystem, start: Start) -> None:
    """
    Busy is what somebody used: not idle, not iowait, not what a hypervisor took.
    """
    snapshots = start(collectors=("node",))
    system.cpu(1000, 500, 9000, 100)
    assert "core_seconds" not in told(snapshots)
    system.cpu(4000, 1500, 10_000, 200)
    system.pass_time(60)
    node = told(snapshots)
    assert (node["cpu.user.seconds"], node["cpu.system.seconds"]) == (30, 10)
    assert (node["cpu.idle.seconds"], node["cpu.iowait.seconds"]) == (10, 1)
    assert (node["core_seconds"], node["cpu.percent"]) == (40, 66.7)
    assert (node["processes.runnable"], node["processes.blocked"]) == (2, 1)


def test_iowait_may_step_back(system: FakeSystem, start: Start) -> None:
    """
    The kernel lets that counter fall: its delta is absent, the others stay.
    """
    snapshots = start(collectors=("node",))
    system.cpu(1000, 500, 9000, 100)
    snapshots.take()
    system.cpu(1100, 500, 9000, 90)
    node = told(snapshots)
    assert "cpu.iowait.seconds" not in node
    assert node["core_seconds"] == 1


def test_memory_load_and_pressure(system: FakeSystem, start: Start) -> None:
    """
    Used is what is not available; a kernel without pressure figures says nothing of them.
    """
    system.put(
        "/proc/meminfo",
        "MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable: 400 kB\nCached: 250 kB\n"
        "SwapTotal: 80 kB\nSwapFree: 60 kB\nHugePages_Total: 0\n",
    )
    system.put("/proc/loadavg", "1.50 2.25 3.00 5/777 4242\n")
    system.put(
        "/proc/pressure/memory",
        "some avg10=1.00 avg60=2.50 avg300=0.10 total=9\n"
        "full avg10=0 avg60=1.25 avg300=0 total=1\n",
    )
    node = told(start(collectors=("node",)))
    assert (node["memory.total.bytes"], node["memory.used.bytes"]) == (1_024_000, 614_400)
    assert (node["swap.total.bytes"], node["swap.used.bytes"]) == (81_920, 20_480)
    assert (node["load.1m"], node["load.15m"], node["processes.total"]) == (1.5, 3.0, 777)
    assert node["pressure.memory.percent"] == 2.5
    assert node["pressure.memory.full.percent"] == 1.25
    assert "pressure.io.percent" not in node


def test_cores_are_not_threads(system: FakeSystem, start: Start) -> None:
    """
    Two sockets with a core of two threads each: two cores, four threads.
    """
    text = "processor: {}\nmodel name: EPYC 9654\nphysical id: {}\ncore id: 0\n\n"
    system.put("/proc/cpuinfo", "".join(text.format(n, n % 2) for n in range(4)))
    node = told(start(collectors=("node",), node_type="big"))
    assert (node["node.cores"], node["node.threads"]) == (2, 4)
    assert (node["host.cpu.model"], node["node.type"]) == ("EPYC 9654", "big")


def test_cores_by_siblings(system: FakeSystem, start: Start) -> None:
    """
    ARM's cpuinfo names no cores: the lists of sibling threads do.
    """
    system.put("/proc/cpuinfo", "processor: 0\n\nprocessor: 1\n")
    for cpu, siblings in ((0, "0"), (1, "1")):
        path = f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
        system.put(path, siblings)
    assert told(start(collectors=("node",)))["node.cores"] == 2


def test_an_empty_node_is_a_heartbeat(start: Start) -> None:
    """
    Whatever collectors run, and even if none does, the node says that it is there.
    """
    node = told(start(collectors=(), cluster="fox", host="N1-X"))
    assert (node["host.name"], node["cluster"]) == ("n1-x", "fox")
    assert {"memory.total.bytes", "cpu.percent"}.isdisjoint(node)
