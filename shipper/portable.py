"""
Processes of any *NIX by psutil, for machines without /proc: same fields, more cost, what the
platform does not tell is absent.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import psutil

from shipper.seen import Seen
from shipper.system import System

Identify = Callable[[Seen, bytes | None], None]

STATES = {
    psutil.STATUS_RUNNING: "R",
    psutil.STATUS_SLEEPING: "S",
    psutil.STATUS_DISK_SLEEP: "D",
    psutil.STATUS_STOPPED: "T",
    psutil.STATUS_TRACING_STOP: "t",
    psutil.STATUS_ZOMBIE: "Z",
    psutil.STATUS_DEAD: "X",
    psutil.STATUS_IDLE: "I",
}
FIELDS = (
    "pid",
    "ppid",
    "name",
    "status",
    "uids",
    "cpu_times",
    "num_threads",
    "memory_info",
    "create_time",
)
REFRESH = 10
NAME_BYTES = 15  # psutil completes a name from the command line; the kernel keeps this much


class PortableTable:
    """
    The same contract as ProcessTable, told by psutil.
    """

    def __init__(self, system: System, identify: Identify) -> None:
        self._system = system
        self._identify = identify
        self._before: Mapping[str, list[int | None]] = {}
        self._looked_at: float | None = None
        self._count = 0
        self.seen: dict[int, Seen] = {}
        self.sessions: dict[int, int] = {}

    def restore(self, before: Mapping[str, list[int | None]], looked_at: float | None) -> None:
        self._before, self._looked_at = before, looked_at

    def scan(self, uptime: float) -> list[Seen]:
        self._count += 1
        boot = self._system.wall() - uptime
        now: dict[int, Seen] = {}
        for handle in psutil.process_iter():
            try:
                with handle.oneshot():
                    told = handle.as_dict(FIELDS)
                    now[handle.pid] = self._look(handle, told, boot)
            except (psutil.NoSuchProcess, ProcessLookupError):
                continue
        self.seen = now
        self._before, self._looked_at = {}, uptime
        return list(now.values())

    def dump(self) -> dict[str, list[int | None]]:
        return {process.entity: process.counters() for process in self.seen.values()}

    def close(self) -> None:
        self.seen = {}

    def _look(self, handle: psutil.Process, told: dict[str, object], boot: float) -> Seen:
        created = told["create_time"]
        start = created if isinstance(created, float) else boot
        start_ticks = max(0, round((start - boot) * self._system.clock_ticks))
        process = self.seen.get(handle.pid)
        is_new = process is None or abs(process.start - start) > 0.02
        if process is None or is_new:
            process = Seen(handle.pid)
            process.start, process.start_ticks = start, start_ticks
        before = self._counters_before(process) if is_new else process.counters()
        name, parent = process.name, process.parent
        process.settled = False
        self._take(process, told)
        self._deltas(process, before, self._io(handle))
        due = is_new or (self._count + process.pid) % REFRESH == 0
        if due or (name, parent) != (process.name, process.parent):
            process.session = _session(process.pid)
            if process.session == process.pid:
                self.sessions[process.pid] = process.start_ticks
            process.executable = _quiet(handle.exe)
            words = _quiet(handle.cmdline)
            raw = b"\0".join(w.encode("utf-8", "surrogateescape") for w in words or ())
            self._identify(process, raw if process.state != "Z" else None)
        return process

    def _take(self, process: Seen, told: dict[str, object]) -> None:
        process.name = str(told["name"]).encode()[:NAME_BYTES].decode("utf-8", "backslashreplace")
        process.state = STATES.get(str(told["status"]), "?")
        parent, threads = told["ppid"], told["num_threads"]
        process.parent = parent if isinstance(parent, int) else 0
        process.threads = threads if isinstance(threads, int) else 1
        process.kernel = process.pid == 2 or (process.parent == 2 and process.name != "")
        uids, memory, times = told["uids"], told["memory_info"], told["cpu_times"]
        process.uid = getattr(uids, "effective", None)
        process.rss, process.virtual = getattr(memory, "rss", None), getattr(memory, "vms", None)
        ticks = self._system.clock_ticks
        process.user_ticks = round(getattr(times, "user", 0.0) * ticks)
        process.system_ticks = round(getattr(times, "system", 0.0) * ticks)

    def _counters_before(self, process: Seen) -> list[int | None] | None:
        for tick in (0, -1, 1):  # start times are rounded differently from run to run
            if kept := self._before.get(f"{process.pid}-{process.start_ticks + tick}"):
                return kept
        if self._looked_at is None:
            return None
        born = process.start_ticks + 2 >= self._looked_at * self._system.clock_ticks
        return [0, 0, 0, 0] if born else None

    def _deltas(
        self, process: Seen, before: list[int | None] | None, io: tuple[int, int] | None
    ) -> None:
        process.cpu_user = process.cpu_system = None
        process.io_read = process.io_write = None
        process.read_bytes, process.write_bytes = io if io is not None else (None, None)
        if before is None:
            return
        ticks = self._system.clock_ticks
        user = process.user_ticks - (before[0] or 0)
        system = process.system_ticks - (before[1] or 0)
        if user + system >= 0:
            process.cpu_user, process.cpu_system = max(0, user) / ticks, max(0, system) / ticks
        if io is not None and before[2] is not None and before[3] is not None:
            process.io_read = max(0, io[0] - before[2])
            process.io_write = max(0, io[1] - before[3])

    def _io(self, handle: psutil.Process) -> tuple[int, int] | None:
        """
        Absent on macOS, and where the kernel denies it.
        """
        counters = getattr(handle, "io_counters", None)
        told = _quiet(counters) if counters is not None else None
        return (told.read_bytes, told.write_bytes) if told is not None else None


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return 0


def _quiet(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except (psutil.Error, OSError, NotImplementedError):
        return None
