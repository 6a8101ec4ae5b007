"""
Collector `cgroup`: what each job has used here, as the kernel counts it for the job's control
group. Processes that came and went between two looks are in it, and memory is the whole job's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from leadline.formats import Document
from shipper.collectors.contract import Collector, Gear, Tick, UnavailableError
from shipper.jobs import Job, job_of_cgroup, refine, variables
from shipper.system import System

ROOT = "/sys/fs/cgroup"
CPU_V1 = (f"{ROOT}/cpuacct", f"{ROOT}/cpu,cpuacct")
MEMORY_V1 = f"{ROOT}/memory"
# Folders on the way to a scheduler's jobs; all others are left alone.
ON_THE_WAY = re.compile(
    r"system\.slice|.*slurm.*|uid_\d+|sge|uge|SGE|UGE|gridengine|ocs|.*pbs.*|torque|jobid"
)
DEPTH = 6
UNLIMITED = 1 << 60  # v1 writes "no limit" as the greatest page-aligned number


@dataclass(frozen=True, slots=True)
class Used:
    """
    Since the job's group was made.
    """

    whole: float = 0.0
    user: float = 0.0
    system: float = 0.0
    killed: int = 0  # processes killed for want of memory


@dataclass(frozen=True, slots=True)
class Group:
    """
    A job's folders: one in version 2, one per controller in version 1.
    """

    cpu: str | None
    memory: str | None


class CgroupCollector:
    def __init__(self, gear: Gear) -> None:
        self._system = gear.system
        self._before: dict[str, Used] | None = None

    def __call__(self, tick: Tick) -> Iterator[Document]:
        before, now = self._before, {}
        v2 = self._system.read(f"{ROOT}/cgroup.controllers") is not None
        for name, group in self._groups(v2).items():
            used = used_v2(self._system, group) if v2 else used_v1(self._system, group)
            made: Document = {"dataset": "job_cgroup", "job.local_id": name}
            made.update(memory_v2(self._system, group) if v2 else memory_v1(self._system, group))
            if used is not None:
                now[name] = used
                made.update(growth(used, before, name, tick.interval))
            if len(made) > 2:  # else it has ended while we looked
                yield made
        self._before = now

    def _groups(self, v2: bool) -> dict[str, Group]:
        """
        The jobs on this node by their ids; of an id seen in two places the first.
        """
        groups: dict[str, Group] = {}
        for base in (ROOT,) if v2 else (*CPU_V1, MEMORY_V1):
            for path, job in self._below(base):
                cpu = path if base != MEMORY_V1 else None
                memory = path if v2 or base == MEMORY_V1 else None
                known = groups.get(job.local_id, Group(None, None))
                groups[job.local_id] = Group(known.cpu or cpu, known.memory or memory)
        return groups

    def _below(self, base: str) -> Iterator[tuple[str, Job]]:
        """
        Folders of jobs under BASE. What lies below a job are its steps, which it includes.
        """
        left = [("", 0)]
        while left:
            folder, depth = left.pop()
            for name in self._system.entries(base + folder):
                path = f"{folder}/{name}"
                job = job_of_cgroup(path.encode("utf-8", "surrogateescape"))
                if job is not None:
                    yield base + path, self._refined(job, base + path)
                elif depth < DEPTH and ON_THE_WAY.fullmatch(name):
                    left.append((path, depth + 1))

    def _refined(self, job: Job, folder: str) -> Job:
        """
        The name its processes give it: Grid Engine's cgroup of a first task is that of a plain job.
        """
        if job.scheduler != "sge":
            return job
        pid, _, _ = (self._system.text(f"{folder}/cgroup.procs") or "").partition("\n")
        return refine(job, variables(self._system.read(f"/proc/{pid}/environ"))) if pid else job

    def dump(self) -> object:
        return {
            name: [used.whole, used.user, used.system, used.killed]
            for name, used in (self._before or {}).items()
        }

    def restore(self, kept: object, looked_at: float | None) -> None:
        if isinstance(kept, dict):
            self._before = {str(name): Used(*values) for name, values in kept.items()}


def growth(
    used: Used, before: dict[str, Used] | None, name: str, interval: float | None
) -> Document:
    """
    Since the last look. A group that was not there then, or had used more, has been made since.
    """
    if before is None:
        return {}
    was = before.get(name, Used())
    if was.whole > used.whole:
        was = Used()
    grown = used.whole - was.whole
    made: Document = {
        "core_seconds": round(grown, 2),
        "core_seconds_user": round(max(0.0, used.user - was.user), 2),
        "core_seconds_system": round(max(0.0, used.system - was.system), 2),
        "memory.killed": max(0, used.killed - was.killed),
    }
    if interval:
        made["cpu.percent"] = round(100.0 * grown / interval, 1)
    return made


def used_v2(system: System, group: Group) -> Used | None:
    told = pairs(system.read(f"{group.cpu}/cpu.stat"))
    if b"usage_usec" not in told:
        return None
    events = pairs(system.read(f"{group.memory}/memory.events"))
    return Used(
        told[b"usage_usec"] / 1e6,
        told.get(b"user_usec", 0) / 1e6,
        told.get(b"system_usec", 0) / 1e6,
        events.get(b"oom_kill", 0),
    )


def memory_v2(system: System, group: Group) -> Document:
    return memory(
        used=system.number(f"{group.memory}/memory.current"),
        peak=system.number(f"{group.memory}/memory.peak"),
        limit=system.number(f"{group.memory}/memory.max"),  # "max" is no number: no limit
        cached=pairs(system.read(f"{group.memory}/memory.stat")).get(b"inactive_file"),
    )


def used_v1(system: System, group: Group) -> Used | None:
    if group.cpu is None or (whole := system.number(f"{group.cpu}/cpuacct.usage")) is None:
        return None
    told = pairs(system.read(f"{group.cpu}/cpuacct.stat"))
    user, kernel = (told.get(name, 0) / system.clock_ticks for name in (b"user", b"system"))
    events = pairs(system.read(f"{group.memory}/memory.oom_control")) if group.memory else {}
    return Used(whole / 1e9, user, kernel, events.get(b"oom_kill", 0))


def memory_v1(system: System, group: Group) -> Document:
    if group.memory is None:
        return {}
    return memory(
        used=system.number(f"{group.memory}/memory.usage_in_bytes"),
        peak=system.number(f"{group.memory}/memory.max_usage_in_bytes"),
        limit=system.number(f"{group.memory}/memory.limit_in_bytes"),
        cached=pairs(system.read(f"{group.memory}/memory.stat")).get(b"total_inactive_file"),
    )


def memory(used: int | None, peak: int | None, limit: int | None, cached: int | None) -> Document:
    told = {
        "memory.used.bytes": used,
        "memory.peak.bytes": peak,
        "memory.limit.bytes": limit if limit is None or limit < UNLIMITED else None,
        "memory.cached.bytes": cached,
    }
    return {name: value for name, value in told.items() if value is not None}


def pairs(raw: bytes | None) -> dict[bytes, int]:
    """
    Lines of a name and a number.
    """
    found: dict[bytes, int] = {}
    for line in (raw or b"").splitlines():
        name, _, value = line.partition(b" ")
        if value.isdigit():
            found[name] = int(value)
    return found


def build(gear: Gear) -> Collector:
    if not gear.system.entries(ROOT):
        raise UnavailableError(f"no {ROOT}: no control groups here")
    return CgroupCollector(gear)
