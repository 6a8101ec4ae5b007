"""Every collector by name. To add one: write its module, then its line here."""

from __future__ import annotations

from shipper.collectors import (
    amd,
    cgroup,
    disk,
    files,
    filesystem,
    intel,
    interconnect,
    modules,
    network,
    node,
    nvidia,
    process,
    sensor,
    slurm,
)
from shipper.collectors.contract import Collector, CollectorModule, NoticeError, Tick
from shipper.collectors.contract import UnavailableError as UnavailableError

BUILT_IN: dict[str, CollectorModule] = {
    "process": process,
    "node": node,
    "slurm": slurm,
    "cgroup": cgroup,
    "filesystem": filesystem,
    "network": network,
    "disk": disk,
    "interconnect": interconnect,
    "sensor": sensor,
    "modules": modules,
    "files": files,
    "nvidia": nvidia,
    "amd": amd,
    "intel": intel,
}

__all__ = ["BUILT_IN", "Collector", "CollectorModule", "NoticeError", "Tick", "UnavailableError"]
