"""
What one look of each collector costs in CPU time, and per thing it looks at.

What this machine has is measured as it is; what it lacks (cards, InfiniBand, sensors, jobs) on a
made-up machine of plain files, which shows our own part: a driver's own time comes on top.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[1])

from bench.daemon import sleepers
from bench.report import Report, arguments
from shipper.collectors import BUILT_IN
from shipper.collectors.contract import Gear, Tick
from shipper.counters import Counters
from shipper.settings import CollectSettings, FilesSettings
from shipper.system import System
from shipper.users import Users
from tests.shipper.fake import FakeSystem
from tests.shipper.fake_nvml import Card, FakeNvml

PROCESSES = 300
JOBS, PORTS, SENSORS, MODULES, FILES, CARDS = 16, 2, 40, 150, 50, 4


def jobs(system: FakeSystem) -> None:
    system.put("/sys/fs/cgroup/cgroup.controllers", "cpu memory\n")
    for number in range(JOBS):
        folder = f"/sys/fs/cgroup/system.slice/slurmstepd.scope/job_{number}"
        system.put(f"{folder}/cpu.stat", "usage_usec 90\nuser_usec 60\nsystem_usec 30\n" * 4)
        for name in ("current", "peak", "max"):
            system.put(f"{folder}/memory.{name}", "4096000\n")
        system.put(f"{folder}/memory.stat", "".join(f"line{n} 4096\n" for n in range(40)))
        system.put(f"{folder}/memory.events", "oom 0\noom_kill 0\n")


def ports(system: FakeSystem) -> None:
    names = ("rcv_data", "xmit_data", "rcv_packets", "xmit_packets", "rcv_errors", "xmit_discards")
    for number in range(PORTS):
        folder = f"/sys/class/infiniband/mlx5_{number}/ports/1"
        system.put(f"{folder}/state", "4: ACTIVE\n")
        system.put(f"{folder}/rate", "100 Gb/sec (4X EDR)\n")
        for name in names:
            system.put(f"{folder}/counters/port_{name}", "123456789\n")


def sensors(system: FakeSystem) -> None:
    for number in range(SENSORS):
        folder = f"/sys/class/hwmon/hwmon{number // 10}"
        system.put(f"{folder}/name", "coretemp\n")
        system.put(f"{folder}/temp{number}_input", "51000\n")
        system.put(f"{folder}/temp{number}_label", f"Core {number}\n")
        system.put(f"{folder}/temp{number}_crit", "100000\n")


def modules(system: FakeSystem) -> None:
    lines = (f"module_{n} 16384 {n} - Live 0x0000000000000000\n" for n in range(MODULES))
    system.put("/proc/modules", "".join(lines))


def files(system: FakeSystem) -> None:
    for number in range(FILES):
        system.put(f"/etc/watched/file{number}", "x")


def nvidia(system: FakeSystem) -> None:
    system.put("/dev/nvidiactl", "")
    system.libraries["pynvml"] = FakeNvml(*(Card(f"GPU-{number}") for number in range(CARDS)))


def drm(vendor: str) -> Callable[[FakeSystem], None]:
    def cards(system: FakeSystem) -> None:
        for number in range(CARDS):
            device = f"/sys/class/drm/card{number}/device"
            system.put(f"{device}/vendor", f"{vendor}\n")
            system.put(f"{device}/uevent", f"PCI_SLOT_NAME=0000:c{number}:00.0\n")
            for name in ("unique_id", "gpu_busy_percent", "mem_info_vram_used"):
                system.put(f"{device}/{name}", "75\n")
            system.put(f"{device}/mem_info_vram_total", "65536\n")
            for name in ("temp1_input", "power1_average", "energy1_input"):
                system.put(f"{device}/hwmon/hwmon{number}/{name}", "51000\n")

    return cards


# Machines for what this one may lack.
MADE_UP: dict[str, Callable[[FakeSystem], None]] = {
    "cgroup": jobs,
    "interconnect": ports,
    "sensor": sensors,
    "modules": modules,
    "files": files,
    "nvidia": nvidia,
    "amd": drm("0x1002"),
    "intel": drm("0x8086"),
}
COUNTED = {"modules": MODULES, "files": FILES, "nvidia": CARDS, "amd": CARDS, "intel": CARDS}


@dataclass(frozen=True, slots=True)
class Cost:
    seconds: float
    things: int


@contextmanager
def machine(name: str) -> Iterator[System]:
    """
    This machine, or one made up for the collector.
    """
    if name not in MADE_UP:
        yield System()
        return
    with tempfile.TemporaryDirectory() as folder:
        fake = FakeSystem(Path(folder))
        MADE_UP[name](fake)
        yield fake


def cost(name: str, looks: int) -> Cost:
    """
    The median look; the first two learn who is there.
    """
    with machine(name) as system:
        settings = CollectSettings(
            collectors=(name,), files=FilesSettings(paths=(Path("/etc/watched"),))
        )
        collector = BUILT_IN[name].build(Gear(settings, system, Counters(), Users(system)))
        spent: list[float] = []
        for number in range(looks + 2):
            tick = Tick(time.time(), system.uptime() + 60 * number, 60.0, "boot", "n1")
            begun = time.process_time()
            found = list(collector(tick))
            spent.append(time.process_time() - begun)
        if close := getattr(collector, "close", None):
            close()
    made = sum(int(str(one.get("process.count", 1))) for one in found if one["dataset"] != "node")
    return Cost(median(spent[2:]), COUNTED.get(name, made or 1))


def main() -> None:
    args = arguments(__doc__ or "")
    report = Report("collectors: CPU of one look")
    looks = 5 if args.quick else 25
    with sleepers(PROCESSES):
        for name in BUILT_IN:
            if name == "slurm":
                continue  # its cost is slurmctld's
            found = cost(name, looks)
            report.add(f"look_ms_{name}", 1e3 * found.seconds, f"ms for {found.things}")
            report.add(f"look_us_each_{name}", 1e6 * found.seconds / found.things, "µs each")
    report.finish(args)


if __name__ == "__main__":
    main()
