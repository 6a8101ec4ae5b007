"""
Collector `sensor`: temperatures, power and energy that the kernel's drivers know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from leadline.formats import Document
from shipper.collectors.contract import Collector, Gear, Tick, UnavailableError

HWMON = "/sys/class/hwmon"
ZONES = "/sys/class/thermal"
RAPL = "/sys/class/powercap"
_INPUT = re.compile(r"(temp|power|energy)(\d+)_(input|average)")
BELIEVABLE = range(-55, 200)  # °C; drivers report -128 or 255 for a sensor that is not there


class SensorCollector:
    def __init__(self, gear: Gear) -> None:
        self._system = gear.system
        self._counters = gear.counters

    def __call__(self, tick: Tick) -> Iterator[Document]:
        found = [*self._hwmon(), *self._rapl()]
        if not any("temperature.celsius" in document for document in found):
            found += self._zones()
        taken: dict[str, int] = {}
        for document in found:
            name = str(document["sensor.name"])
            taken[name] = again = taken.get(name, 0) + 1
            if again > 1:
                document["sensor.name"] = f"{name} #{again}"
            yield document

    def _hwmon(self) -> Iterator[Document]:
        for device in self._system.entries(HWMON):
            folder = f"{HWMON}/{device}"
            chip = self._system.text(f"{folder}/name") or device
            for entry in self._system.entries(folder):
                if (match := _INPUT.fullmatch(entry)) and (
                    made := self._sensor(folder, chip, device, match)
                ):
                    yield made

    def _sensor(self, folder: str, chip: str, device: str, match: re.Match[str]) -> Document | None:
        kind, number, _ = match.groups()
        value = self._system.number(f"{folder}/{match[0]}")
        if value is None:
            return None
        label = self._system.text(f"{folder}/{kind}{number}_label") or f"{kind}{number}"
        made: Document = {"dataset": "sensor", "sensor.name": f"{chip}/{label}"}
        if kind == "temp":
            if value // 1000 not in BELIEVABLE:
                return None
            made["temperature.celsius"] = value / 1000
            critical = self._system.number(f"{folder}/temp{number}_crit")
            if critical is not None and 0 < critical // 1000 < BELIEVABLE.stop:
                made["temperature.critical.celsius"] = critical / 1000
        elif kind == "power":
            made["power.watts"] = value / 1e6
        else:
            grown = self._counters.delta(f"sensor.{device}.{match[0]}", value / 1e6)
            if grown is not None:
                made["energy.joules"] = round(grown, 3)
        return made

    def _zones(self) -> Iterator[Document]:
        for zone in self._system.entries(ZONES):
            value = self._system.number(f"{ZONES}/{zone}/temp")
            if not zone.startswith("thermal_zone") or value is None:
                continue
            if value // 1000 in BELIEVABLE:
                kind = self._system.text(f"{ZONES}/{zone}/type") or zone
                yield {
                    "dataset": "sensor",
                    "sensor.name": f"{zone}/{kind}",
                    "temperature.celsius": value / 1000,
                }

    def _rapl(self) -> Iterator[Document]:
        """
        Energy of the CPU's packages and memory; the counters wrap at a value they tell.
        """
        for zone in self._system.entries(RAPL):
            folder = f"{RAPL}/{zone}"
            value = self._system.number(f"{folder}/energy_uj")
            if value is None or ":" not in zone:
                continue
            name = self._system.text(f"{folder}/name") or zone
            made: Document = {"dataset": "sensor", "sensor.name": f"{zone}/{name}"}
            key = f"rapl.{zone}"
            before = self._counters.before(key)
            grown = self._counters.delta(key, value)
            limit = self._system.number(f"{folder}/max_energy_range_uj")
            if grown is None and before is not None and limit and value < before <= limit:
                grown = value + limit - before
            if grown is not None:
                made["energy.joules"] = round(grown / 1e6, 3)
            yield made


def build(gear: Gear) -> Collector:
    system = gear.system
    zones = [zone for zone in system.entries(ZONES) if zone.startswith("thermal_zone")]
    if not (system.entries(HWMON) or zones or system.entries(RAPL)):
        raise UnavailableError("no hwmon, thermal zone or powercap in /sys/class")
    return SensorCollector(gear)
