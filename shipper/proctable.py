"""
All processes of a Linux machine, read from /proc at the least cost there is.

What cannot change is read once per process; `stat` is read again through a descriptor kept open;
nothing else is looked at while the kernel's line stays the same byte by byte.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from sys import intern

from shipper.seen import Seen
from shipper.system import System

KERNEL_THREAD = 0x00200000  # PF_KTHREAD
STATES = {letter.encode(): letter for letter in "RSDTtZXI"}
IDENTITY_EVERY = 3  # of the ticks at which a working process is due
YOUNG = 60.0  # seconds within which a process may change its user or be moved into a job
SLACK_TICKS = 2  # a process younger than the last look by this much was not there to be seen

Identify = Callable[[Seen], None]


class ProcessTable:
    """
    Follows processes from tick to tick. IDENTIFY is called when one is new or runs another
    program, REFRESH now and then while it works: its user or its job may have changed.
    """

    def __init__(
        self, system: System, identify: Identify, refresh: Identify, every: int = 10
    ) -> None:
        self._system = system
        self._identify = identify
        self._refresh_identity = refresh
        self._refresh = every
        self._count = 0
        self._before: Mapping[str, list[int | None]] = {}
        self._boot_time = 0.0
        self._old = 0.0
        self._looked_at: float | None = None  # uptime of the last look
        self.seen: dict[int, Seen] = {}
        self.sessions: dict[int, int] = {}  # session → its leader's start
        self.vanished = 0

    def restore(self, before: Mapping[str, list[int | None]], looked_at: float | None) -> None:
        """
        Go on where an earlier run of this boot stopped.
        """
        self._before, self._looked_at = before, looked_at

    def scan(self, uptime: float) -> list[Seen]:
        """
        Every process there is now, with its deltas since the last scan.
        """
        self._count += 1
        self._old = (uptime - YOUNG) * self._system.clock_ticks
        found: list[Seen] = []
        seen, again = self.seen, self._again
        for pid in self._system.pids():
            process = seen.get(pid)
            if process is not None and not again(process):
                self.drop(process)
                process = None
            if process is None:
                if (process := self._meet(pid)) is None:
                    self.vanished += 1
                    continue
                seen[pid] = process
            found.append(process)
        if len(found) != len(seen):
            self._forget(found)
        self._before, self._looked_at = {}, uptime
        return found

    def _forget(self, found: list[Seen]) -> None:
        there = {process.pid for process in found}
        for pid in [pid for pid in self.seen if pid not in there]:
            self.drop(self.seen.pop(pid))

    def drop(self, process: Seen) -> None:
        for descriptor in (process.stat_descriptor, process.io_descriptor):
            if descriptor >= 0:
                self._system.let_go(descriptor)
        process.stat_descriptor = process.io_descriptor = -1

    def close(self) -> None:
        for process in self.seen.values():
            self.drop(process)
        self.seen = {}

    def dump(self) -> dict[str, list[int | None]]:
        return {process.entity: process.counters() for process in self.seen.values()}

    def _again(self, process: Seen) -> bool:
        """
        Look again at a process seen before; False when it is gone or another one has its number.
        """
        try:
            if process.stat_descriptor >= 0:
                raw = self._system.reread(process.stat_descriptor)
            else:
                raw = self._system.read(f"/proc/{process.pid}/stat") or b""
        except OSError:
            return False
        due = (self._count + process.pid) % self._refresh == 0
        if hash(raw) == process.mark and not due and not process.young:
            if not process.idle:
                process.be_idle()
            return True
        return self._changed(process, raw, due)

    def _changed(self, process: Seen, raw: bytes, due: bool) -> bool:
        user, system, start = process.user_ticks, process.system_ticks, process.start_ticks
        before = process.name, process.stack, process.session
        if not self._parse(process, raw) or process.start_ticks != start:
            return False
        process.idle = process.settled = False
        worked = user != process.user_ticks or system != process.system_ticks
        if worked:
            self._take_cpu(process, user, system)
        else:
            process.cpu_user = process.cpu_system = 0.0
        if before != (process.name, process.stack, process.session):
            self._identify(process)
        elif process.young or (worked and due and self._count % IDENTITY_EVERY == 0):
            self._refresh_identity(process)
            process.young = False
        if worked or due:
            self._read_io(process, process.read_bytes, process.write_bytes)
        elif process.read_bytes is not None:
            process.io_read = process.io_write = 0
        return True

    def _meet(self, pid: int) -> Seen | None:
        """
        A process not seen before; None when it is gone again.
        """
        process = Seen(pid)
        raw: bytes | None
        try:
            process.stat_descriptor = self._system.hold(pid, "stat")
            if process.stat_descriptor >= 0:
                raw = self._system.reread(process.stat_descriptor)
            else:
                raw = self._system.read(f"/proc/{pid}/stat")
        except OSError:
            raw = None
        if not raw or not self._parse(process, raw):
            self.drop(process)
            return None
        process.start = self._boot_time_of() + process.start_ticks / self._system.clock_ticks
        if process.session == pid:
            self.sessions[pid] = process.start_ticks
        process.young = process.start_ticks > self._old
        self._identify(process)
        before = self._counters_before(process)
        if before is None:
            process.cpu_user = process.cpu_system = None
            self._read_io(process, None, None)
        else:
            self._take_cpu(process, before[0] or 0, before[1] or 0)
            self._read_io(process, before[2], before[3])
        return process

    def _counters_before(self, process: Seen) -> list[int | None] | None:
        """
        What its counters stood at when last looked: 0 for one born since, None if unknown.
        """
        if kept := self._before.get(process.entity):
            return kept
        if self._looked_at is None:
            return None
        born = process.start_ticks + SLACK_TICKS >= self._looked_at * self._system.clock_ticks
        return [0, 0, 0, 0] if born else None

    def _parse(self, process: Seen, raw: bytes) -> bool:
        """
        /proc/PID/stat, proc(5). The name stands in parentheses and may hold anything.
        """
        end = len(process.head)
        if not raw.startswith(process.head) or raw.find(b")", end) >= 0:
            end = raw.rfind(b")") + 2
            name = raw[raw.find(b"(") + 1 : max(0, end - 2)]
            process.name = intern(name.decode("utf-8", "backslashreplace"))
            process.head = raw[:end]
        field = raw[end:].split(None, 26)
        if len(field) < 22:
            return False
        process.mark = hash(raw)
        process.state = STATES.get(field[0]) or field[0].decode()
        process.parent = int(field[1])
        process.session = int(field[3])
        process.kernel = bool(int(field[6]) & KERNEL_THREAD)
        process.user_ticks = int(field[11])
        process.system_ticks = int(field[12])
        process.threads = int(field[17])
        process.start_ticks = int(field[19])
        process.virtual = int(field[20])
        process.rss = int(field[21]) * self._system.page_size
        process.stack = field[25] if len(field) > 25 else None
        return True

    def _take_cpu(self, process: Seen, user: int, system: int) -> None:
        ticks = self._system.clock_ticks
        grown_user, grown_system = process.user_ticks - user, process.system_ticks - system
        if grown_user < 0 or grown_system < 0:
            # The kernel scales both parts to their exact sum, so one may step back by a tick.
            whole = grown_user + grown_system
            if whole < 0:
                process.cpu_user = process.cpu_system = None
                return
            grown_user, grown_system = (whole, 0) if grown_system < 0 else (0, whole)
        process.cpu_user, process.cpu_system = grown_user / ticks, grown_system / ticks

    def _read_io(self, process: Seen, read_before: int | None, write_before: int | None) -> None:
        counts = self._io_counts(process)
        if counts is None:
            process.io_read = process.io_write = None
            process.read_bytes = process.write_bytes = None
            return
        process.read_bytes, process.write_bytes = counts
        if read_before is None or write_before is None or counts[0] < read_before:
            process.io_read = process.io_write = None
        else:
            process.io_read = counts[0] - read_before
            process.io_write = max(0, counts[1] - write_before)

    def _io_counts(self, process: Seen) -> tuple[int, int] | None:
        """
        Bytes read from and written to storage, as /proc/PID/io has them; None when denied.
        """
        raw: bytes | None
        try:
            if process.io_descriptor < 0:
                process.io_descriptor = self._system.hold(process.pid, "io")
            if process.io_descriptor >= 0:
                raw = self._system.reread(process.io_descriptor)
            else:
                raw = self._system.read(f"/proc/{process.pid}/io")
        except OSError:
            return None
        if not raw:
            return None
        read = raw.find(b"\nread_bytes: ")
        write = raw.find(b"\nwrite_bytes: ", read)
        if read < 0 or write < 0:
            return None
        cancelled = raw.find(b"\n", write + 1)
        return int(raw[read + 13 : write]), int(raw[write + 14 : cancelled])

    def _boot_time_of(self) -> float:
        """
        Read once: the kernel's `btime` moves when somebody sets the clock, starts must not.
        """
        if not self._boot_time:
            for line in (self._system.read("/proc/stat") or b"").splitlines():
                if line.startswith(b"btime "):
                    self._boot_time = float(line[6:])
        return self._boot_time
