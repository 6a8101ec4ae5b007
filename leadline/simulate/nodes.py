"""
What the scheduler of a simulated cluster would have told of its nodes, look by look, and the truth:
how long each was up, drained, down, and how long nobody looked.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from random import Random

import orjson

from leadline.formats import SCHEMA_VERSION, Document
from leadline.formats.times import from_epoch
from leadline.simulate.activity import Job
from leadline.simulate.fleet import Fleet, Host

DAY = 86400
GAP = 900.0  # between two looks that are further apart nobody knows
CLASSES = ("up", "drained", "down", "unknown")
Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class State:
    """
    A node at a moment; `counts` is what its time counts as.
    """

    name: str
    flags: tuple[str, ...]
    reason: str
    who: str
    since: float
    cores: int
    cards: int
    counts: str

    @property
    def told(self) -> str:
        """
        What a change is told of: not the cores in use alone.
        """
        return f"{self.name}|{self.flags}|{self.reason}|{self.cards}"


class Slurmctld:
    """
    Tells of the compute nodes whenever the machine that asks it does so.
    """

    def __init__(
        self, fleet: Fleet, jobs: Sequence[Job], seed: int, start: int, end: int, every: int
    ) -> None:
        self.hosts = fleet.compute
        self.asks = (fleet.login or fleet.hosts)[0]
        self._start, self._end = start, end
        self._away = _absences(seed, start, end)
        ticks = range(start + every, end + 1, every)
        self.looks = [t for tick in ticks if self.is_asked(t := tick - self.asks.delay)]
        self._known = [0.0]
        for one, other in pairwise(self.looks):
            length = other - one
            self._known.append(self._known[-1] + (length if length <= GAP else 0.0))
        self._submits = sorted(job.submit for job in jobs)
        ran = [job for job in jobs if job.hosts]
        self._starts, self._ends = sorted(j.start for j in ran), sorted(j.end for j in ran)
        self._use = _use(ran)

    def is_asked(self, moment: float) -> bool:
        silent = self.asks.down is not None and self.asks.down[0] <= moment < self.asks.down[1]
        return not silent and not any(first <= moment < last for first, last in self._away)

    def look(self, moment: float) -> bytes:
        """
        What a look adds to the node document of the machine that asks.
        """
        if not self.is_asked(moment):
            return b""
        running = bisect_right(self._starts, moment) - bisect_right(self._ends, moment)
        waiting = bisect_right(self._submits, moment) - bisect_right(self._starts, moment)
        told = (len(self.hosts), waiting, running, b"0.04")
        line = b',"slurm.nodes":%d,"slurm.jobs.pending":%d,"slurm.jobs.running":%d'
        return (line + b',"slurm.call.seconds":%b') % told

    def documents(self, cluster: str) -> Iterator[bytes]:
        for host in self.hosts:
            last: tuple[float, str] | None = None
            for at, state in self._seen(host):
                document = _document(host, state, self.looks[at], cluster)
                if last is None or last[1] == document["state.hash"]:
                    document["snapshot"] = True
                else:
                    document["state.seconds"] = round(self.looks[at] - last[0], 3)
                if last is None or last[1] != document["state.hash"]:
                    last = self.looks[at], str(document["state.hash"])
                yield orjson.dumps(document) + b"\n"

    def truth(self) -> dict[str, dict[str, dict[str, float]]]:
        """
        Seconds of each node as looks could see them, and as they really were.
        """
        return {
            "seen": {host.name: self._seen_seconds(host) for host in self.hosts},
            "real": {host.name: self._real_seconds(host) for host in self.hosts},
        }

    def _seen(self, host: Host) -> Iterator[tuple[int, State]]:
        """
        Looks at which a node is told of: at the first, when it changed, once a day.
        """
        places = {bisect_left(self.looks, moment) for moment in self._changes(host)}
        days = [int(look // DAY) for look in self.looks]
        daily = {at for at in range(len(days)) if at == 0 or days[at] != days[at - 1]}
        before: State | None = None
        for at in sorted(places | daily):
            if at < len(self.looks):
                state = self._state(host, self.looks[at])
                if before is None or state.told != before.told or at in daily:
                    yield at, state
                before = state

    def _changes(self, host: Host) -> list[float]:
        edges = {moment for first, last, _, _ in host.drains for moment in (first, last)}
        edges |= set(host.down or ())
        return sorted(edges | set(self._use[host.name][0]))

    def _state(self, host: Host, moment: float) -> State:
        times, used = self._use[host.name]
        place = bisect_right(times, moment)
        cores, cards = used[place - 1] if place else (0, 0)
        drain = next((d for d in host.drains if d[0] <= moment < d[1]), None)
        flags = ("DRAIN",) if drain else ()
        since, _, reason, who = drain or (0, 0, "", "")
        if host.down and host.down[0] <= moment < host.down[1]:
            why = ("Not responding", "slurm", host.down[0]) if not drain else (reason, who, since)
            return State("DOWN", (*flags, "NOT_RESPONDING"), *why, 0, 0, "down")
        name = "ALLOCATED" if cores >= host.cores else "MIXED" if cores else "IDLE"
        counts = "drained" if drain and not cores else "up"
        return State(name, flags, reason, who, since, cores, cards, counts)

    def _seen_seconds(self, host: Host) -> dict[str, float]:
        seconds = dict.fromkeys(CLASSES, 0.0)
        seen = list(self._seen(host))
        for place, (at, state) in enumerate(seen):
            until = seen[place + 1][0] if place + 1 < len(seen) else len(self.looks) - 1
            seconds[state.counts] += self._known[until] - self._known[at]
        return _whole(seconds, self._end - self._start)

    def _real_seconds(self, host: Host) -> dict[str, float]:
        seconds = dict.fromkeys(CLASSES, 0.0)
        inner = [m for m in self._changes(host) if self._start < m < self._end]
        for begin, until in pairwise([self._start, *inner, self._end]):
            seconds[self._state(host, begin).counts] += until - begin
        return _whole(seconds, self._end - self._start)


def _whole(seconds: dict[str, float], length: float) -> dict[str, float]:
    known = sum(seconds.values())
    return {n: round(v, 3) for n, v in {**seconds, "unknown": length - known}.items()}


def _absences(seed: int, start: int, end: int) -> list[Span]:
    """
    When the machine that asks was away: an hour or two now and then, once a year two days.
    """
    random = Random(f"{seed}/away")  # noqa: S311 - a simulation, not a secret
    found: list[Span] = []
    for day in range(start + 2 * DAY, end - DAY, 20 * DAY):
        first = day + random.uniform(0, min(15 * DAY, max(0, end - DAY - day)))
        long = len(found) == 7
        found.append((first, first + (1.7 * DAY if long else random.uniform(1200, 9000))))
    return found


def _use(jobs: Sequence[Job]) -> dict[str, tuple[list[float], list[tuple[int, int]]]]:
    """
    Cores and cards in use on each host from each moment on.
    """
    changes: dict[str, list[tuple[float, int, int]]] = defaultdict(list)
    for job in jobs:
        for host in job.hosts:
            changes[host.name] += [
                (job.start, job.cores, job.cards),
                (job.end, -job.cores, -job.cards),
            ]
    found: dict[str, tuple[list[float], list[tuple[int, int]]]] = defaultdict(lambda: ([], []))
    for name, own in changes.items():
        times, used = found[name]
        cores = cards = 0
        for moment, more, gpus in sorted(own):
            cores, cards = cores + more, cards + gpus
            if times and times[-1] == moment:
                used[-1] = cores, cards
            else:
                times.append(moment)
                used.append((cores, cards))
    return found


def _document(host: Host, state: State, moment: float, cluster: str) -> Document:
    document: Document = {
        "@timestamp": from_epoch(moment),
        "dataset": "node_state",
        "cluster": cluster,
        "host.name": host.name,
        "agent.version": "simulated",
        "schema.version": SCHEMA_VERSION,
        "state.name": state.name,
        "state.flags": sorted(state.flags),
        "state.hash": blake2b(state.told.encode(), digest_size=6).hexdigest(),
        "partitions": [host.partition],
        "features": [host.kind],
        "node.type": host.kind,
        "node.cores": host.cores,
        "node.threads": host.cores,
        "node.threads_allocated": state.cores,
        "memory.total.bytes": host.memory,
    }
    if state.reason:
        document |= {"state.reason": state.reason, "state.reason_user": state.who}
        document["state.reason_time"] = from_epoch(state.since)
    if host.cards:
        document |= {
            "gpu.gres": f"gpu:{host.model.lower()}:{host.cards}",
            "gpu.total": host.cards,
            "gpu.allocated": state.cards,
            "gpu.models": [host.model],
            "gpu.by_model": {host.model: {"total": host.cards, "allocated": state.cards}},
        }
    return document
