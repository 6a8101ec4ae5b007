"""
What Slurm told as documents: jobs, their states, nodes, reservations.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from hashlib import blake2b

from leadline.errors import FormatError
from leadline.formats import Document
from leadline.formats.gres import Gres, by_model, total
from leadline.formats.hostlist import expand_hosts
from leadline.formats.nodestate import REMOVED
from leadline.formats.runs import ENDED
from leadline.formats.times import from_epoch
from shipper.collectors.slurm.records import JobSeen, NodeSeen, ReservationSeen, short

ENDED_VERSION = 10_000_000_000  # added: a record of the ended run stands above any other

Threads = Mapping[str, int]  # hardware threads per core, by node


def has_ended(job: JobSeen) -> bool:
    return job.state in ENDED and "COMPLETING" not in job.flags


def state_hash(name: str, flags: Iterable[str], reason: str | None, more: str = "") -> str:
    """
    State, flags and reason in short; the same state at the same time is the same document.
    """
    text = f"{name}|{','.join(flags)}|{reason or 'None'}" + (f"|{more}" if more else "")
    return blake2b(text.encode(), digest_size=6).hexdigest()


def threads_per_core(nodes: Iterable[NodeSeen]) -> dict[str, int]:
    return {
        short(node.name): max(1, node.cpus // node.cores)
        for node in nodes
        if node.cpus and node.cores
    }


def node_names(folded: str | None) -> list[str]:
    try:
        return sorted({short(name) for name in expand_hosts(folded)})
    except FormatError:
        return []


def cores_of(cpus: int, nodes: Iterable[str], threads: Threads) -> int:
    """
    CPUs as Slurm counts them, hardware threads divided out.
    """
    most = max((threads.get(name, 1) for name in nodes), default=1)
    return math.ceil(cpus / most)


def job_class(cores: int | None, nodes: int | None) -> str | None:
    if nodes is not None and nodes > 1:
        return "multi-node"
    return None if cores is None else "serial" if cores == 1 else "one-node"


def without_absent(document: Document) -> Document:
    return {name: value for name, value in document.items() if value not in (None, "", [], {})}


def _time(moment: int | None) -> str | None:
    return None if moment is None else from_epoch(moment)


def _run(job: JobSeen, threads: Threads) -> Document:
    """
    What a state and the whole job have in common.
    """
    nodes = node_names(job.nodes)
    held = bool(nodes) or not has_ended(job)  # a job that ended before it started held nothing
    cores = cores_of(job.cpus, nodes, threads) if job.cpus is not None and held else None
    return {
        "job.local_id": str(job.id),
        "job.name": job.name,
        "project": job.account,
        "partition": job.partition,
        "qos": job.qos,
        "user.name": job.user or (f"_user_{job.uid}" if job.uid is not None else None),
        "user.id": None if job.uid is None else str(job.uid),
        "user.group": job.group,
        "job.cores": cores,
        "job.gpus": total(job.gpus) if held else None,
        "gpu.models": models(job.gpus) if held else [],
        "job.node.count": job.node_count if held else None,
        "job.class": job_class(cores, job.node_count) if held else None,
        "job.nodes": nodes,
        "job.priority": job.priority,
        "job.reservation": job.reservation,
        "job.submit": _time(job.submit),
        "job.eligible": _time(job.eligible),
        "job.limit.seconds": job.limit,
    }


def models(entries: tuple[Gres, ...]) -> list[str]:
    return [name for name in by_model(entries) if name != "unknown"]


def job_state(job: JobSeen, moment: int, before: int | None, threads: Threads) -> Document:
    return without_absent(
        {
            "dataset": "job_state",
            "@timestamp": from_epoch(moment),
            "state.name": job.state,
            "state.flags": list(job.flags),
            "state.reason": job.reason,
            "state.hash": state_hash(job.state, job.flags, job.reason),
            "state.seconds": None if before is None else moment - before,
            "job.state": job.state,
            "job.start": _time(job.start),
            "job.end": _time(job.end),
            **_run(job, threads),
        }
    )


def job_document(job: JobSeen, threads: Threads) -> Document:
    """
    The run as squeue knows it: provisional until it has ended. Its version is lower than that of
    any record of the ended run.
    """
    ended = has_ended(job)
    started = job.start is not None and job.state != "PENDING" and bool(node_names(job.nodes))
    start = job.start if started else None
    end = job.end if ended else None
    document: Document = {
        "dataset": "job",
        "@timestamp": _time(job.submit),
        "job.source": "squeue",
        "job.scheduler": "slurm",
        "job.state": job.state,
        "job.reason": job.reason,
        "job.start": _time(start),
        "job.end": _time(end),
        "job.cpus": job.cpus if start is not None else None,
        "job.array.id": None if job.array_id is None else str(job.array_id),
        "job.array.task": job.array_task,
        "job.het.id": None if job.het_id is None else str(job.het_id),
        "job.het.offset": job.het_offset,
        "job.work_dir": job.work_dir,
        "record.version": job.submit if end is None else end + ENDED_VERSION,
        **_run(job, threads),
    }
    if start is not None and job.submit is not None:
        document["job.wait.seconds"] = max(0, start - job.submit)
    return {**without_absent(document), "provisional": not ended}


def node_state(node: NodeSeen, reservations: list[str], moment: int, threads: Threads) -> Document:
    host = short(node.name)
    own_name = short(node.hostname or host)
    used = by_model(node.gres_used)
    return without_absent(
        {
            "dataset": "node_state",
            "@timestamp": from_epoch(moment),
            "host.name": host,
            "host.hostname": own_name if own_name != host else None,
            "state.name": node.state,
            "state.flags": list(node.flags),
            "state.reason": node.reason,
            "state.reason_user": node.reason_user,
            "state.reason_time": _time(node.reason_time),
            "state.hash": node_hash(node, reservations),
            "partitions": list(node.partitions),
            "features": list(node.features),
            "reservations": reservations,
            "node.cores": node.cores,
            "node.threads": node.cpus,
            "node.threads_allocated": node.cpus_allocated,
            "memory.total.bytes": node.memory,
            "memory.allocated.bytes": node.memory_allocated,
            "gpu.gres": ",".join(map(str, node.gres)),
            "gpu.gres_used": ",".join(map(str, node.gres_used)),
            "gpu.total": total(node.gres),
            "gpu.allocated": total(node.gres_used),
            "gpu.models": models(node.gres),
            "gpu.by_model": {
                name: {"total": count, "allocated": used.get(name, 0)}
                for name, count in by_model(node.gres).items()
            },
        }
    )


def node_hash(node: NodeSeen, reservations: list[str]) -> str:
    """
    What the node has, its cards allocated and reservations are part of it: a change of them is a
    change of the node.
    """
    parts = (node.gres, node.gres_used, reservations, node.partitions, node.features)
    has = (node.cores, node.cpus, node.memory)
    more = "/".join(",".join(map(str, part)) for part in (*parts, has))
    return state_hash(node.state, node.flags, node.reason, more)


def node_removed(host: str, moment: int, before: int) -> Document:
    """
    Slurm no longer has the node: its time is unknown from here on.
    """
    return {
        "dataset": "node_state",
        "@timestamp": from_epoch(moment),
        "host.name": host,
        "state.name": REMOVED,
        "state.hash": state_hash(REMOVED, (), None),
        "state.seconds": moment - before,
    }


def reservation_event(seen: ReservationSeen, moment: int) -> Document:
    """
    A reservation as it was made or changed: its nodes, times and whom it is for.
    """
    parts = [f"users {', '.join(seen.users)}"] if seen.users else []
    parts += [f"accounts {', '.join(seen.accounts)}"] if seen.accounts else []
    parts += [f"partition {seen.partition}"] if seen.partition else []
    parts += [f"flags {', '.join(seen.flags)}"] if seen.flags else []
    reason = "; ".join([seen.nodes or "no nodes", *parts])[:2000]
    return without_absent(
        {
            "dataset": "event",
            "@timestamp": from_epoch(moment),
            "rule.name": "slurm.reservation",
            "event.object": seen.name,
            "event.kind": "change",
            "event.severity": "info",
            "event.reason": reason,
            "event.start": _time(seen.start),
            "event.end": _time(seen.end),
            "event.names": node_names(seen.nodes),
            "message": f"reservation {seen.name}: {reason}"[:2000],
        }
    )
