"""The psutil path beside the /proc path, on this machine's own processes."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

import psutil
import pytest

from leadline.formats import Document
from leadline.formats.times import parse_time
from shipper.settings import CollectSettings, ProcessSettings, StraySettings
from shipper.snapshot import Snapshots
from shipper.system import System
from tests.shipper.conftest import processes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="compares with /proc")

SAME = (
    "process.pid", "process.parent.pid", "process.name", "process.command_line",
    "process.executable", "process.state", "process.thread.count", "user.id", "user.name",
)  # fmt: skip
SPIN = "import sys; sys.stdin.read(1)\nfor i in range(3_000_000): pass\nprint(1, flush=True)\nsys.stdin.read()"  # noqa: E501


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    words: list[str | bytes] = [sys.executable, "-c", SPIN, "two words", "tab\there", b"\xff"]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    yield process
    process.communicate()


def wait_until_asleep(pid: int) -> None:
    """
    It waits for its input: nothing of it changes between two looks.
    """
    for _ in range(1000):
        if psutil.Process(pid).status() == psutil.STATUS_SLEEPING:
            return
        time.sleep(0.01)
    raise AssertionError("the child is still at work")


def both(pid: int, work: subprocess.Popen[bytes]) -> list[Document]:
    """
    The child's document after it worked, by /proc and by psutil.
    """
    takers = [
        Snapshots(
            CollectSettings(
                collectors=("process",),
                process=ProcessSettings(source=source, roll_up=False),
                stray=StraySettings(enabled=False),  # is a scheduler here? only /proc can tell
            ),
            System(),
        )
        for source in ("proc", "psutil")
    ]  # fmt: skip
    wait_until_asleep(pid)
    for taker in takers:
        taker.take()
    assert work.stdin is not None
    assert work.stdout is not None
    work.stdin.write(b"g")
    work.stdin.flush()
    work.stdout.readline()
    wait_until_asleep(pid)
    found = []
    for taker in takers:
        (told,) = [p for p in processes(taker.take()) if p["process.pid"] == pid]
        found.append(told)
        taker.close()
    return found


def test_both_paths_say_the_same(child: subprocess.Popen[bytes]) -> None:
    """
    Field by field: identity is equal, measurements are within what passes between two looks.
    """
    proc, portable = both(child.pid, child)
    assert {name: portable.get(name) for name in SAME} == {name: proc.get(name) for name in SAME}
    assert set(proc) == set(portable)
    assert proc["core_seconds"] == pytest.approx(portable["core_seconds"], abs=0.03)
    assert float(str(proc["core_seconds"])) > 0
    assert proc["memory.rss.bytes"] == pytest.approx(portable["memory.rss.bytes"], rel=0.2)
    assert proc["memory.virtual.bytes"] == portable["memory.virtual.bytes"]
    assert proc["io.read.bytes"] == portable["io.read.bytes"]
    starts = [parse_time(str(p["process.start"])).timestamp() for p in (proc, portable)]
    assert starts[0] == pytest.approx(starts[1], abs=1.1)  # btime is in whole seconds
    jobs = [str(p["job.local_id"]).rpartition("-")[0] for p in (proc, portable)]
    assert jobs[0] == jobs[1]


def test_the_portable_path_keeps_counters(child: subprocess.Popen[bytes]) -> None:
    """
    An old process has no delta at first sight; at the second it has one.
    """
    settings = ProcessSettings(source="psutil", roll_up=False)
    taker = Snapshots(CollectSettings(collectors=("process",), process=settings), System())
    first = {p["process.pid"]: p for p in processes(taker.take())}
    second = {p["process.pid"]: p for p in processes(taker.take())}
    assert "core_seconds" not in first[child.pid]
    assert second[child.pid]["core_seconds"] == pytest.approx(0, abs=0.05)
