"""
The module pyslurm as 25.11 was recorded: the attributes that were there, of the types they had,
with the values of a capture of JSON.
"""

from __future__ import annotations

from enum import Flag
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson

from shipper.collectors.slurm.from_text import moment

CAPTURES = Path(__file__).parent / "captures"
UNSET = 4294967294


class ReservationFlags(Flag):
    MAINTENANCE = 1
    IGNORE_RUNNING_JOBS = 2
    SPECIFIC_NODES = 4
    ALL_NODES = 8


FLAGS = {
    "MAINT": ReservationFlags.MAINTENANCE,
    "IGNORE_JOBS": ReservationFlags.IGNORE_RUNNING_JOBS,
    "SPEC_NODES": ReservationFlags.SPECIFIC_NODES,
    "ALL_NODES": ReservationFlags.ALL_NODES,
}


class Cards:
    """
    Stands for pyslurm's own type, which counts.
    """

    def __init__(self, count: int) -> None:
        self.count = count


def attributes(kind: str) -> dict[str, str]:
    """
    Recorded names, and the types of their values.
    """
    lines = (CAPTURES / f"pyslurm_25.11_{kind}.txt").read_text().splitlines()[1:]
    found = (line.split("\t")[:2] for line in lines)
    return {name: type_ for name, type_ in found if type_ != "method"}


def blank(kind: str, **values: object) -> SimpleNamespace:
    known = attributes(kind)
    for name, value in values.items():
        told = type(value).__name__
        assert known[name] in (told, "NoneType") or value is None, (name, told)
    return SimpleNamespace(**{**dict.fromkeys(known), **values})


def records(name: str) -> list[dict[str, Any]]:
    found = orjson.loads((CAPTURES / f"slurm_22.05_{name}.json").read_bytes())[name]
    assert isinstance(found, list)
    return found


def tres(text: str) -> dict[str, int]:
    """
    Cards of `cpu=2,gres/gpu=2,gres/gpu:a100=2`.
    """
    pairs = (part.partition("=") for part in text.split(",") if part.startswith("gres/gpu"))
    return {name.removeprefix("gres/"): int(count) for name, _, count in pairs}


def gres(text: str) -> dict[str, int]:
    """
    Cards of `gpu:a100:2(IDX:0-1)`; pyslurm tells none that are none.
    """
    name, _, count = text.partition("(")[0].rpartition(":")
    return {name: int(count)} if count.isdigit() and int(count) else {}


def job(told: dict[str, Any]) -> SimpleNamespace:
    task, waiting = told["array_task_id"], (told["array_task_string"] or "").partition("%")
    limit = told["time_limit"]
    cards = tres(told["tres_alloc_str"] or told["tres_req_str"])
    return blank(
        "job",
        id=told["job_id"],
        array_id=told["array_job_id"] or None,
        array_task_id=task if told["array_job_id"] and task not in (None, UNSET) else None,
        array_tasks_waiting=waiting[0] or None,
        array_tasks_parallel=int(waiting[2]) if waiting[2] else None,
        heterogeneous_id=told["het_job_id"] or None,
        state=told["job_state"],
        state_reason=told["state_description"] or told["state_reason"],
        submit_time=told["submit_time"],
        eligible_time=told["eligible_time"] or None,
        start_time=told["start_time"] or None,
        end_time=told["end_time"] or None,
        time_limit=limit if limit is not None and limit < UNSET else None,
        user_name=told["user_name"],
        user_id=told["user_id"],
        group_name=told["group_name"],
        account=told["account"],
        partition=told["partition"],
        qos=told["qos"],
        name=told["name"],
        cpus=told["cpus"],
        num_nodes=told["node_count"],
        allocated_nodes=told["nodes"] or None,
        gpus={name: Cards(count) for name, count in cards.items()},
        priority=told["priority"],
        reservation=told["resv_name"] or None,
        working_directory=told["current_working_directory"],
    )


def node(told: dict[str, Any]) -> SimpleNamespace:
    used = gres(told["gres_used"] or "")
    return blank(
        "node",
        name=told["name"],
        hostname=told["hostname"],
        state="+".join([told["state"].upper(), *told["state_flags"]]),
        reason=told["reason"] or None,
        reason_user=told["reason_set_by_user"],
        reason_time=told["reason_changed_at"] or None,
        partitions=told["partitions"],
        available_features=told["features"].split(","),
        total_cpus=told["cpus"],
        cores_per_socket=told["cores"],
        sockets=told["sockets"],
        allocated_cpus=told["alloc_cpus"],
        real_memory=told["real_memory"],
        allocated_memory=told["alloc_memory"],
        configured_gres=gres(told["gres"]),
        allocated_gres={"gpu": sum(used.values()), **used} if used else {},
    )


def reservation(line: str) -> SimpleNamespace:
    told = dict(part.split("=", 1) for part in line.split())
    flags = ReservationFlags(0)
    for name in told["Flags"].split(","):
        flags |= FLAGS[name]
    return blank(
        "reservation",
        name=told["ReservationName"],
        start_time=moment(told["StartTime"]),
        end_time=moment(told["EndTime"]),
        nodes=told["Nodes"],
        users=told["Users"].split(","),
        accounts=[],
        flags=flags,
    )


def fake_pyslurm() -> Any:
    lines = (CAPTURES / "slurm_22.05_reservations.txt").read_text().splitlines()
    jobs = {one["job_id"]: job(one) for one in records("jobs")}
    nodes = {one["name"]: node(one) for one in records("nodes")}
    reservations = {one.name: one for one in map(reservation, filter(None, lines))}
    return SimpleNamespace(
        __version__="25.11.2",
        Jobs=SimpleNamespace(load=lambda: jobs),
        Nodes=SimpleNamespace(load=lambda: nodes),
        Reservations=SimpleNamespace(load=lambda: reservations),
    )
