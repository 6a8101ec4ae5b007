"""
The one door to the machine: every look at /proc, /sys, users, clocks and commands goes through it,
so that tests can put any machine behind it.

It calls `os` directly, not pathlib: thousands of times at each tick.
"""

from __future__ import annotations

import os
import pwd
import socket
import sys
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

READ_AT_ONCE = 65536
FIRST_READ = 4096
SPARE_DESCRIPTORS = 256
HELD_DESCRIPTORS = 16384  # at most: each is a page of kernel memory, that counts as ours
STAT_BYTES = 479  # with its header an object of 512 bytes, which Python takes from its own pool


@dataclass(frozen=True, slots=True)
class Usage:
    """
    What statvfs tells of a mounted file system, in bytes and inodes.
    """

    size: int
    free: int
    available: int
    inodes: int
    inodes_free: int


class System:
    """
    This machine. ROOT lets a folder tree stand in for it.
    """

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = str(root).rstrip("/")
        self.proc = f"{self.root}/proc/"
        self.clock_ticks = os.sysconf("SC_CLK_TCK")
        self.page_size = os.sysconf("SC_PAGE_SIZE")
        self._descriptors = 0
        self._descriptor_limit = 0

    # Files

    def read(self, path: str, limit: int = 1 << 22) -> bytes | None:
        """
        A file's bytes up to LIMIT; None when it is not there, denied, or gone meanwhile.
        """
        try:
            descriptor = os.open(self.root + path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError:
            return None
        try:
            return _read_all(descriptor, limit)
        except OSError:
            return None
        finally:
            os.close(descriptor)

    def text(self, path: str) -> str | None:
        raw = self.read(path)
        return None if raw is None else raw.decode("utf-8", "backslashreplace").strip()

    def number(self, path: str) -> int | None:
        text = self.text(path)
        try:
            return None if text is None else int(text, 0)
        except ValueError:
            return None

    def entries(self, path: str) -> list[str]:
        try:
            return sorted(os.listdir(self.root + path))  # noqa: PTH208
        except OSError:
            return []

    def link(self, path: str) -> str | None:
        try:
            target = os.readlink(self.root + path)  # noqa: PTH115
        except OSError:
            return None
        return os.fsencode(target).decode("utf-8", "backslashreplace")

    def stat(self, path: str) -> os.stat_result | None:
        try:
            return os.stat(self.root + path)  # noqa: PTH116
        except OSError:
            return None

    def usage(self, mount: str) -> Usage | None:
        """
        None when the mount is gone or denied. May hang for ever on a dead file server.
        """
        try:
            v = os.statvfs(self.root + mount)
        except OSError:
            return None
        block = v.f_frsize or v.f_bsize
        return Usage(
            v.f_blocks * block, v.f_bfree * block, v.f_bavail * block, v.f_files, v.f_ffree
        )

    # Processes

    def pids(self) -> list[int]:
        try:
            names = os.listdir(self.proc)  # noqa: PTH208
        except OSError:
            return []
        return [int(name) for name in names if name.isdigit()]

    def hold(self, pid: int, name: str) -> int:
        """
        A descriptor for /proc/PID/NAME to read again and again; -1 when none is to spare.

        Once its process is gone reads fail, also when the pid is in use again.
        """
        if self._descriptors >= (self._descriptor_limit or self._raise_limit()):
            return -1
        descriptor = os.open(f"{self.proc}{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC)
        self._descriptors += 1
        return descriptor

    def reread(self, descriptor: int) -> bytes:
        return os.pread(descriptor, STAT_BYTES, 0)

    def let_go(self, descriptor: int) -> None:
        self._descriptors -= 1
        os.close(descriptor)

    def owner(self, pid: int) -> int | None:
        """
        Effective user of a process as its folder shows it: 0 also for those that hide theirs.
        """
        try:
            return os.stat(f"{self.proc}{pid}").st_uid  # noqa: PTH116
        except OSError:
            return None

    def _raise_limit(self) -> int:
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = HELD_DESCRIPTORS + SPARE_DESCRIPTORS
        wanted = most if hard == resource.RLIM_INFINITY else min(most, hard)
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(wanted, soft), hard))
            soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        except (OSError, ValueError):
            pass
        self._descriptor_limit = max(1, min(soft - SPARE_DESCRIPTORS, HELD_DESCRIPTORS))
        return self._descriptor_limit

    # Who and where

    @property
    def platform(self) -> str:
        return sys.platform

    def architecture(self) -> str:
        return os.uname().machine

    def kernel(self) -> str:
        return os.uname().release

    def host_name(self) -> str:
        return socket.gethostname().split(".")[0].lower() or "localhost"

    def user_name(self, uid: int) -> str | None:
        """
        None when the directory does not know the user. May hang as long as the directory does.
        """
        try:
            return pwd.getpwuid(uid).pw_name
        except (KeyError, OverflowError):
            return None

    def boot_id(self) -> str:
        if known := self.text("/proc/sys/kernel/random/boot_id"):
            return known
        return f"{zlib.crc32(f'{self.host_name()} {self.boot_time():.0f}'.encode()):08x}"

    def boot_time(self) -> float:
        import psutil

        return float(psutil.boot_time())

    def processors(self) -> int | None:
        return os.cpu_count()

    def environment(self) -> Mapping[str, str]:
        return os.environ

    # Time

    def wall(self) -> float:
        return time.time()

    def uptime(self) -> float:
        """
        Seconds since boot, time asleep included: the clock that no administrator can set.
        """
        clock = getattr(time, "CLOCK_BOOTTIME", None)
        return time.clock_gettime(clock) if clock is not None else time.monotonic()

    def own_cpu(self) -> float:
        return time.process_time()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    # Commands

    def run(self, command: Sequence[str], timeout: float = 10.0) -> bytes | None:
        """
        What a command prints; None when it is not there, fails, or takes longer than TIMEOUT.
        """
        import subprocess  # 1 MB that nodes without anything to run do without

        try:
            done = subprocess.run(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=timeout,
                check=True,
                env={**os.environ, "LC_ALL": "C"},
            )
        except (OSError, subprocess.SubprocessError):
            return None
        return done.stdout

    def library(self, load: Callable[[], object]) -> object | None:
        """
        An optional library, by a function that imports it; None when it is not installed.
        """
        try:
            return load()
        except (ImportError, OSError):
            return None


def _read_all(descriptor: int, limit: int) -> bytes:
    chunk = os.read(descriptor, min(limit, FIRST_READ))
    if len(chunk) < FIRST_READ:  # what /proc gives in one go is whole
        return chunk
    chunks, total = [chunk], len(chunk)
    while chunk and total < limit:
        chunk = os.read(descriptor, min(limit - total, READ_AT_ONCE))
        chunks.append(chunk)
        total += len(chunk)
    return b"".join(chunks)
