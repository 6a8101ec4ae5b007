"""
What sacct answers as job documents: one allocation's row, completed by the rows of its steps.

Asked by job id, with times in UTC. sacct escapes nothing, so columns are cut by a control character
and what people choose freely comes last.
"""

from __future__ import annotations

from collections.abc import Iterator

from leadline.errors import FormatError
from leadline.formats import Document
from leadline.formats.runs import ENDED
from leadline.formats.sacct import (
    COLUMNS,
    Row,
    asked_memory,
    duration,
    exit_of,
    gpus,
    memory_peak,
    moved,
    place,
    state,
    texts,
)
from leadline.formats.times import from_epoch
from shipper.collectors.slurm.documents import (
    ENDED_VERSION,
    Threads,
    cores_of,
    job_class,
    node_names,
    without_absent,
)
from shipper.collectors.slurm.from_text import CUT, moment
from shipper.collectors.slurm.records import text_or_none

__all__ = ["COLUMNS", "Row", "document", "read"]


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


def start_of(row: Row) -> int | None:
    """
    None where no node was ever given: some versions write the time of the cancel as the start.
    """
    return moment(row["Start"]) if text_or_none(row["NodeList"]) else None


def document(row: Row, steps: list[Row], threads: Threads) -> Document:
    """
    The ended run as accounted. A run that never started used and held nothing.
    """
    name, cancelled_by = state(row["State"])
    submit, start, end = moment(row["Submit"]), start_of(row), moment(row["End"])
    nodes = node_names(row["NodeList"])
    wall = int(row["ElapsedRaw"] or 0)
    cpus = int(row["AllocCPUS"] or 0) if start is not None else 0
    cores = cores_of(cpus, nodes, threads) if cpus else None
    cards, cards_models = gpus(row["AllocTRES"]) if start is not None else (None, [])
    asked = int(row["ReqCPUS"] or 0)
    peak, basis = memory_peak(steps)
    count = int(row["NNodes"] or 0) if start is not None else None
    made: Document = {
        "dataset": "job",
        "@timestamp": None if submit is None else from_epoch(submit),
        "record.version": submit if end is None else end + ENDED_VERSION,
        "job.source": "sacct",
        "job.scheduler": "slurm",
        "job.local_id": row["JobIDRaw"],
        "job.state": name,
        "job.cancelled_by": cancelled_by,
        "job.cores": cores,
        "job.cpus": cpus or None,
        "job.gpus": (cards or 0) if start is not None else None,
        "gpu.models": cards_models,
        "job.node.count": count,
        "job.class": job_class(cores, count),
        "job.nodes": nodes,
        "job.priority": int(row["Priority"]) if row["Priority"].isdigit() else None,
        "job.asked.cores": cores_of(asked, nodes, threads) if asked else None,
        "job.asked.gpus": gpus(row["ReqTRES"])[0] or 0,
        "job.asked.memory.bytes": asked_memory(row),
        "job.memory.peak.bytes": peak,
        "job.memory.basis": basis,
        **_times(row, wall),
        **_used(row, cores or 0, cards or 0, wall),
        **texts({**row, "JobName": row["JobName"].removesuffix(CUT)}),
        **place(row),
        **exit_of(row),
        **moved(steps),
    }
    return {**without_absent(made), "provisional": name not in ENDED}


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
        made["job.suspended.seconds"] = duration(row["Suspended"]) or None
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
    used = duration(row["TotalCPU"])
    if used:
        made["job.core_seconds.used"] = used
        made["job.core_seconds.user"] = duration(row["UserCPU"])
        made["job.core_seconds.system"] = duration(row["SystemCPU"])
    energy = row["ConsumedEnergyRaw"]
    if energy.isdigit() and int(energy) > 0:
        made["job.energy.joules"] = int(energy)
    return made
