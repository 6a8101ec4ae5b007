"""
What `pyslurm_dump` printed, as records. Attribute names are those of pyslurm 25.11.
"""

from __future__ import annotations

from typing import Any

import orjson

from leadline.errors import FormatError
from leadline.formats.gres import Gres
from leadline.formats.nodestate import parse_state
from shipper.collectors.slurm.from_json import MIB, number
from shipper.collectors.slurm.records import (
    JobSeen,
    Look,
    NodeSeen,
    ReservationSeen,
    listed,
    plain_gres,
    reason_of,
    text_or_none,
)

# pyslurm's names of reservations' flags, where they are not Slurm's own.
FLAGS = {
    "IGNORE_RUNNING_JOBS": "IGNORE_JOBS",
    "MAINTENANCE": "MAINT",
    "SPECIFIC_NODES": "SPEC_NODES",
}


class RefusedError(FormatError):
    """
    pyslurm is not there, or is not for the Slurm that runs: no use to try again.
    """


def read(raw: bytes) -> Look:
    try:
        told = orjson.loads(raw)
        if "refused" in told:
            raise RefusedError(str(told["refused"]))
        return Look(
            [_job(record) for record in told["jobs"]],
            [_node(record) for record in told["nodes"]],
            [_reservation(record) for record in told["reservations"]],
        )
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise FormatError(f"pyslurm's answer is not understood: {error!r}"[:200]) from None


def _moment(value: object) -> int | None:
    return number(value) or None


def _gres(value: object) -> tuple[Gres, ...]:
    if not isinstance(value, dict):
        return ()
    return plain_gres(",".join(f"{name}:{count}" for name, count in value.items()))


def _job(told: dict[str, Any]) -> JobSeen:
    words = str(told.get("state") or "UNKNOWN").split("+")
    limit, array, het = (
        number(told.get(name)) for name in ("time_limit", "array_id", "heterogeneous_id")
    )
    return JobSeen(
        id=int(told["id"]),
        state=words[0],
        flags=tuple(sorted(words[1:])),
        reason=reason_of(told.get("state_reason")),
        submit=_moment(told.get("submit_time")),
        eligible=_moment(told.get("eligible_time")),
        start=_moment(told.get("start_time")),
        end=_moment(told.get("end_time")),
        limit=None if limit is None else limit * 60,
        user=text_or_none(told.get("user_name")),
        uid=number(told.get("user_id")),
        group=text_or_none(told.get("group_name")),
        account=text_or_none(told.get("account")),
        partition=text_or_none(told.get("partition")),
        qos=text_or_none(told.get("qos")),
        name=text_or_none(told.get("name")),
        cpus=number(told.get("cpus")),
        node_count=number(told.get("num_nodes")),
        nodes=text_or_none(told.get("allocated_nodes")),
        gpus=_gres(told.get("gpus")),
        priority=number(told.get("priority")),
        reservation=text_or_none(told.get("reservation")),
        array_id=array or None,
        array_task=_tasks(told) if array else None,
        het_id=het or None,
        het_offset=number(told.get("heterogeneous_offset")) if het else None,
        work_dir=text_or_none(told.get("working_directory")),
    )


def _tasks(told: dict[str, Any]) -> str | None:
    """
    The task's number; of those that wait together their range, and how many may run at a time.
    """
    waiting = text_or_none(told.get("array_tasks_waiting"))
    most = number(told.get("array_tasks_parallel"))
    together = f"{waiting}%{most}" if waiting and most else waiting
    return text_or_none(told.get("array_task_id")) or together


def _flags(value: object) -> list[str]:
    """
    pyslurm's flags by their names, `A|B`.
    """
    return (text_or_none(value) or "").replace("|", ",").split(",")


def _node(told: dict[str, Any]) -> NodeSeen:
    state, flags = parse_state(str(told.get("state") or "UNKNOWN"))
    cores, sockets = number(told.get("cores_per_socket")), number(told.get("sockets"))
    reason = reason_of(told.get("reason"))
    memory, used = number(told.get("real_memory")), number(told.get("allocated_memory"))
    return NodeSeen(
        name=str(told["name"]),
        hostname=text_or_none(told.get("hostname")),
        state=state,
        flags=flags,
        reason=reason,
        reason_user=text_or_none(told.get("reason_user")) if reason else None,
        reason_time=_moment(told.get("reason_time")) if reason else None,
        partitions=listed(told.get("partitions")),
        features=listed(told.get("available_features")),
        cpus=number(told.get("total_cpus")),
        cores=cores * sockets if cores and sockets else None,
        cpus_allocated=number(told.get("allocated_cpus")),
        memory=None if memory is None else memory * MIB,
        memory_allocated=None if used is None else used * MIB,
        gres=_gres(told.get("configured_gres")),
        gres_used=_gres(told.get("allocated_gres")),
    )


def _reservation(told: dict[str, Any]) -> ReservationSeen:
    return ReservationSeen(
        name=str(told["name"]),
        start=_moment(told.get("start_time")),
        end=_moment(told.get("end_time")),
        nodes=text_or_none(told.get("nodes")),
        users=listed(told.get("users")),
        accounts=listed(told.get("accounts")),
        partition=text_or_none(told.get("partition")),
        flags=listed([FLAGS.get(word, word) for word in _flags(told.get("flags"))]),
    )
