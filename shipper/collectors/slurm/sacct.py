"""
sacct's columns as job documents: one allocation's row, completed by the rows of its steps.

Asked by job id, with times in UTC. sacct escapes nothing, so columns are cut by a control character
and what people choose freely comes last.
"""

from __future__ import annotations

from collections.abc import Iterator

from leadline.errors import FormatError
from leadline.formats import Document
from leadline.formats.gres import parse_gres, parse_memory, total
from leadline.formats.redact import redact
from leadline.formats.runs import ENDED
from leadline.formats.times import from_epoch
from shipper.collectors.slurm.documents import (
    ENDED_VERSION,
    Threads,
    cores_of,
    job_class,
    models,
    node_names,
    without_absent,
)
from shipper.collectors.slurm.from_text import CUT, moment
from shipper.collectors.slurm.records import plain_gres, reason_of, text_or_none

COLUMNS = (
    "JobIDRaw", "JobID", "User", "UID", "Group", "Account", "Partition", "QOS", "State",
    "ExitCode", "Submit", "Eligible", "Start", "End", "ElapsedRaw", "Suspended", "TimelimitRaw",
    "UserCPU", "SystemCPU", "TotalCPU", "AllocCPUS", "ReqCPUS", "NNodes", "NTasks", "NodeList",
    "ReqMem", "MaxRSS", "TRESUsageInTot", "TRESUsageOutTot", "AllocTRES", "ReqTRES",
    "ConsumedEnergyRaw", "Priority", "Reservation", "Reason", "WorkDir", "SubmitLine", "JobName",
)  # fmt: skip
MOST_MEMORY = 1 << 50
Row = dict[str, str]


def read(raw: bytes) -> Iterator[tuple[Row, list[Row]]]:
    """
    Each run with its steps. The tries of a requeued job are runs of their own.
    """
    run: Row | None = None
    steps: list[Row] = []
    for line in raw.decode("utf-8", "backslashreplace").split("\n"):
        if not line:
            continue
        cells = line.split(CUT, len(COLUMNS) - 1)
        if len(cells) != len(COLUMNS):
            raise FormatError(f"sacct: {len(cells)} columns instead of {len(COLUMNS)}")
        row = dict(zip(COLUMNS, cells, strict=True))
        if "." in row["JobIDRaw"]:
            steps.append(row)
            continue
        if run is not None:
            yield run, steps
        run, steps = row, []
    if run is not None:
        yield run, steps


def state_of(row: Row) -> tuple[str, str | None]:
    """
    CANCELLED and 1001 of `CANCELLED by 1001`.
    """
    name, _, who = row["State"].partition(" by ")
    return name.strip(), who.strip() or None


def seconds(text: str) -> float | None:
    """
    1-02:03:04, 45:21.005, 00:00:00.
    """
    days, dash, rest = text.strip().rpartition("-")
    try:
        value = 0.0
        for part in rest.split(":"):
            value = value * 60 + float(part)
        return value + (int(days) * 86400 if dash else 0)
    except ValueError:
        return None


def tres_value(text: str, name: str) -> str | None:
    for part in text.split(","):
        key, _, value = part.partition("=")
        if key == name:
            return value or None
    return None


def memory_peak(steps: list[Row]) -> tuple[int | None, str | None]:
    """
    The total over the tasks of the largest step. MaxRSS is the largest task only: it stands in
    where there is one task.
    """
    found: list[tuple[int, str]] = []
    for step in steps:
        value = tres_value(step["TRESUsageInTot"], "mem")
        basis = "step"
        if value is None and step["NTasks"] == "1":
            value, basis = text_or_none(step["MaxRSS"]), "task"
        if (amount := measured(value)) is not None:
            found.append((amount, basis))
    return max(found, default=(None, None))


def measured(text: str | None) -> int | None:
    """
    Bytes; None for what was not measured: a step killed at once has 0, or `16?` for 2^64 - 1.
    """
    try:
        amount = parse_memory(text, "") if text else 0
    except FormatError:
        return None
    return amount if 0 < amount < MOST_MEMORY else None


def asked_memory(row: Row) -> int | None:
    """
    200M for the whole run; older versions write 4Gc and 4Gn: per core, per node.
    """
    text = text_or_none(row["ReqMem"])
    if text is None or not text[0].isdigit():
        return None
    per = text[-1] if text[-1] in "cn" else ""
    times = {"c": row["ReqCPUS"], "n": row["NNodes"]}.get(per, "1")
    return parse_memory(text.removesuffix(per)) * int(times or 1) or None


def summed(steps: list[Row], column: str, name: str) -> int | None:
    values = [int(v) for step in steps if (v := tres_value(step[column], name)) and v.isdigit()]
    return sum(values) if values else None


def start_of(row: Row) -> int | None:
    """
    None where no node was ever given: some versions write the time of the cancel as the start.
    """
    return moment(row["Start"]) if text_or_none(row["NodeList"]) else None


def document(row: Row, steps: list[Row], threads: Threads) -> Document:
    """
    The ended run as accounted. A run that never started used and held nothing.
    """
    state, cancelled_by = state_of(row)
    submit, start, end = moment(row["Submit"]), start_of(row), moment(row["End"])
    nodes = node_names(row["NodeList"])
    wall = int(row["ElapsedRaw"] or 0)
    cpus = int(row["AllocCPUS"] or 0) if start is not None else 0
    cores = cores_of(cpus, nodes, threads) if cpus else None
    gpus = plain_gres(row["AllocTRES"]) if start is not None else ()
    asked = int(row["ReqCPUS"] or 0)
    peak, basis = memory_peak(steps)
    code, _, signal = row["ExitCode"].partition(":")
    count = int(row["NNodes"] or 0) if start is not None else None
    made: Document = {
        "dataset": "job",
        "@timestamp": None if submit is None else from_epoch(submit),
        "record.version": submit if end is None else end + ENDED_VERSION,
        "job.source": "sacct",
        "job.scheduler": "slurm",
        "job.local_id": row["JobIDRaw"],
        "job.name": text_or_none(row["JobName"].removesuffix(CUT)),
        "project": text_or_none(row["Account"]),
        "partition": text_or_none(row["Partition"]),
        "qos": text_or_none(row["QOS"]),
        "user.name": text_or_none(row["User"]),
        "user.id": text_or_none(row["UID"]),
        "user.group": text_or_none(row["Group"]),
        "job.state": state,
        "job.cancelled_by": cancelled_by,
        "job.reason": reason_of(row["Reason"]),
        "job.cores": cores,
        "job.cpus": cpus or None,
        "job.gpus": total(gpus) if start is not None else None,
        "gpu.models": models(gpus),
        "job.node.count": count,
        "job.class": job_class(cores, count),
        "job.nodes": nodes,
        "job.priority": int(row["Priority"]) if row["Priority"].isdigit() else None,
        "job.reservation": text_or_none(row["Reservation"]),
        "job.work_dir": text_or_none(row["WorkDir"]),
        "job.command_line": redact(row["SubmitLine"])[:8191],
        "job.asked.cores": cores_of(asked, nodes, threads) if asked else None,
        "job.asked.gpus": total(parse_gres(row["ReqTRES"])),
        "job.asked.memory.bytes": asked_memory(row),
        "job.memory.peak.bytes": peak,
        "job.memory.basis": basis,
        "job.io.read.bytes": summed(steps, "TRESUsageInTot", "fs/disk"),
        "job.io.write.bytes": summed(steps, "TRESUsageOutTot", "fs/disk"),
        **_times(row, wall),
        **_used(row, cores or 0, total(gpus), wall),
        **_place(row),
    }
    if signal.isdigit() and code.isdigit():
        made |= {"job.exit_code": int(code), "job.exit_signal": int(signal) or None}
    return {**without_absent(made), "provisional": state not in ENDED}


def _times(row: Row, wall: int) -> Document:
    submit, eligible = moment(row["Submit"]), moment(row["Eligible"])
    start, end = start_of(row), moment(row["End"])
    limit = row["TimelimitRaw"]
    made: Document = {
        name: from_epoch(value)
        for name, value in (("submit", submit), ("eligible", eligible), ("start", start))
        if value is not None
    }
    made = {f"job.{name}": value for name, value in made.items()}
    if end is not None:
        made["job.end"] = from_epoch(end)
    if limit.isdigit():
        made["job.limit.seconds"] = int(limit) * 60
    if start is not None:
        made["job.wall.seconds"] = wall
        made["job.suspended.seconds"] = seconds(row["Suspended"]) or None
        if submit is not None:
            made["job.wait.seconds"] = max(0, start - submit)
        if eligible is not None:
            made["job.wait_eligible.seconds"] = max(0, start - eligible)
    return made


def _used(row: Row, cores: int, gpus: int, wall: int) -> Document:
    """
    Absent where Slurm accounted no CPU time at all (no step ended by itself) and the run ran.
    """
    if not cores:
        return {}
    made: Document = {"job.core_seconds.allocated": cores * wall}
    if gpus:
        made["job.gpu_seconds.allocated"] = gpus * wall
    used = seconds(row["TotalCPU"])
    if used:
        made["job.core_seconds.used"] = used
        made["job.core_seconds.user"] = seconds(row["UserCPU"])
        made["job.core_seconds.system"] = seconds(row["SystemCPU"])
    energy = row["ConsumedEnergyRaw"]
    if energy.isdigit() and int(energy) > 0:
        made["job.energy.joules"] = int(energy)
    return made


def _place(row: Row) -> Document:
    """
    `4_3` is task 3 of array 4, `19+1` part 1 of the heterogeneous job 19.
    """
    array, underscore, task = row["JobID"].partition("_")
    if underscore:
        return {"job.array.id": array, "job.array.task": task}
    het, plus, offset = row["JobID"].partition("+")
    if plus and offset.isdigit():
        return {"job.het.id": het, "job.het.offset": int(offset)}
    return {}
