"""
What the scheduler of a simulated cluster would have told: changes of jobs' states, and runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

import orjson

from leadline.formats import SCHEMA_VERSION, Document
from leadline.formats.times import from_epoch
from leadline.simulate.activity import Job
from leadline.simulate.fleet import GIB

NOT_YET = (
    "job.end",
    "job.exit_code",
    "job.wall.seconds",
    "job.core_seconds.used",
    "job.core_seconds.allocated",
    "job.gpu_seconds.allocated",
    "job.memory.peak.bytes",
    "job.memory.basis",
)
GRACE = 0.5  # seconds between what happens and its record


def job_documents(jobs: list[Job], cluster: str, start: float, end: float) -> Iterator[bytes]:
    """
    job_state documents as jobs go through their states, and a job document for each that ended.
    """
    for job in jobs:
        if job.hosts and job.end <= start:
            continue
        for moment, document in _changes(job):
            if moment <= end:
                yield orjson.dumps(_common(job, cluster, moment) | document) + b"\n"
        if job.hosts and job.end <= end:
            yield orjson.dumps(_run(job, cluster)) + b"\n"
        elif job.hosts and job.start <= end:
            yield orjson.dumps(_still(job, cluster)) + b"\n"


def _common(job: Job, cluster: str, moment: float) -> Document:
    known: Document = {
        "@timestamp": from_epoch(moment),
        "dataset": "job_state",
        "cluster": cluster,
        "agent.version": "simulated",
        "schema.version": SCHEMA_VERSION,
        "user.name": job.user.name,
        "user.id": str(job.user.uid),
        "user.group": job.user.group,
        "job.local_id": str(job.number),
        "job.name": job.recipe.name,
        "project": job.user.project,
        "partition": job.partition,
        "qos": "normal",
        "job.cores": job.cores * job.nodes,
        "job.gpus": job.cards * job.nodes,
        "job.node.count": job.nodes,
        "job.class": "multi-node" if job.nodes > 1 else "one-node" if job.cores > 1 else "serial",
        "job.submit": from_epoch(job.submit),
        "job.eligible": from_epoch(job.submit),
        "job.limit.seconds": job.limit,
    }
    return known


def _changes(job: Job) -> Iterator[tuple[float, Document]]:
    yield job.submit, _state("PENDING", "Priority")
    if not job.hosts:
        return
    nodes: Document = {
        "job.nodes": sorted(host.name for host in job.hosts),
        "job.start": from_epoch(job.start),
    }
    yield job.start, _state("RUNNING", "None") | nodes
    yield job.end, _state(job.state, "None") | nodes | {"job.end": from_epoch(job.end)}


def _state(name: str, reason: str) -> Document:
    digest = blake2b(f"{name}||{reason}".encode(), digest_size=6).hexdigest()
    return {"state.name": name, "state.reason": reason, "state.hash": digest}


def _still(job: Job, cluster: str) -> Document:
    """
    The run as it is told while it lasts.
    """
    told = {"provisional": True, "job.state": "RUNNING", "record.version": int(job.start)}
    return {name: v for name, v in _run(job, cluster).items() if name not in NOT_YET} | told


def _run(job: Job, cluster: str) -> Document:
    """
    The run as `sacct` would tell it once it is over.
    """
    wall = job.end - job.start
    return _common(job, cluster, job.submit) | {
        "dataset": "job",
        "record.version": int(job.end + GRACE),
        "provisional": False,
        "job.source": "sacct",
        "job.scheduler": "slurm",
        "job.state": job.state,
        "job.exit_code": 0 if job.state == "COMPLETED" else 1,
        "job.nodes": sorted(host.name for host in job.hosts),
        "job.start": from_epoch(job.start),
        "job.end": from_epoch(job.end),
        "job.wait.seconds": round(job.start - job.submit, 3),
        "job.wall.seconds": round(wall, 3),
        "job.asked.cores": job.cores * job.nodes,
        "job.asked.gpus": job.cards * job.nodes,
        "job.asked.nodes": job.nodes,
        "job.asked.memory.bytes": job.cores * job.nodes * 4 * GIB,
        "job.core_seconds.allocated": round(wall * job.cores * job.nodes, 2),
        "job.core_seconds.used": round(job.used / 100, 2),
        "job.memory.peak.bytes": job.peak,
        "job.memory.basis": "step",
        "job.gpu_seconds.allocated": round(wall * job.cards * job.nodes, 2),
    }
