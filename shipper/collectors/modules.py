"""
Collector `modules`: a fingerprint of the loaded kernel modules, and an event when they change.
"""

from __future__ import annotations

from collections.abc import Iterator

from leadline.formats import Document
from leadline.formats.times import from_epoch
from shipper.collectors.contract import Collector, Gear, Tick, UnavailableError
from shipper.digest import digest


class ModulesCollector:
    def __init__(self, gear: Gear) -> None:
        self._system = gear.system
        self._before: set[str] | None = None

    def __call__(self, tick: Tick) -> Iterator[Document]:
        text = self._system.text("/proc/modules")
        if text is None:
            return
        now = {line.split(" ", 1)[0] for line in text.splitlines() if line}
        yield {"dataset": "node", "kernel.modules.hash": fingerprint(now)}
        before, self._before = self._before, now
        if before is not None and before != now:
            loaded, gone = sorted(now - before), sorted(before - now)
            said = [f"+{name}" for name in loaded] + [f"-{name}" for name in gone]
            yield {
                "dataset": "event",
                "rule.name": "shipper.modules",
                "event.object": tick.host,
                "event.kind": "change",
                "event.severity": "info",
                "event.start": from_epoch(tick.wall),
                "event.reason": "kernel modules changed",
                "event.names": sorted(said),
                "event.count": len(said),
                "message": f"{tick.host}: kernel modules changed: {' '.join(said)}"[:2000],
            }

    def dump(self) -> object:
        return sorted(self._before or ())

    def restore(self, kept: object, looked_at: float | None) -> None:
        if isinstance(kept, list) and kept:
            self._before = {str(name) for name in kept}


def fingerprint(names: set[str]) -> str:
    """
    The same for the same set, whatever order and use counts the kernel shows.
    """
    return digest("\n".join(sorted(names)).encode(), 8)


def build(gear: Gear) -> Collector:
    if gear.system.read("/proc/modules") is None:
        raise UnavailableError("no /proc/modules: a kernel without loadable modules")
    return ModulesCollector(gear)
