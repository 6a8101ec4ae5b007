"""
Collector `amd`: AMD cards by the kernel's own files, named by amd-smi or rocm-smi once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import orjson

from leadline.formats import Document
from shipper.collectors.contract import Collector, Gear, Tick, UnavailableError
from shipper.drm import Card, cards, put_hwmon
from shipper.system import System

VENDOR = "0x1002"
KFD = "/sys/class/kfd/kfd/proc"
STATIC = (
    ("amd-smi", "static", "--asic", "--bus", "--json"),
    ("rocm-smi", "--showproductname", "--showbus", "--showuniqueid", "--json"),
)
_CLOCK = re.compile(r"^\d+: (\d+)Mhz \*", re.MULTILINE | re.IGNORECASE)


class AmdCollector:
    def __init__(self, gear: Gear) -> None:
        self._system = gear.system
        self._counters = gear.counters
        self._names = names(gear.system)
        self._driver = gear.system.text("/sys/module/amdgpu/version")

    def __call__(self, tick: Tick) -> Iterator[Document]:
        processes = list(self._processes())
        for index, card in enumerate(cards(self._system, VENDOR)):
            made = self._card(index, card)
            percent = made.get("gpu.percent")
            if isinstance(percent, int) and tick.interval:
                made["gpu_seconds"] = round(percent / 100 * tick.interval, 3)
            mine = [(pid, held) for pid, gpu, held in processes if gpu == self._kfd_id(card)]
            made["gpu.processes"] = len(mine)
            yield made
            for pid, held in mine:
                about = {k: v for k, v in made.items() if k in _CARD}
                yield {
                    **about,
                    "dataset": "process_gpu",
                    "process.pid": pid,
                    "gpu.memory.bytes": held,
                }

    def _card(self, index: int, card: Card) -> Document:
        system, folder = self._system, card.folder
        unique = system.text(f"{folder}/unique_id")
        uuid = f"GPU-{unique.removeprefix('0x')}" if unique else f"amd-{card.address}"
        made: Document = {
            "dataset": "gpu",
            "gpu.uuid": uuid,
            "gpu.index": index,
            "gpu.vendor": "amd",
            "gpu.address": card.address,
        }
        model = self._names.get(card.address) or system.text(f"{folder}/product_name")
        if model:
            made["gpu.model"] = model
        if self._driver:
            made["gpu.driver"] = self._driver
        for field, file in (
            ("gpu.percent", "gpu_busy_percent"),
            ("gpu.memory.busy.percent", "mem_busy_percent"),
            ("gpu.memory.bytes", "mem_info_vram_used"),
            ("gpu.memory.total.bytes", "mem_info_vram_total"),
        ):
            if (value := system.number(f"{folder}/{file}")) is not None:
                made[field] = value
        used, total = made.get("gpu.memory.bytes"), made.get("gpu.memory.total.bytes")
        if isinstance(used, int) and isinstance(total, int) and total:
            made["gpu.memory.percent"] = round(100 * used / total, 2)
        for field, file in (("gpu.clock.core", "pp_dpm_sclk"), ("gpu.clock.memory", "pp_dpm_mclk")):
            if match := _CLOCK.search(system.text(f"{folder}/{file}") or ""):
                made[field] = int(match[1])
        put_hwmon(system, card, made, self._counters, uuid)
        made.update(self._health(folder))
        return made

    def _health(self, folder: str) -> Document:
        """
        Failing: memory errors the card could not correct, as its RAS counters have them.
        """
        found = False
        errors = 0
        for entry in self._system.entries(f"{folder}/ras"):
            text = self._system.text(f"{folder}/ras/{entry}") or ""
            for count in re.findall(r"^ue: (\d+)", text, re.MULTILINE):
                found, errors = True, errors + int(count)
        if not found:
            return {}
        if not errors:
            return {"gpu.failing": False}
        return {"gpu.failing": True, "gpu.failing_reason": f"{errors} uncorrected memory errors"}

    def _kfd_id(self, card: Card) -> str | None:
        """
        The card's number in KFD's lists, by its place on the bus.
        """
        for node in self._system.entries("/sys/class/kfd/kfd/topology/nodes"):
            folder = f"/sys/class/kfd/kfd/topology/nodes/{node}"
            text = self._system.text(f"{folder}/properties") or ""
            told = dict(line.split(" ", 1) for line in text.splitlines() if " " in line)
            if told.get("drm_render_minor") == str(card.render_minor):
                return self._system.text(f"{folder}/gpu_id")
        return None

    def _processes(self) -> Iterator[tuple[int, str, int]]:
        """
        Process, KFD's card number, video memory held.
        """
        for pid in self._system.entries(KFD):
            for entry in self._system.entries(f"{KFD}/{pid}"):
                if entry.startswith("vram_") and pid.isdigit():
                    held = self._system.number(f"{KFD}/{pid}/{entry}")
                    if held is not None:
                        yield int(pid), entry.removeprefix("vram_"), held


_CARD = frozenset({"gpu.uuid", "gpu.index", "gpu.vendor", "gpu.model"})


def names(system: System) -> dict[str, str]:
    """
    Model by PCI address, from whichever tool is there. Half a second of CPU: asked once.
    """
    for command in STATIC:
        raw = system.run(command, timeout=8)
        if raw is None:
            continue
        try:
            told = orjson.loads(raw)
        except orjson.JSONDecodeError:
            continue
        if found := dict(_amd_smi(told) if isinstance(told, list) else _rocm_smi(told)):
            return found
    return {}


def _amd_smi(told: list[object]) -> Iterator[tuple[str, str]]:
    for card in told:
        if not isinstance(card, dict):
            continue
        asic, bus = card.get("asic"), card.get("bus")
        if isinstance(asic, dict) and isinstance(bus, dict):
            yield str(bus.get("bdf", "")).lower(), str(asic.get("market_name", ""))


def _rocm_smi(told: object) -> Iterator[tuple[str, str]]:
    for card in told.values() if isinstance(told, dict) else ():
        if isinstance(card, dict):
            lower = {str(key).lower(): str(value) for key, value in card.items()}
            name = lower.get("card series") or lower.get("card model") or ""
            if address := lower.get("pci bus"):
                yield address.lower(), name


def build(gear: Gear) -> Collector:
    if "amd" not in gear.settings.gpu.vendors:
        raise UnavailableError("collect.gpu.vendors leaves it out")
    if not list(cards(gear.system, VENDOR)):
        raise UnavailableError("no AMD card in /sys/class/drm")
    return AmdCollector(gear)
