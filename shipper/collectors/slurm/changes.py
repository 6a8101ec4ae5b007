"""
What changed since the last look: only that is sent, and once a day everything, as a snapshot.

A waiting job that was moved to another partition or QOS is told anew at once, one whose priority
alone changed when it did so much, and hourly at most: priorities grow with age, all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from leadline.formats import Document
from leadline.formats.times import from_epoch
from shipper.collectors.slurm.documents import (
    Threads,
    has_ended,
    job_document,
    job_state,
    node_hash,
    node_names,
    node_removed,
    node_state,
    reservation_event,
    state_hash,
    threads_per_core,
)
from shipper.collectors.slurm.records import JobSeen, Look, NodeSeen, ReservationSeen, short

DAY = 86400
GENTLE = 3600  # seconds between two documents of a job of which only the priority changed …
MUCH = 1.5  # … at least by this factor


@dataclass(slots=True)
class Known:
    """
    A job or node as it was last told.
    """

    hash: str
    since: int
    state: str
    standing: str = ""  # of a job: partition, QOS and what else may be changed while it waits
    priority: int | None = None
    told: int = 0


class Changes:
    def __init__(self) -> None:
        self._jobs: dict[tuple[int, int], Known] = {}  # by id and submit time: one run
        self._last: dict[tuple[int, int], JobSeen] = {}
        self._nodes: dict[str, Known] = {}
        self._reservations: dict[str, str] = {}
        self._clashes: frozenset[str] = frozenset()
        self._day: int | None = None  # of the last full set
        self.threads: Threads = {}
        self.ended: list[JobSeen] = []  # runs that ended, or are gone, since the look before

    def of(self, look: Look, wall: float) -> list[Document]:
        now = int(wall)
        self.threads = threads_per_core(look.nodes)
        full = self._day != now // DAY
        self._day = now // DAY
        documents = self._of_jobs(look.jobs, now, full)
        held: dict[str, list[str]] = {}
        if look.reservations is not None:
            documents += self._of_reservations(look.reservations, now)
            held = _held(look.reservations, now)
        documents += self._of_nodes(look.nodes, held, now, full)
        return documents

    def _of_jobs(self, jobs: list[JobSeen], now: int, full: bool) -> list[Document]:
        documents: list[Document] = []
        self.ended = []
        seen: dict[tuple[int, int], JobSeen] = {}
        for job in jobs:
            key = (job.id, job.submit or 0)
            seen[key] = job
            documents += self._of_job(key, job, now)
            known = self._jobs[key]
            if not has_ended(job) and (full or _stands_otherwise(known, job, now)):
                state = job_state(job, now, None, self.threads)
                documents.append({**state, "snapshot": True})
                if known.standing != _standing(job) and job.submit is not None:
                    documents.append(job_document(job, self.threads))
                known.standing, known.priority, known.told = _standing(job), job.priority, now
        for key in [key for key in self._jobs if key not in seen]:
            known = self._jobs.pop(key)
            gone = self._last.get(key) or JobSeen(id=key[0], submit=key[1], state=known.state)
            if not has_ended(gone):
                self.ended.append(gone)
        self._last = seen
        return documents

    def _of_job(self, key: tuple[int, int], job: JobSeen, now: int) -> list[Document]:
        digest = state_hash(job.state, job.flags, job.reason)
        known = self._jobs.get(key)
        if known is not None and known.hash == digest:
            return []
        moment = moment_of(job, known, now)
        before = known.since if known is not None else None
        documents = [job_state(job, moment, before, self.threads)]
        if (known is None or known.state != job.state) and job.submit is not None:
            documents.append(job_document(job, self.threads))
        was_over = known is not None and self._was_over(key)
        self._jobs[key] = Known(digest, moment, job.state, _standing(job), job.priority, now)
        if has_ended(job) and not was_over:
            self.ended.append(job)
            documents = documents[:1]  # the whole job comes from the accounting
        return documents

    def _was_over(self, key: tuple[int, int]) -> bool:
        last = self._last.get(key)
        return last is not None and has_ended(last)

    def _of_nodes(
        self, nodes: list[NodeSeen], held: dict[str, list[str]], now: int, full: bool
    ) -> list[Document]:
        documents: list[Document] = []
        seen: dict[str, str] = {}
        clashes: set[str] = set()
        for node in nodes:
            host = short(node.name)
            if host in seen:
                clashes |= {seen[host], node.name}
                continue
            seen[host] = node.name
            documents += self._of_node(host, node, sorted(held.get(host, [])), now, full)
        for host in [host for host in self._nodes if seen and host not in seen]:
            documents.append(node_removed(host, now, self._nodes.pop(host).since))
        if clashes and frozenset(clashes) != self._clashes:
            documents.append(_clash(sorted(clashes), now))
        self._clashes = frozenset(clashes)
        return documents

    def _of_node(
        self, host: str, node: NodeSeen, held: list[str], now: int, full: bool
    ) -> list[Document]:
        digest = node_hash(node, held)
        known = self._nodes.get(host)
        documents: list[Document] = []
        if known is not None and known.hash != digest:
            state = node_state(node, held, now, self.threads)
            documents.append({**state, "state.seconds": now - known.since})
        if known is None or known.hash != digest:
            self._nodes[host] = Known(digest, now, node.state)
        if (full or known is None) and not documents:
            documents.append({**node_state(node, held, now, self.threads), "snapshot": True})
        return documents

    def _of_reservations(self, found: list[ReservationSeen], now: int) -> list[Document]:
        documents = []
        for one in found:
            if self._reservations.get(one.name) != (text := repr(one)):
                documents.append(reservation_event(one, now))
                self._reservations[one.name] = text
        names = {one.name for one in found}
        for name in [name for name in self._reservations if name not in names]:
            del self._reservations[name]
            documents.append(
                {
                    "dataset": "event",
                    "@timestamp": from_epoch(now),
                    "rule.name": "slurm.reservation",
                    "event.object": name,
                    "event.kind": "change",
                    "event.severity": "info",
                    "event.reason": "gone",
                    "message": f"reservation {name}: gone",
                }
            )
        return documents

    def dump(self) -> object:
        return {
            "day": self._day,
            "jobs": [[*key, *_row(known)] for key, known in self._jobs.items()],
            "nodes": {host: _row(known)[:3] for host, known in self._nodes.items()},
            "reservations": self._reservations,
        }

    def restore(self, kept: object) -> None:
        if not isinstance(kept, dict):
            return
        self._day = kept["day"]
        self._jobs = {(row[0], row[1]): Known(*row[2:]) for row in kept["jobs"]}
        self._nodes = {host: Known(*row) for host, row in kept["nodes"].items()}
        self._reservations = dict(kept["reservations"])


def _row(known: Known) -> list[object]:
    told = (known.standing, known.priority, known.told)
    return [known.hash, known.since, known.state, *told]


def _standing(job: JobSeen) -> str:
    return f"{job.partition}|{job.qos}|{job.account}|{job.reservation}|{job.limit}|{job.user}"


def _stands_otherwise(known: Known, job: JobSeen, now: int) -> bool:
    """
    Whether a job that waits is another one to those who wait with it.
    """
    if known.standing != _standing(job):
        return True
    before, priority = known.priority, job.priority
    if job.state != "PENDING" or before == priority or now - known.told < GENTLE:
        return False
    if not before or not priority:
        return True  # held, or released
    return not 1 / MUCH < priority / before < MUCH


def moment_of(job: JobSeen, known: Known | None, now: int) -> int:
    """
    When the state began, as Slurm tells it where it does; never before the state that was.
    """
    told: int | None = None
    if has_ended(job) or job.state == "COMPLETING":
        told = job.end
    elif job.state == "RUNNING" and (known is None or known.state != "SUSPENDED"):
        told = job.start
    elif job.state == "PENDING" and known is None:
        told = job.submit
    moment = told if told is not None and told <= now else now
    return moment if known is None else max(moment, known.since)


def _held(reservations: list[ReservationSeen], now: int) -> dict[str, list[str]]:
    """
    Names of the reservations that hold a node at this moment.
    """
    held: dict[str, list[str]] = {}
    for one in reservations:
        if one.start is not None and one.start <= now and (one.end is None or now < one.end):
            for host in node_names(one.nodes):
                held.setdefault(host, []).append(one.name)
    return held


def _clash(names: list[str], now: int) -> Document:
    return {
        "dataset": "event",
        "@timestamp": from_epoch(now),
        "rule.name": "slurm.names",
        "event.object": names[0],
        "event.kind": "notice",
        "event.severity": "warning",
        "event.names": names,
        "event.reason": f"nodes whose short names are the same: {', '.join(names)}"[:2000],
        "message": f"nodes whose short names are the same: {', '.join(names)}"[:2000],
    }
