"""
Collector `intel`: Intel's discrete and Max cards by the kernel's own files.
"""

from __future__ import annotations

from collections.abc import Iterator

from leadline.formats import Document
from shipper.collectors.contract import Collector, Gear, Tick, UnavailableError
from shipper.drm import Card, cards, put_hwmon

VENDOR = "0x8086"
CLOCKS = ("gt_act_freq_mhz", "gt/gt0/rps_act_freq_mhz", "device/tile0/gt0/freq0/act_freq")
MEMORY_TOTAL = ("lmem_total_bytes", "device/tile0/physical_vram_size_bytes")
MEMORY_AVAILABLE = ("lmem_avail_bytes",)


class IntelCollector:
    """
    Utilisation is not to be had from sysfs, so it is absent.
    """

    def __init__(self, gear: Gear) -> None:
        self._system = gear.system
        self._counters = gear.counters

    def __call__(self, tick: Tick) -> Iterator[Document]:
        for index, card in enumerate(cards(self._system, VENDOR)):
            yield self._card(index, card)

    def _card(self, index: int, card: Card) -> Document:
        uuid = f"intel-{card.address}"
        made: Document = {
            "dataset": "gpu",
            "gpu.uuid": uuid,
            "gpu.index": index,
            "gpu.vendor": "intel",
            "gpu.address": card.address,
        }
        if device := self._system.text(f"{card.folder}/device"):
            made["gpu.model"] = f"Intel {device.removeprefix('0x')}"
        if (clock := self._first(card, CLOCKS)) is not None:
            made["gpu.clock.core"] = clock
        total, free = self._first(card, MEMORY_TOTAL), self._first(card, MEMORY_AVAILABLE)
        if total is not None:
            made["gpu.memory.total.bytes"] = total
            if free is not None:
                made["gpu.memory.bytes"] = max(0, total - free)
        put_hwmon(self._system, card, made, self._counters, uuid)
        return made

    def _first(self, card: Card, files: tuple[str, ...]) -> int | None:
        for file in files:
            if (value := self._system.number(f"{card.root}/{file}")) is not None:
                return value
        return None


def build(gear: Gear) -> Collector:
    if "intel" not in gear.settings.gpu.vendors:
        raise UnavailableError("collect.gpu.vendors leaves it out")
    if not list(cards(gear.system, VENDOR)):
        raise UnavailableError("no Intel card in /sys/class/drm")
    return IntelCollector(gear)
