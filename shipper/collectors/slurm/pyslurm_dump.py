"""
Run as a process of its own: everything pyslurm tells, as JSON on stdout.

Importing pyslurm without a usable slurm.conf ends the process, and a slurmctld that is away holds
it for long; neither may happen to the shipper.
"""

from __future__ import annotations

import sys
from typing import Any

import orjson

JOB = (
    "id", "array_id", "array_task_id", "heterogeneous_id", "heterogeneous_offset", "state",
    "state_reason", "submit_time", "eligible_time", "start_time", "end_time", "time_limit",
    "user_name", "user_id", "group_name", "account", "partition", "qos", "name", "cpus",
    "num_nodes", "allocated_nodes", "gpus", "priority", "reservation", "working_directory",
)  # fmt: skip
NODE = (
    "name", "state", "reason", "reason_user", "reason_time", "partitions", "available_features",
    "total_cpus", "cores_per_socket", "sockets", "allocated_cpus", "real_memory",
    "allocated_memory", "configured_gres", "allocated_gres",
)  # fmt: skip
RESERVATION = (
    "name", "start_time", "end_time", "nodes", "users", "accounts", "partition", "flags",
)  # fmt: skip


def plain(value: Any) -> Any:
    """
    What JSON can hold: pyslurm's own types by their count or their name.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        return {str(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(inner) for inner in value]
    if isinstance(count := getattr(value, "count", None), int):
        return count
    return getattr(value, "name", None) or str(value)


def rows(found: Any, names: tuple[str, ...]) -> list[dict[str, Any]]:
    records = found.values() if hasattr(found, "values") else found
    return [{name: plain(getattr(one, name, None)) for name in names} for one in records]


def dump(pyslurm: Any) -> dict[str, Any]:
    return {
        "version": str(getattr(pyslurm, "__version__", "")),
        "jobs": rows(pyslurm.Jobs.load(), JOB),
        "nodes": rows(pyslurm.Nodes.load(), NODE),
        "reservations": rows(pyslurm.Reservations.load(), RESERVATION),
    }


def main() -> int:
    try:
        import pyslurm
    except ImportError:
        return 3
    sys.stdout.buffer.write(orjson.dumps(dump(pyslurm)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
