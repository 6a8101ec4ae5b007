"""
Slurm's JSON, old (22.05: plain numbers and words) and new (numbers as objects, states as lists).
"""

from __future__ import annotations

from typing import Any

import orjson

from leadline.errors import FormatError
from leadline.formats.nodestate import parse_state
from shipper.collectors.slurm.records import (
    JobSeen,
    NodeSeen,
    ReservationSeen,
    listed,
    plain_gres,
    reason_of,
    text_or_none,
)

NO_VALUE = frozenset({4294967294, 4294967295, 65534, 65535, 18446744073709551614})
MIB = 1024 * 1024


def read_jobs(raw: bytes) -> list[JobSeen]:
    return [_job(record) for record in _records(raw, "jobs")]


def read_nodes(raw: bytes) -> list[NodeSeen]:
    return [_node(record) for record in _records(raw, "nodes")]


def read_reservations(raw: bytes) -> list[ReservationSeen]:
    return [_reservation(record) for record in _records(raw, "reservations")]


def _records(raw: bytes, name: str) -> list[dict[str, Any]]:
    try:
        answer = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise FormatError(f"Slurm's answer is not JSON: {str(error)[:100]}") from None
    records = answer.get(name) if isinstance(answer, dict) else None
    if not isinstance(records, list) or not all(isinstance(r, dict) for r in records):
        raise FormatError(f"Slurm's JSON has no list of {name}")
    return records


def number(value: object) -> int | None:
    """
    5, {"set": true, "infinite": false, "number": 5}; None for what is not set or has no bound.
    """
    if isinstance(value, dict):
        if not value.get("set", True) or value.get("infinite"):
            return None
        value = value.get("number")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return None if value in NO_VALUE else int(value)


def _moment(value: object) -> int | None:
    return number(value) or None


def _words(value: object) -> list[str]:
    if isinstance(value, str):
        return value.split("+") if value else []
    return [str(word) for word in value] if isinstance(value, list) else []


def _job(record: dict[str, Any]) -> JobSeen:
    words = _words(record.get("job_state")) or ["UNKNOWN"]
    limit = number(record.get("time_limit"))
    task = number(record.get("array_task_id"))
    array, het = number(record.get("array_job_id")), number(record.get("het_job_id"))
    pending = text_or_none(record.get("array_task_string"))
    tres = text_or_none(record.get("tres_alloc_str")) or text_or_none(record.get("tres_req_str"))
    return JobSeen(
        id=int(record["job_id"]),
        state=words[0],
        flags=tuple(sorted(words[1:])),
        reason=reason_of(record.get("state_description")) or reason_of(record.get("state_reason")),
        submit=_moment(record.get("submit_time")),
        eligible=_moment(record.get("eligible_time")),
        start=_moment(record.get("start_time")),
        end=_moment(record.get("end_time")),
        limit=None if limit is None else limit * 60,
        user=text_or_none(record.get("user_name")),
        uid=number(record.get("user_id")),
        group=text_or_none(record.get("group_name")),
        account=text_or_none(record.get("account")),
        partition=text_or_none(record.get("partition")),
        qos=text_or_none(record.get("qos")),
        name=text_or_none(record.get("name")),
        cpus=number(record.get("cpus")),
        node_count=number(record.get("node_count")),
        nodes=text_or_none(record.get("nodes")),
        gpus=plain_gres(tres),
        priority=number(record.get("priority")),
        reservation=text_or_none(record.get("resv_name")),
        array_id=array or None,
        array_task=(str(task) if task is not None else pending) if array else None,
        het_id=het or None,
        het_offset=number(record.get("het_job_offset")) if het else None,
        work_dir=text_or_none(record.get("current_working_directory")),
    )


def _node(record: dict[str, Any]) -> NodeSeen:
    words = _words(record.get("state")) + _words(record.get("state_flags"))
    state, flags = parse_state("+".join(words))
    cores, sockets = number(record.get("cores")), number(record.get("sockets"))
    gres = plain_gres(record.get("gres"))
    reason = reason_of(record.get("reason"))
    return NodeSeen(
        name=str(record["name"]),
        hostname=text_or_none(record.get("hostname")),
        state=state,
        flags=flags,
        reason=reason,
        reason_user=text_or_none(record.get("reason_set_by_user")) if reason else None,
        reason_time=_moment(record.get("reason_changed_at")) if reason else None,
        partitions=listed(record.get("partitions")),
        features=listed(record.get("features")),
        cpus=number(record.get("cpus")),
        cores=cores * sockets if cores and sockets else None,
        cpus_allocated=number(record.get("alloc_cpus")),
        memory=_mib(record.get("real_memory")),
        memory_allocated=_mib(record.get("alloc_memory")),
        gres=gres,
        gres_used=plain_gres(record.get("gres_used")),
    )


def _mib(value: object) -> int | None:
    found = number(value)
    return None if found is None else found * MIB


def _reservation(record: dict[str, Any]) -> ReservationSeen:
    return ReservationSeen(
        name=str(record["name"]),
        start=_moment(record.get("start_time")),
        end=_moment(record.get("end_time")),
        nodes=text_or_none(record.get("node_list")),
        users=listed(record.get("users")),
        accounts=listed(record.get("accounts")),
        partition=text_or_none(record.get("partition")),
        flags=listed(record.get("flags")),
    )
