"""
Collector `network`: bytes, packets and errors of each interface since the last tick.
"""

from __future__ import annotations

from collections.abc import Iterator

from leadline.formats import Document
from shipper.collectors.contract import Collector, Gear, Tick, UnavailableError
from shipper.filters import patterns

# Columns of /proc/net/dev, after the name.
COLUMNS = {
    "network.in.bytes": 0,
    "network.in.packets": 1,
    "network.in.errors": 2,
    "network.in.dropped": 3,
    "network.out.bytes": 8,
    "network.out.packets": 9,
    "network.out.errors": 10,
    "network.out.dropped": 11,
}
KINDS = {1: "ethernet", 32: "infiniband", 512: "ppp", 772: "loopback", 776: "tunnel"}


class NetworkCollector:
    def __init__(self, gear: Gear) -> None:
        self._system = gear.system
        self._counters = gear.counters
        self._exclude = patterns("collect.network.exclude", gear.settings.network.exclude)

    def __call__(self, tick: Tick) -> Iterator[Document]:
        for line in (self._system.text("/proc/net/dev") or "").splitlines():
            name, colon, rest = line.strip().partition(":")
            columns = rest.split()
            if not colon or len(columns) < 12:
                continue
            if any(p.fullmatch(name) for p in self._exclude):
                continue
            yield {"dataset": "network", "interface.name": name, **self._about(name)} | {
                field: grown
                for field, column in COLUMNS.items()
                if (grown := self._counters.whole(f"net.{name}.{field}", int(columns[column])))
                is not None
            }

    def _about(self, name: str) -> Document:
        folder = f"/sys/class/net/{name}"
        about: Document = {}
        if (kind := self._system.number(f"{folder}/type")) is not None:
            about["interface.kind"] = self._kind(folder, kind)
        if (state := self._system.text(f"{folder}/operstate")) and state != "unknown":
            about["interface.state"] = state
        speed = self._system.number(f"{folder}/speed")  # Mbit/s; -1 where there is no link
        if speed is not None and speed > 0:
            about["interface.speed"] = speed * 1_000_000
        return about

    def _kind(self, folder: str, number: int) -> str:
        for entry, kind in (("bonding", "bond"), ("bridge", "bridge"), ("wireless", "wireless")):
            if self._system.stat(f"{folder}/{entry}") is not None:
                return kind
        return KINDS.get(number, "other")


def build(gear: Gear) -> Collector:
    if gear.system.read("/proc/net/dev") is None:
        raise UnavailableError("no /proc/net/dev")
    return NetworkCollector(gear)
