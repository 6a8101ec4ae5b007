"""Mounted file systems, and file servers that do not answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from shipper import mountstats
from shipper.settings import FilesystemSettings
from shipper.snapshot import Snapshots
from shipper.system import Usage
from tests.shipper.conftest import of
from tests.shipper.fake import FakeSystem

Start = Callable[..., Snapshots]
DISK = Usage(size=1000, free=400, available=300, inodes=50, inodes_free=20)
MOUNTS = """proc /proc proc rw 0 0
/dev/sda1 / ext4 rw 0 0
/dev/sda1 /var/bind ext4 rw 0 0
tmpfs /dev/shm tmpfs rw 0 0
tmpfs /run tmpfs rw 0 0
home:/export /home\\040dirs nfs4 rw 0 0
10.0.0.1@o2ib:/scratch /scratch lustre rw 0 0
"""
NFS = """device home:/export mounted on /home dirs with fstype nfs4 statvers=1.1
\topts:\trw
\tbytes:\t1 2 3 4 {0} {1} 7 8
\tper-op statistics
\t        NULL: 1 1 0 44 24 0 0 0
\t        READ: {2} 10 0 1 1 1 1 1
\t       WRITE: 3 3 0 1 1 1 1 1
\t        OPEN: {3} 7 0 1 1 1 1 1
\t     GETATTR: 100 100 0 1 1 1 1 1
device proc mounted on /proc with fstype proc
"""
LLITE = """snapshot_time             1700000000.123456 secs.nsecs
read_bytes                {0} samples [bytes] 4096 1048576 {1}
write_bytes               5 samples [bytes] 1 4096 9000
open                      {2} samples [usecs] 1 9 99
close                     7 samples [usecs] 1 9 99
"""


def nodes(system: FakeSystem) -> FakeSystem:
    system.put("/proc/self/mounts", MOUNTS)
    system.usages = {"/": DISK, "/dev/shm": DISK, "/home dirs": DISK, "/scratch": DISK}
    return system


def test_each_file_system_once(system: FakeSystem, start: Start) -> None:
    """
    Bind mounts, /proc and /run are none of ours; blanks in a name are blanks.
    """
    nodes(system)
    told = of(start(collectors=("filesystem",)).take(), "filesystem")
    assert [(d["filesystem.mount"], d["filesystem.network"]) for d in told] == [
        ("/", False),
        ("/dev/shm", False),
        ("/home dirs", True),
        ("/scratch", True),
    ]
    root = told[0]
    assert (root["filesystem.size.bytes"], root["filesystem.used.bytes"]) == (1000, 600)
    assert root["filesystem.used.percent"] == 66.67  # of what users can have, as df says
    assert (root["filesystem.inodes.total"], root["filesystem.inodes.used"]) == (50, 30)


def test_a_hung_server_stalls_nothing(system: FakeSystem, start: Start) -> None:
    """
    Its mount is unresponsive, with no size; the others are measured; it is asked only once until
    it answers.
    """
    wake, asked = threading.Event(), []

    def hang() -> Usage:
        asked.append(1)
        wake.wait(10)
        return DISK

    nodes(system).usages["/home dirs"] = hang
    settings = FilesystemSettings(timeout=0.1)  # type: ignore[arg-type]
    snapshots = start(collectors=("filesystem",), filesystem=settings)
    begun = time.monotonic()
    for _ in range(2):
        told = {d["filesystem.mount"]: d for d in of(snapshots.take(), "filesystem")}
        assert told["/home dirs"]["filesystem.unresponsive"] is True
        assert "filesystem.size.bytes" not in told["/home dirs"]
        assert told["/"]["filesystem.size.bytes"] == 1000
    assert time.monotonic() - begun < 2
    assert len(asked) == 1
    wake.set()
    for _ in range(100):
        told = {d["filesystem.mount"]: d for d in of(snapshots.take(), "filesystem")}
        if "filesystem.size.bytes" in told["/home dirs"]:
            break
    assert "filesystem.unresponsive" not in told["/home dirs"]


def test_nfs_and_lustre_tell_what_moved(system: FakeSystem, start: Start) -> None:
    """
    Bytes over the wire, calls for data and calls for names, as deltas.
    """
    nodes(system)
    stats = "/sys/kernel/debug/lustre/llite/scratch-ffff9c/stats"
    system.put("/proc/self/mountstats", NFS.format(100, 200, 10, 7))
    system.put(stats, LLITE.format(10, 4000, 3))
    snapshots = start(collectors=("filesystem",))
    snapshots.take()
    system.put("/proc/self/mountstats", NFS.format(150, 200, 12, 9))
    system.put(stats, LLITE.format(15, 9000, 10))
    told = {d["filesystem.mount"]: d for d in of(snapshots.take(), "filesystem")}
    moved = {
        point: [told[point][f"io.{name}"] for name in (
            "read.bytes", "write.bytes", "read.operations", "metadata.operations"
        )]
        for point in ("/home dirs", "/scratch")
    }  # fmt: skip
    assert moved == {"/home dirs": [50, 0, 2, 2], "/scratch": [5000, 0, 5, 7]}
    assert "io.read.bytes" not in told["/"]


def test_types_and_mounts_can_be_chosen(system: FakeSystem, start: Start) -> None:
    """
    By type, and without those a pattern names.
    """
    nodes(system)
    settings = FilesystemSettings(types=("ext4", "nfs4"), exclude_mounts=("^/home",))
    told = of(start(collectors=("filesystem",), filesystem=settings).take(), "filesystem")
    assert [d["filesystem.mount"] for d in told] == ["/"]


def test_broken_counters_are_no_counters() -> None:
    """
    Whatever a kernel writes there, reading it fails nothing.
    """
    assert mountstats.nfs(b"device x\n\tbytes:\nREAD:\n\xff\n") == {}
    assert mountstats.llite(b"read_bytes x samples\nread_bytes 5 samples\n\xff") == {
        "io.read.operations": 5
    }
