"""
Collector `disk`: what each whole disk read, wrote and how long it was busy since the last tick.
"""

from __future__ import annotations

from collections.abc import Iterator

from leadline.formats import Document
from shipper.collectors.contract import Collector, Gear, Tick, UnavailableError
from shipper.filters import patterns

SECTOR = 512  # bytes, whatever the disk's own sectors are


class DiskCollector:
    def __init__(self, gear: Gear) -> None:
        self._system = gear.system
        self._counters = gear.counters
        self._exclude = patterns("collect.disk.exclude", gear.settings.disk.exclude)

    def __call__(self, tick: Tick) -> Iterator[Document]:
        whole = {name.replace("!", "/") for name in self._system.entries("/sys/block")}
        for line in (self._system.text("/proc/diskstats") or "").splitlines():
            columns = line.split()
            if len(columns) < 14:
                continue
            name = columns[2]
            if (whole and name not in whole) or any(p.fullmatch(name) for p in self._exclude):
                continue
            counted = {
                "io.read.operations": int(columns[3]),
                "io.read.bytes": int(columns[5]) * SECTOR,
                "io.write.operations": int(columns[7]),
                "io.write.bytes": int(columns[9]) * SECTOR,
            }
            made: Document = {"dataset": "disk", "disk.name": name, "disk.queue": int(columns[11])}
            for field, value in counted.items():
                if (grown := self._counters.whole(f"disk.{name}.{field}", value)) is not None:
                    made[field] = grown
            busy = self._counters.delta(f"disk.{name}.busy", int(columns[12]) / 1000)
            if busy is not None:
                made["disk.busy.seconds"] = round(busy, 3)
            yield made


def build(gear: Gear) -> Collector:
    if gear.system.read("/proc/diskstats") is None:
        raise UnavailableError("no /proc/diskstats")
    return DiskCollector(gear)
