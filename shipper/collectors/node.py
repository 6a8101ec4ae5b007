"""
Collector `node`: CPU, load, memory, swap, pressure of the whole machine; an empty one is a
heartbeat.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from leadline.formats import Document
from shipper.collectors.contract import Collector, Gear, Tick
from shipper.system import System

# Columns of /proc/stat's `cpu` line, proc(5). Guest time is within user time already.
CPU_COLUMNS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
BUSY = ("user", "nice", "system", "irq")


@dataclass(frozen=True, slots=True)
class Fitted:
    """
    What does not change while the machine runs.
    """

    fields: Document

    @classmethod
    def of(cls, gear: Gear) -> Fitted:
        system = gear.system
        fields: Document = {
            "host.architecture": system.architecture(),
            "host.os.kernel": system.kernel(),
        }
        name, cores, threads = _processors(system)
        if name:
            fields["host.cpu.model"] = name
        if cores:
            fields["node.cores"] = cores
        if counted := threads or system.processors():
            fields["node.threads"] = counted
        if os_name := _os_name(system):
            fields["host.os.name"] = os_name
        if gear.settings.node_type:
            fields["node.type"] = gear.settings.node_type
        return cls(fields)


class NodeCollector:
    def __init__(self, gear: Gear) -> None:
        self._system = gear.system
        self._counters = gear.counters
        self._fitted = Fitted.of(gear).fields

    def __call__(self, tick: Tick) -> Iterator[Document]:
        made: Document = {
            "dataset": "node",
            **self._fitted,
            "uptime.seconds": round(tick.uptime, 1),
        }
        made.update(self._cpu(tick))
        made.update(self._load())
        made.update(memory(self._system.read("/proc/meminfo") or b""))
        for kind in ("cpu", "memory", "io"):
            made.update(pressure(kind, self._system.read(f"/proc/pressure/{kind}")))
        yield made

    def _cpu(self, tick: Tick) -> Document:
        """
        Time per state. The kernel lets iowait step back: such a delta is absent.
        """
        found: Document = {}
        seconds: dict[str, float] = {}
        for line in (self._system.read("/proc/stat") or b"").splitlines():
            words = line.split()
            if words[:1] == [b"cpu"]:
                seconds = _states(words[1:], self._system.clock_ticks)
            elif words[:1] == [b"procs_running"]:
                # The reader itself runs while it reads.
                found["processes.runnable"] = max(0, int(words[1]) - 1)
            elif words[:1] == [b"procs_blocked"]:
                found["processes.blocked"] = int(words[1])
        busy: float | None = 0.0
        for state, value in seconds.items():
            grown = self._counters.delta(f"cpu.{state}", value)
            if grown is not None:
                found[f"cpu.{state}.seconds"] = round(grown, 2)
            if state in BUSY:
                busy = None if busy is None or grown is None else busy + grown
        if seconds and busy is not None:
            found["core_seconds"] = round(busy, 2)
            if tick.interval:
                found["cpu.percent"] = round(100.0 * busy / tick.interval, 1)
        return found

    def _load(self) -> Document:
        words = (self._system.text("/proc/loadavg") or "").split()
        if len(words) < 4:
            return {}
        found: Document = {
            "load.1m": float(words[0]),
            "load.5m": float(words[1]),
            "load.15m": float(words[2]),
        }
        if (total := words[3].partition("/")[2]).isdigit():
            found["processes.total"] = int(total)
        return found


def memory(meminfo: bytes) -> Document:
    kib: dict[bytes, int] = {}
    for line in meminfo.splitlines():
        name, _, value = line.partition(b":")
        words = value.split()
        if words and words[0].isdigit():
            kib[name] = int(words[0]) * 1024
    found: Document = {}
    total, available = kib.get(b"MemTotal"), kib.get(b"MemAvailable")
    if total is not None:
        found["memory.total.bytes"] = total
    if available is not None:
        found["memory.available.bytes"] = available
    if total is not None and available is not None:
        found["memory.used.bytes"] = max(0, total - available)
    if b"Cached" in kib:
        found["memory.cached.bytes"] = kib[b"Cached"]
    if b"SwapTotal" in kib:
        found["swap.total.bytes"] = kib[b"SwapTotal"]
        if b"SwapFree" in kib:
            found["swap.used.bytes"] = max(0, kib[b"SwapTotal"] - kib[b"SwapFree"])
    return found


def pressure(kind: str, raw: bytes | None) -> Document:
    """
    Pressure stall figures, averaged over 60 s: how long tasks waited for KIND.
    """
    found: Document = {}
    for line in (raw or b"").splitlines():
        words = line.decode("ascii", "replace").split()
        averages = [word[6:] for word in words if word.startswith("avg60=")]
        if not averages:
            continue
        if words[0] == "some":
            found[f"pressure.{kind}.percent"] = float(averages[0])
        elif words[0] == "full" and kind != "cpu":  # always 0 for the CPU of a whole machine
            found[f"pressure.{kind}.full.percent"] = float(averages[0])
    return found


def _states(columns: list[bytes], ticks: int) -> dict[str, float]:
    seconds = {name: int(value) / ticks for name, value in zip(CPU_COLUMNS, columns, strict=False)}
    if "irq" in seconds:
        seconds["irq"] += seconds.pop("softirq", 0.0)
    return seconds


def _processors(system: System) -> tuple[str, int, int]:
    """
    Model, physical cores and hardware threads; 0 for what this kernel does not tell.
    """
    name, threads, package = "", 0, ""
    cores: set[tuple[str, str]] = set()
    for line in (system.text("/proc/cpuinfo") or "").splitlines():
        key, _, value = (part.strip() for part in line.partition(":"))
        if key == "processor":
            threads += 1
        elif key in ("model name", "cpu", "Model"):
            name = name or value
        elif key == "physical id":
            package = value
        elif key == "core id":
            cores.add((package, value))
    return name, len(cores) or _core_count(system), threads


def _core_count(system: System) -> int:
    """
    Cores by their lists of sibling threads, where cpuinfo does not name them (ARM).
    """
    siblings = set()
    for cpu in system.entries("/sys/devices/system/cpu"):
        if cpu[3:].isdigit():
            path = f"/sys/devices/system/cpu/{cpu}/topology/thread_siblings_list"
            siblings.add(system.text(path))
    return len(siblings - {None})


def _os_name(system: System) -> str | None:
    for line in (system.text("/etc/os-release") or "").splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.partition("=")[2].strip("\"'")
    return None


def build(gear: Gear) -> Collector:
    return NodeCollector(gear)
