"""
Collector `interconnect`: InfiniBand and Omni-Path ports, by their hardware counters.
"""

from __future__ import annotations

from collections.abc import Iterator

from leadline.formats import Document
from shipper.collectors.contract import Collector, Gear, Tick, UnavailableError

ROOT = "/sys/class/infiniband"
LANE_WORDS = 4  # port_*_data counts words of four bytes
COUNTERS = {
    "network.in.bytes": ("port_rcv_data", LANE_WORDS),
    "network.out.bytes": ("port_xmit_data", LANE_WORDS),
    "network.in.packets": ("port_rcv_packets", 1),
    "network.out.packets": ("port_xmit_packets", 1),
    "network.in.errors": ("port_rcv_errors", 1),
    "network.out.dropped": ("port_xmit_discards", 1),
}


class InterconnectCollector:
    def __init__(self, gear: Gear) -> None:
        self._system = gear.system
        self._counters = gear.counters

    def __call__(self, tick: Tick) -> Iterator[Document]:
        for device in self._system.entries(ROOT):
            for port in self._system.entries(f"{ROOT}/{device}/ports"):
                yield self._port(f"{device}/{port}", f"{ROOT}/{device}/ports/{port}")

    def _port(self, name: str, folder: str) -> Document:
        made: Document = {"dataset": "network", "interface.name": name}
        layer = self._system.text(f"{folder}/link_layer") or "InfiniBand"
        made["interface.kind"] = "roce" if layer == "Ethernet" else layer.lower()
        if state := self._system.text(f"{folder}/state"):  # 4: ACTIVE
            made["interface.state"] = state.rpartition(":")[2].strip().lower()
        rate = (self._system.text(f"{folder}/rate") or "").split()  # 100 Gb/sec (4X EDR)
        if len(rate) > 1 and rate[1] == "Gb/sec":
            made["interface.speed"] = float(rate[0]) * 1e9
        for field, (counter, unit) in COUNTERS.items():
            value = self._system.number(f"{folder}/counters/{counter}")
            grown = self._counters.whole(f"ib.{name}.{counter}", value)
            if grown is not None:
                made[field] = grown * unit
        return made


def build(gear: Gear) -> Collector:
    if not gear.system.entries(ROOT):
        raise UnavailableError(f"no {ROOT}: no InfiniBand here")
    return InterconnectCollector(gear)
