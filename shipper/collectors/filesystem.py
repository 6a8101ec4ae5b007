"""
Collector `filesystem`: mounted file systems, their size and use, and what NFS and Lustre clients
moved. A file server that hangs never stalls a sample.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from leadline.formats import Document
from shipper import mountstats
from shipper.collectors.contract import Collector, Gear, Tick, UnavailableError
from shipper.filters import patterns
from shipper.system import System, Usage

NETWORK = frozenset(
    {
        *("nfs", "nfs4", "cifs", "smb3", "lustre", "beegfs", "gpfs", "ceph", "glusterfs"),
        *("fuse.sshfs", "fuse.glusterfs", "fuse.ceph-fuse", "fuse.cvmfs2", "panfs", "pvfs2"),
        *("afs", "9p", "orangefs", "wekafs", "daos", "fuse.juicefs", "quobyte"),
    }
)
# Hold data without being a device of this machine's own.
KEPT = frozenset({"zfs", "btrfs", "tmpfs", "overlay", "bcachefs"})
TMPFS = ("/dev/shm", "/tmp", "/scratch", "/local", "/run/user")  # noqa: S108
LOCAL = frozenset(
    {*("ext2", "ext3", "ext4", "xfs", "f2fs", "jfs", "reiserfs", "vfat", "exfat", "ntfs3", "ufs")}
)


@dataclass(frozen=True, slots=True)
class Mount:
    device: str
    point: str
    type: str

    @property
    def is_network(self) -> bool:
        return self.type in NETWORK


class FilesystemCollector:
    def __init__(self, gear: Gear) -> None:
        self._settings = gear.settings.filesystem
        self._exclude = patterns(
            "collect.filesystem.exclude_mounts", gear.settings.filesystem.exclude_mounts
        )
        self._system = gear.system
        self._counters = gear.counters
        self._questions: dict[str, Question] = {}

    def __call__(self, tick: Tick) -> Iterator[Document]:
        mounts = self._mounts()
        usages = self._usages(mounts)
        moved = mountstats.read(self._system, [(m.device, m.point, m.type) for m in mounts])
        for mount in mounts:
            made: Document = {
                "dataset": "filesystem",
                "filesystem.mount": mount.point,
                "filesystem.device": mount.device,
                "filesystem.type": mount.type,
                "filesystem.network": mount.is_network,
            }
            usage = usages.get(mount.point)
            if isinstance(usage, Usage):
                made.update(used(usage))
            elif mount.point in usages and usage is None:
                made["filesystem.unresponsive"] = True
            for name, value in moved.get(mount.point, {}).items():
                if (grown := self._counters.whole(f"fs.{mount.point}.{name}", value)) is not None:
                    made[name] = grown
            yield made

    def _mounts(self) -> list[Mount]:
        found: dict[object, Mount] = {}
        for line in (self._system.read("/proc/self/mounts") or b"").splitlines():
            words = line.decode("utf-8", "backslashreplace").split(" ")
            if len(words) < 3:
                continue
            mount = Mount(_plain(words[0]), _plain(words[1]), words[2])
            if self._wanted(mount):
                # Bind mounts show a device again: its first mount stands for all.
                once = (mount.device, mount.type)
                key = mount.point if mount.type in ("tmpfs", "overlay") else once
                found.setdefault(key, mount)
        return list(found.values())

    def _wanted(self, mount: Mount) -> bool:
        if any(p.search(mount.point) for p in self._exclude):
            return False
        if self._settings.types:
            return mount.type in self._settings.types
        if mount.type == "tmpfs":
            return mount.point.startswith(TMPFS)
        if mount.type == "overlay":
            return mount.point == "/"
        return mount.is_network or mount.type in LOCAL or mount.type in KEPT

    def _usages(self, mounts: Iterable[Mount]) -> dict[str, Usage | None]:
        """
        Each network mount is asked in a thread of its own; None: no answer in time.

        One that still hangs from an earlier tick is not asked again before it answers.
        """
        asked: dict[str, Question] = {}
        usages: dict[str, Usage | None] = {}
        for mount in mounts:
            if not mount.is_network:
                if (usage := self._system.usage(mount.point)) is not None:
                    usages[mount.point] = usage
                continue
            before = self._questions.get(mount.point)
            if before is None or before.done.is_set():
                before = self._questions[mount.point] = Question(self._system, mount.point)
            asked[mount.point] = before
        left: float = self._settings.timeout
        for point, question in asked.items():
            begun = self._system.uptime()
            if not question.done.wait(max(0.0, left)):
                usages[point] = None
                left = 0.0
                continue
            left -= self._system.uptime() - begun
            if question.usage is not None:
                usages[point] = question.usage
        return usages


class Question:
    """
    One statvfs under way. Its thread may wait for ever; nobody waits for it.
    """

    def __init__(self, system: System, mount: str) -> None:
        self.done = threading.Event()
        self.usage: Usage | None = None
        self._system, self._mount = system, mount
        threading.Thread(target=self._ask, name=f"statvfs {mount}", daemon=True).start()

    def _ask(self) -> None:
        self.usage = self._system.usage(self._mount)
        self.done.set()


def used(usage: Usage) -> Document:
    """
    Used percent is of what ordinary users can have, as df counts it.
    """
    taken = max(0, usage.size - usage.free)
    found: Document = {
        "filesystem.size.bytes": usage.size,
        "filesystem.used.bytes": taken,
        "filesystem.available.bytes": usage.available,
    }
    if taken + usage.available > 0:
        found["filesystem.used.percent"] = round(100.0 * taken / (taken + usage.available), 2)
    if usage.inodes > 0:  # btrfs and some servers have no inodes to count
        found["filesystem.inodes.total"] = usage.inodes
        found["filesystem.inodes.used"] = max(0, usage.inodes - usage.inodes_free)
    return found


def _plain(text: str) -> str:
    """
    Blanks and the like are written \\040 in /proc/mounts.
    """
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, char)
    return text


def build(gear: Gear) -> Collector:
    if gear.system.read("/proc/self/mounts") is None:
        raise UnavailableError("no /proc/self/mounts")
    return FilesystemCollector(gear)
