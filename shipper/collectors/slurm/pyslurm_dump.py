"""
Run as a process of its own: everything pyslurm tells, as JSON on stdout; or why it is not asked.

Importing pyslurm without a usable slurm.conf ends the process, and a slurmctld that is away holds
it for long; neither may happen to the shipper. The one argument is the version of the Slurm that
runs here: a pyslurm built for another one is not imported.
"""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import orjson

JOB = (
    "id", "array_id", "array_task_id", "array_tasks_waiting", "array_tasks_parallel",
    "heterogeneous_id", "heterogeneous_offset", "state",
    "state_reason", "submit_time", "eligible_time", "start_time", "end_time", "time_limit",
    "user_name", "user_id", "group_name", "account", "partition", "qos", "name", "cpus",
    "num_nodes", "allocated_nodes", "gpus", "priority", "reservation", "working_directory",
)  # fmt: skip
NODE = (
    "name", "hostname", "state", "reason", "reason_user", "reason_time", "partitions",
    "available_features", "total_cpus", "cores_per_socket", "sockets", "allocated_cpus",
    "real_memory", "allocated_memory", "configured_gres", "allocated_gres",
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


def misfit(ours: str | None, running: str) -> str | None:
    """
    Why a pyslurm of version OURS does not fit RUNNING; None where it does. pyslurm's first two
    numbers are those of the Slurm it is built for: 22.5.1 is for 22.05.
    """
    if ours is None:
        return "pyslurm is not installed"
    if (built := release(ours)) and built == release(running):
        return None
    return f"pyslurm {ours} is built for another Slurm than {running or '(unknown)'}, which is here"


def release(version: str) -> tuple[int, ...]:
    parts = version.split(".")[:2]
    return tuple(int(part) for part in parts) if all(p.isdigit() for p in parts) else ()


def answer(running: str) -> dict[str, Any]:
    try:
        ours: str | None = version("pyslurm")
    except PackageNotFoundError:
        ours = None
    if (why := misfit(ours, running)) is not None:
        return {"refused": why}
    try:
        import pyslurm
    except ImportError as error:
        return {"refused": f"pyslurm {ours} does not import: {error}"[:300]}
    return dump(pyslurm)


def main() -> int:
    sys.stdout.buffer.write(orjson.dumps(answer(sys.argv[1] if len(sys.argv) > 1 else "")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
