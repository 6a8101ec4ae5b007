"""
Collector `slurm`: jobs' lives, nodes' states and reservations, as slurmctld tells them.

Runs on one machine per cluster, where `collect.slurm_live.enabled` says so; no other node asks, and
none but that one loads the rest of this folder: it would cost every node memory.
"""

from __future__ import annotations

from shipper.collectors.contract import Collector, Gear, UnavailableError


def build(gear: Gear) -> Collector:
    if not gear.settings.slurm_live.enabled:
        raise UnavailableError(
            "not asked for here; collect.slurm_live.enabled: yes on one machine per cluster"
        )
    from shipper.collectors.slurm.asking import running_version
    from shipper.collectors.slurm.collector import SlurmCollector

    if running_version(gear.system) is None:
        raise UnavailableError("no Slurm commands here (squeue, scontrol)")
    return SlurmCollector(gear)
