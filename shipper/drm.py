"""
Cards as the kernel's graphics layer lists them, and what their hwmon tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from leadline.formats import Document
from shipper.counters import Counters
from shipper.system import System

ROOT = "/sys/class/drm"
_CARD = re.compile(r"card\d+")


@dataclass(frozen=True, slots=True)
class Card:
    root: str  # /sys/class/drm/card0
    address: str  # PCI: 0000:c1:00.0
    render_minor: int | None

    @property
    def folder(self) -> str:
        return f"{self.root}/device"


def cards(system: System, vendor: str) -> Iterator[Card]:
    for name in system.entries(ROOT):
        root = f"{ROOT}/{name}"
        if not _CARD.fullmatch(name) or system.text(f"{root}/device/vendor") != vendor:
            continue
        address = name
        for line in (system.text(f"{root}/device/uevent") or "").splitlines():
            if line.startswith("PCI_SLOT_NAME="):
                address = line.partition("=")[2].lower()
        renders = [n for n in system.entries(f"{root}/device/drm") if n.startswith("renderD")]
        yield Card(root, address, int(renders[0][7:]) if renders else None)


def put_hwmon(system: System, card: Card, made: Document, counters: Counters, uuid: str) -> None:
    """
    Temperature, power, its limit, energy and fan into MADE, where the card's driver has them.
    """
    for entry in system.entries(f"{card.folder}/hwmon"):
        folder = f"{card.folder}/hwmon/{entry}"
        for field, files, unit in (
            ("temperature.celsius", ("temp1_input",), 1000),
            ("power.watts", ("power1_average", "power1_input"), 1_000_000),
            ("power.limit.watts", ("power1_cap", "power1_max"), 1_000_000),
        ):
            values = (system.number(f"{folder}/{file}") for file in files)
            if (value := next((v for v in values if v is not None), None)) is not None:
                made[field] = value / unit
        energy = system.number(f"{folder}/energy1_input")
        grown = counters.delta(f"gpu.{uuid}.energy", energy)
        if grown is not None:
            made["energy.joules"] = round(grown / 1e6, 3)
        fan, most = system.number(f"{folder}/pwm1"), system.number(f"{folder}/pwm1_max")
        if fan is not None and most:
            made["gpu.fan.percent"] = round(100 * fan / most, 1)
