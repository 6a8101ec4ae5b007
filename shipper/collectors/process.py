"""
Collector `process`: every process a person may care about, with what it used since the last tick.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Protocol

from leadline.formats import Document
from leadline.formats.times import from_epoch
from shipper import gpushare
from shipper.collectors.contract import Collector, Gear, Tick
from shipper.filters import Filter
from shipper.identity import Identity
from shipper.proctable import ProcessTable
from shipper.rollup import roll_up
from shipper.seen import Seen
from shipper.stray import Strays


class Table(Protocol):
    """
    Where processes come from: /proc, or psutil where there is none.
    """

    seen: dict[int, Seen]
    sessions: dict[int, int]

    def scan(self, uptime: float) -> list[Seen]: ...

    def restore(self, before: Mapping[str, list[int | None]], looked_at: float | None) -> None: ...

    def dump(self) -> dict[str, list[int | None]]: ...

    def close(self) -> None: ...


class ProcessCollector:
    def __init__(self, gear: Gear) -> None:
        settings = gear.settings.process
        self._users = gear.users
        self._system = gear.system
        self._settings = settings
        self._filter = Filter(settings)
        self._strays = Strays(gear)
        self._identity = Identity(gear, self._filter)
        self.table = _table(gear, self._identity)
        self._identity.table = self.table
        self._uid_min = gear.settings.stray.uid_min
        self.left_out = 0

    def __call__(self, tick: Tick) -> Iterable[Document]:
        self._users.turn()
        self._identity.turn(tick)
        self.attach([])  # the last tick's shares of cards belong to it alone
        processes = self.table.scan(tick.uptime)
        self._strays.mark(processes, tick, self._identity.saw_scheduler)
        wanted = [process for process in processes if process.wanted]
        if self._filter.has_minimum:
            wanted = [p for p in wanted if self._filter.busy(p, tick.interval)]
        if self._settings.pss_from:
            for process in wanted:
                self._read_pss(process)
        self.left_out += len(processes) - len(wanted) - self._unasked(processes)
        people = count_people(processes, self._uid_min)
        return chain(
            [{"dataset": "node", "users.count": people}], self._documents(wanted, tick.interval)
        )

    def _unasked(self, processes: list[Seen]) -> int:
        """
        The kernel's own threads are no loss unless somebody wants them.
        """
        if self._settings.kernel_threads:
            return 0
        return sum(process.kernel for process in processes)

    def _documents(self, wanted: list[Seen], interval: float | None) -> Iterator[Document]:
        """
        Made one by one while they are sent: four thousand at a time would be half our memory.
        """
        single, groups = roll_up(wanted) if self._settings.roll_up else (wanted, [])
        for process in single:
            yield document(process, interval)
        for group in groups:
            yield group_document(group, interval)

    def attach(self, documents: list[Document]) -> list[Document]:
        """
        Documents of processes on cards, completed; before those of processes are made.
        """
        return gpushare.attach(self.table.seen, documents)

    def named(self, documents: list[Document]) -> list[Document]:
        """
        The same while this collector hangs: by what it knew of the processes before.
        """
        return gpushare.named(self.table.seen, documents)

    def dump(self) -> object:
        used = {process.session for process in self.table.seen.values()}
        sessions = {str(s): start for s, start in self.table.sessions.items() if s in used}
        return {"processes": self.table.dump(), "sessions": sessions}

    def restore(self, kept: object, looked_at: float | None) -> None:
        if not isinstance(kept, dict):
            return
        processes, sessions = kept.get("processes"), kept.get("sessions")
        if isinstance(sessions, dict):
            self.table.sessions.update({int(s): int(start) for s, start in sessions.items()})
        if isinstance(processes, dict):
            self.table.restore(processes, looked_at)

    def close(self) -> None:
        self.table.close()

    def _read_pss(self, process: Seen) -> None:
        process.pss, process.settled = None, False
        if (process.rss or 0) < self._settings.pss_from:
            return
        for line in (self._system.read(f"/proc/{process.pid}/smaps_rollup") or b"").splitlines():
            if line.startswith(b"Pss:"):
                process.pss = int(line.split()[1]) * 1024


def count_people(processes: list[Seen], uid_min: int) -> int:
    """
    Users with a process, system users and `nobody` left out.
    """
    uids = {process.uid for process in processes}
    return sum(1 for uid in uids if uid is not None and uid >= uid_min and uid != 65534)


def document(process: Seen, interval: float | None) -> Document:
    """
    One process, alone. What was not measured is not in it.
    """
    if not process.settled:
        _fill(process.document, process, interval)
        process.settled = process.idle
    return process.document.copy()


def _fill(made: Document, process: Seen, interval: float | None) -> None:
    made["process.state"] = process.state
    made["process.thread.count"] = process.threads
    user, system = process.cpu_user, process.cpu_system
    if user is not None and system is not None:
        used = round(user + system, 2) or 0.0  # one zero for all that sleep: 24 bytes each
        made["core_seconds"] = used
        made["core_seconds_user"] = user
        made["core_seconds_system"] = system
        if interval:
            made["cpu.percent"] = round(100.0 * used / interval, 1) or 0.0
    else:
        for name in ("core_seconds", "core_seconds_user", "core_seconds_system", "cpu.percent"):
            made.pop(name, None)
    for name, value in (
        ("memory.rss.bytes", process.rss),
        ("memory.virtual.bytes", process.virtual),
        ("memory.pss.bytes", process.pss),
        ("io.read.bytes", process.io_read),
        ("io.write.bytes", process.io_write),
        ("stray", process.stray),
    ):
        if value is not None:
            made[name] = value
        elif name in made:
            del made[name]
    _fill_gpu(made, process.gpu, interval)


def _fill_gpu(made: Document, share: gpushare.Share | None, interval: float | None) -> None:
    if "gpu.count" in made:
        for name in ("gpu.count", "gpu.memory.bytes", "gpu_seconds", "gpu_held_seconds"):
            made.pop(name, None)
    if share is not None:
        made.update(share.fields(interval))


def group_document(group: list[Seen], interval: float | None) -> Document:
    """
    Like processes as one: sums, the most active state, the earliest start.
    """
    first = min(group, key=lambda process: (process.start_ticks, process.pid))
    made = document(first, interval)
    for name in ("process.pid", "process.parent.pid", "memory.pss.bytes"):
        made.pop(name, None)
    made["process.entity_id"] = first.kin
    made["process.start"] = from_epoch(first.start)
    made["process.state"] = min((process.state for process in group), key=_activity)
    made["process.count"] = len(group)
    made["rolled_up"] = True
    made["process.thread.count"] = sum(process.threads for process in group)
    if first.cpu_user is not None:
        user = sum(process.cpu_user or 0.0 for process in group)
        system = sum(process.cpu_system or 0.0 for process in group)
        made["core_seconds"] = round(user + system, 2)
        made["core_seconds_user"] = round(user, 2)
        made["core_seconds_system"] = round(system, 2)
        if interval:
            made["cpu.percent"] = round(100.0 * (user + system) / interval, 1)
    if first.rss is not None:
        made["memory.rss.bytes"] = sum(process.rss or 0 for process in group)
    if first.virtual is not None:
        made["memory.virtual.bytes"] = sum(process.virtual or 0 for process in group)
    if first.io_read is not None:
        made["io.read.bytes"] = sum(process.io_read or 0 for process in group)
        made["io.write.bytes"] = sum(process.io_write or 0 for process in group)
    _fill_gpu(made, gpushare.together(group), interval)
    return made


def _activity(state: str) -> int:
    at = "RDSITtZX".find(state)
    return at if at >= 0 else 9


def _table(gear: Gear, identity: Identity) -> Table:
    source = gear.settings.process.source
    if source == "auto":
        source = "proc" if gear.system.read("/proc/self/stat") else "psutil"
    if source == "psutil":
        from shipper.portable import PortableTable

        return PortableTable(gear.system, identity.identify_portable)
    return ProcessTable(
        gear.system, identity.identify, identity.refresh, gear.settings.process.refresh_ticks
    )


def build(gear: Gear) -> Collector:
    return ProcessCollector(gear)
