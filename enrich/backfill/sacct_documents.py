"""
A job's row and its steps' as one run, and the run's days.
"""

from __future__ import annotations

import time

from enrich.backfill.options import Options
from leadline.errors import FormatError
from leadline.formats import SCHEMA_VERSION, Document
from leadline.formats.hostlist import expand_hosts
from leadline.formats.runs import job_id, job_run
from leadline.formats.sacct import (
    Row,
    asked_memory,
    duration,
    exit_of,
    gpus,
    instant,
    largest_tasks,
    memory_peak,
    moved,
    place,
    state,
    texts,
    tres,
    whole,
)
from leadline.formats.times import from_epoch

ENDED = 10_000_000_000  # added to the version: an ended run stands above any unended one


def identity(row: Row) -> str:
    return row.get("JobIDRaw") or row.get("JobID", "")


def base(row: Row) -> str:
    return identity(row).partition(".")[0]


def seconds_of(row: Row, name: str, options: Options) -> int | None:
    return instant(row.get(name, ""), options.zone)


def document_of(main: Row, steps: list[Row], options: Options, stamp: int) -> Document:
    submit, start = seconds_of(main, "Submit", options), seconds_of(main, "Start", options)
    end, eligible = seconds_of(main, "End", options), seconds_of(main, "Eligible", options)
    if submit is None:
        raise FormatError("no submit time")
    if not main.get("State"):
        raise FormatError("no state")
    word, who = state(main["State"])
    pending = word == "PENDING"
    start = None if pending or (start and end and start > end) else start
    if end is not None and end < submit:
        raise FormatError("end before submission")
    name = job_id(options.cluster, base(main))
    local = from_epoch(submit)
    document: Document = {
        "dataset": "job",
        "@timestamp": local,
        "cluster": options.cluster,
        "schema.version": SCHEMA_VERSION,
        "event.ingested": from_epoch(time.time()),
        "record.version": stamp + (ENDED if end is not None else 0),
        "job.id": name,
        "job.local_id": base(main),
        "job.run": job_run(name, local),
        "job.state": word,
        "job.cancelled_by": who,
        "job.source": "sacct",
        "job.scheduler": "slurm",
        "provisional": True if end is None else None,
        "job.submit": local,
        "job.eligible": from_epoch(eligible) if eligible else None,
        "job.start": from_epoch(start) if start else None,
        "job.end": from_epoch(end) if end else None,
        **texts(main),
        **place(main),
        **exit_of(main),
        **_asked(main),
    }
    if start is not None:
        document |= _used(main, steps, submit, start, end, eligible)
    return {name: value for name, value in document.items() if value is not None}


def _asked(main: Row) -> Document:
    asked = tres(main.get("ReqTRES", ""))
    limit = main.get("TimelimitRaw", "")
    seconds = float(limit) * 60 if limit.isdigit() else duration(main.get("Timelimit", ""))
    return {
        "job.limit.seconds": seconds,
        "job.asked.cores": whole(asked.get("cpu") or main.get("ReqCPUS", "")),
        "job.asked.nodes": whole(asked.get("node", "")),
        "job.asked.gpus": gpus(main.get("ReqTRES", ""))[0],
        "job.asked.memory.bytes": asked_memory(main),
        "job.priority": whole(main.get("Priority", "")),
    }


def _used(
    main: Row, steps: list[Row], submit: int, start: int, end: int | None, eligible: int | None
) -> Document:
    suspended = duration(main.get("Suspended", "")) or 0.0
    elapsed = whole(main.get("ElapsedRaw", ""))
    wall = float(elapsed) if elapsed is not None else (end - start - suspended if end else None)
    if wall is not None and wall < 0:
        raise FormatError("end before start")
    allocated = tres(main.get("AllocTRES", ""))
    cores = whole(main.get("AllocCPUS", "") or allocated.get("cpu", ""))
    nodes = whole(main.get("NNodes", "") or main.get("AllocNodes", ""))
    cards, models = gpus(main.get("AllocTRES", ""))
    peak, basis = memory_peak(steps)
    found: Document = {
        "job.cpus": cores,
        "job.cores": cores,
        "job.node.count": nodes,
        "job.gpus": cards,
        "gpu.models": models or None,
        "job.class": _class(cores, nodes),
        "job.wait.seconds": float(start - submit) if start >= submit else None,
        "job.wall.seconds": wall,
        "job.suspended.seconds": suspended or None,
        "job.memory.peak.bytes": peak,
        "job.memory.basis": basis,
        "job.core_seconds.used": duration(main.get("TotalCPU", "")),
        "job.core_seconds.user": duration(main.get("UserCPU", "")),
        "job.core_seconds.system": duration(main.get("SystemCPU", "")),
    }
    if eligible is not None and start >= eligible:
        found["job.wait_eligible.seconds"] = float(start - eligible)
    if wall is not None and cores is not None:
        found["job.core_seconds.allocated"] = wall * cores
    if wall is not None and cards:
        found["job.gpu_seconds.allocated"] = wall * cards
    energy = whole(main.get("ConsumedEnergyRaw", ""))
    return (
        found
        | moved(steps)
        | {
            "job.energy.joules": energy or None,
            "labels": largest_tasks(steps) or None,
            "job.nodes": _nodes(main.get("NodeList", "")),
        }
    )


def _nodes(folded: str) -> list[str] | None:
    try:
        return sorted({name.partition(".")[0] for name in expand_hosts(folded)}) or None
    except FormatError:
        return None


def _class(cores: int | None, nodes: int | None) -> str | None:
    if nodes is not None and nodes > 1:
        return "multi-node"
    if cores == 1:
        return "serial"
    return "one-node" if nodes == 1 else None
