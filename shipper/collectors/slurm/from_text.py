"""
Slurm's parsable text, for versions without JSON: squeue's columns, scontrol's `Name=value` lines.

Commands are run with TZ=UTC, so that their times need no zone. squeue escapes nothing: columns are
cut by a control character that no name holds, and what people choose freely comes last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from leadline.errors import FormatError
from leadline.formats.gres import parse_memory
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

CUT = "\x1f"
COLUMNS = (
    "JobID", "ArrayJobID", "ArrayTaskID", "HetJobID", "HetJobOffset", "State", "SubmitTime",
    "EligibleTime", "StartTime", "EndTime", "TimeLimit", "UserName", "UserID", "GroupName",
    "Account", "Partition", "QOS", "NumCPUs", "NumNodes", "NodeList", "tres-alloc",
    "PriorityLong", "Reservation", "Reason", "WorkDir", "Name",
)  # fmt: skip
FORMAT = ",".join(f"{name}:{CUT}" for name in COLUMNS)
PAIR = re.compile(r"(?:^|\s)([A-Z][\w/:]*)=")
REASON = re.compile(r"\sReason=(.*?)(?:\s\[([^\s@\[\]]*)@([\dT:-]+)\])?(?:\sComment=.*)?$")
LIMIT = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)")


def read_jobs(raw: bytes) -> list[JobSeen]:
    jobs = []
    for line in raw.decode("utf-8", "backslashreplace").split("\n"):
        if not line:
            continue
        cells = line.split(CUT, len(COLUMNS) - 1)
        if len(cells) != len(COLUMNS):
            raise FormatError(f"squeue: {len(cells)} columns instead of {len(COLUMNS)}")
        jobs.append(_job(dict(zip(COLUMNS, cells, strict=True))))
    return jobs


def read_nodes(raw: bytes) -> list[NodeSeen]:
    return [_node(line) for line in _lines(raw, "NodeName=")]


def read_reservations(raw: bytes) -> list[ReservationSeen]:
    return [_reservation(_pairs(line)) for line in _lines(raw, "ReservationName=")]


def moment(text: str | None) -> int | None:
    """
    2026-11-21T05:54:19 in UTC; None for Unknown, N/A, None.
    """
    if not text or not text[0].isdigit():
        return None
    try:
        return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())
    except ValueError:
        raise FormatError(f"Slurm wrote a time that is none: {text[:40]!r}") from None


def seconds(text: str | None) -> int | None:
    """
    1-00:00:00, 10:00; None for UNLIMITED.
    """
    match = LIMIT.fullmatch((text or "").strip())
    if match is None:
        return None
    days, hours, minutes, rest = (int(part or 0) for part in match.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + rest


def _lines(raw: bytes, start: str) -> Iterator[str]:
    for line in raw.decode("utf-8", "backslashreplace").split("\n"):
        if line.startswith(start):
            yield line.strip()


def _pairs(line: str) -> dict[str, str]:
    """
    The first of each name wins: what people write (a comment, a reason) stands at the end.
    """
    found: dict[str, str] = {}
    marks = list(PAIR.finditer(line))
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        end = following.start() if following else len(line)
        found.setdefault(mark[1], line[mark.end() : end].strip())
    return found


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdigit() else None


def _job(cell: dict[str, str]) -> JobSeen:
    words = cell["State"].strip().split("+")
    task = text_or_none(cell["ArrayTaskID"])
    het = _number(text_or_none(cell["HetJobID"]))
    return JobSeen(
        id=int(cell["JobID"]),
        state=words[0],
        flags=tuple(sorted(words[1:])),
        reason=reason_of(cell["Reason"]),
        submit=moment(cell["SubmitTime"]),
        eligible=moment(cell["EligibleTime"]),
        start=moment(cell["StartTime"]),
        end=moment(cell["EndTime"]),
        limit=seconds(cell["TimeLimit"]),
        user=text_or_none(cell["UserName"]),
        uid=_number(cell["UserID"]),
        group=text_or_none(cell["GroupName"]),
        account=text_or_none(cell["Account"]),
        partition=text_or_none(cell["Partition"]),
        qos=text_or_none(cell["QOS"]),
        name=text_or_none(cell["Name"].removesuffix(CUT)),
        cpus=_number(cell["NumCPUs"]),
        node_count=_number(cell["NumNodes"]),
        nodes=text_or_none(cell["NodeList"]),
        gpus=plain_gres(text_or_none(cell["tres-alloc"])),
        priority=_number(cell["PriorityLong"]),
        reservation=text_or_none(cell["Reservation"]),
        array_id=_number(cell["ArrayJobID"]) if task else None,
        array_task=task,
        het_id=het,
        het_offset=_number(text_or_none(cell["HetJobOffset"])) if het else None,
        work_dir=text_or_none(cell["WorkDir"]),
    )


def _node(line: str) -> NodeSeen:
    pair = _pairs(line)
    state, flags = parse_state(pair.get("State", "UNKNOWN"))
    cores, sockets = _number(pair.get("CoresPerSocket")), _number(pair.get("Sockets"))
    why = REASON.search(line)
    return NodeSeen(
        name=pair["NodeName"],
        hostname=text_or_none(pair.get("NodeHostName")),
        state=state,
        flags=flags,
        reason=reason_of(why[1]) if why else None,
        reason_user=text_or_none(why[2]) if why else None,
        reason_time=moment(why[3]) if why else None,
        partitions=listed(pair.get("Partitions")),
        features=listed(pair.get("AvailableFeatures")),
        cpus=_number(pair.get("CPUTot")),
        cores=cores * sockets if cores and sockets else None,
        cpus_allocated=_number(pair.get("CPUAlloc")),
        memory=_memory(pair.get("RealMemory")),
        memory_allocated=_memory(pair.get("AllocMem")),
        gres=plain_gres(text_or_none(pair.get("Gres"))),
        gres_used=plain_gres(text_or_none(pair.get("GresUsed"))),
    )


def _memory(text: str | None) -> int | None:
    return parse_memory(text) if text and text[0].isdigit() else None


def _reservation(pair: dict[str, str]) -> ReservationSeen:
    return ReservationSeen(
        name=pair["ReservationName"],
        start=moment(pair.get("StartTime")),
        end=moment(pair.get("EndTime")),
        nodes=text_or_none(pair.get("Nodes")),
        users=listed(pair.get("Users")),
        accounts=listed(pair.get("Accounts")),
        partition=text_or_none(pair.get("PartitionName")),
        flags=listed(pair.get("Flags")),
    )
