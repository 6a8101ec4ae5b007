"""
The short way: a line like one seen before is cut and joined instead of read, enriched and written.

A shipper writes what a process is, then what was measured, then the moment of the snapshot:

    {"dataset":"process", … ,"process.state":"R", … ,"@timestamp":"…", … }
    └── who ───────────────┘└── measures ──────────┘└── moment ──────────┘

The first part is the same at every snapshot, the last one for every process of one snapshot. What
gate and chain make of each is remembered by its bytes; numbers alone are looked at every time.
Whatever is cut otherwise, or seen for the first time, goes the long way, which is the judge:
both must come to the same document. docs/decisions/043 tells more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import NamedTuple

import orjson

from enrich import measures
from enrich.step import Step, Whole
from enrich.steps.ingested import Ingested
from enrich.steps.job_context import FIELDS, JobContext, told_of
from enrich.steps.redact import Redact
from leadline.errors import FormatError
from leadline.formats import DATASETS, Document
from leadline.formats.ids import begin, finish
from leadline.formats.validate import check
from leadline.store.contract import Ready

DATASET = "process"
MOMENT_BEGINS = b',"@timestamp":"'
MOMENT = frozenset(
    {"@timestamp", "host.name", "boot.id", "sample.uptime", "sample.time", "cluster"}
    | {"agent.version", "schema.version", "interval.seconds", "clock.corrected.seconds"}
)
CONTEXT = frozenset({*FIELDS, "job.run"})  # what job_context says of a sample, anew each time
LAST = DATASETS[DATASET].key[-1]  # the one part of the key that does not belong to the moment
MOMENTS_KEPT = 8192
BYTES_KEPT = 128 << 20
ONCE_KEPT = 500_000

Enrich = Callable[[Document], Document]


class Who(NamedTuple):
    """
    All that is said of a process but its measures and the moment.
    """

    data: bytes  # an object that is not closed
    last: bytes  # the end of its key
    job: str | None


@dataclass(frozen=True, slots=True)
class Moment:
    """
    A snapshot of a host, and the processes known there.
    """

    time: str
    taken: str
    seconds: bytes  # the id's begin
    begun: blake2b
    data: bytes  # members of an object, a comma first
    known: dict[bytes, Who | None]  # None: cannot be cut


@dataclass(frozen=True, slots=True)
class Plan:
    """
    Which fields the chain makes of the moment alone, and which of those its other steps read.
    """

    moment: frozenset[str]
    read: tuple[str, ...]
    not_who: frozenset[str]  # what is no part of a process


class Splicer:
    def __init__(self, steps: Iterable[Step | Whole], enrich: Enrich) -> None:
        steps = tuple(steps)
        self._enrich = enrich
        self._jobs = next((step for step in steps if isinstance(step, JobContext)), None)
        self._ingested = next((step for step in steps if isinstance(step, Ingested)), None)
        self._plan = plan(steps, self._ingested)
        self._moments: dict[bytes, Moment | None] = {}
        self._contexts: dict[tuple[object, ...], dict[bytes, Who | None]] = {}
        self._once: set[int] = set()
        self._held = 0

    def batch(self) -> Callable[[bytes], Ready | None]:
        """
        For the lines of a batch: each enriched, or None, and then it goes the long way.
        """
        plan = self._plan
        if plan is None:
            return lambda line: None
        match, moments = measures.PATTERN.match, self._moments
        runs_of = (self._jobs or JobContext()).runs_of
        end_of_all = (self._ingested.stamp() if self._ingested else b"") + b"}"
        ready = partial(tuple.__new__, Ready)
        last, moment = b"", None  # lines of one snapshot come together

        def splice(line: bytes) -> Ready | None:
            nonlocal last, moment
            start = line.find(measures.BEGIN)
            found = match(line, start) if start > 0 else None
            if found is None:
                return None
            if (tail := line[found.end() :]) != last:
                last, moment = tail, moments.get(tail) or self._find_moment(tail, plan)
            if moment is None:
                return None
            head = line[:start]
            who = moment.known.get(head) or self._find_who(head, tail, moment, plan)
            if who is None:
                return None
            begin, name, job = who
            runs = runs_of(job)
            told = b"" if runs is None else told_of(runs, moment.taken)
            data = b"".join((begin, found[0], moment.data, told, end_of_all))
            return ready((DATASET, moment.time, finish(moment.seconds, moment.begun, name), data))

        return splice

    def _find_moment(self, tail: bytes, plan: Plan) -> Moment | None:
        """
        What is true of every process of a snapshot, worked out with one that is nobody.
        """
        if tail in self._moments or not tail.startswith(MOMENT_BEGINS):
            return None
        if len(self._moments) >= MOMENTS_KEPT:
            self._moments.clear()
        said = _part(b"{" + tail[1:])
        made = None
        if said is not None and said.keys() <= MOMENT:
            document = self._long_way({"dataset": DATASET, LAST: "nobody", **said})
            made = self._moment(document, plan) if document is not None else None
        self._moments[tail] = made
        return made

    def _moment(self, document: Document, plan: Plan) -> Moment:
        time = str(document["@timestamp"])
        said = {name: document[name] for name in document if name in plan.moment}
        known = self._contexts.setdefault(tuple(map(document.get, plan.read)), {})
        taken = str(document.get("sample.time", time))
        return Moment(time, taken, *begin(document), b"," + _open(said)[1:], known)

    def _find_who(self, head: bytes, tail: bytes, moment: Moment, plan: Plan) -> Who | None:
        """
        Only what is seen again is worth remembering: many processes are seen but once.
        """
        if head in moment.known:
            return None
        if (mark := hash(head)) not in self._once:
            if len(self._once) >= ONCE_KEPT:
                self._once.clear()
            self._once.add(mark)
            return None
        made = self._who(head, tail, plan)
        moment.known[head] = made
        self._held += len(head) + (len(made.data) if made else 0)
        if self._held > BYTES_KEPT:
            self._held = 0
            self._contexts.clear()
            self._moments.clear()
        return made

    def _who(self, head: bytes, tail: bytes, plan: Plan) -> Who | None:
        said, moment = _part(head + b"}"), _part(b"{" + tail[1:])
        if said is None or moment is None or said.get("dataset") != DATASET:
            return None
        if said.keys() & plan.not_who or any(isinstance(value, dict) for value in said.values()):
            return None
        document = self._long_way({**said, **moment})
        if document is None:
            return None
        job = document.get("job.id")
        return Who(
            _open({name: document[name] for name in document if name not in plan.not_who}),
            str(document[LAST]).encode(),
            job if isinstance(job, str) else None,
        )

    def _long_way(self, document: Document) -> Document | None:
        try:
            return self._enrich(check(document))
        except FormatError:
            return None


def plan(steps: Iterable[Step | Whole], ingested: Ingested | None) -> Plan | None:
    """
    How lines may be cut for a chain; None where some step could see the difference.
    """
    stamped = frozenset(ingested.fields() if ingested else ())
    moment = MOMENT - stamped
    read: set[str] = set()
    for step in steps:
        if not isinstance(step, Step):
            if not isinstance(step, Redact | JobContext | Ingested):
                return None
        elif step.datasets is None or DATASET in step.datasets:
            reads, writes = frozenset(step.reads), frozenset(step.writes)
            if (reads | writes) & (measures.NAMES | CONTEXT | stamped):
                return None
            if reads <= moment:
                moment |= writes
            elif writes & moment:
                return None
            else:
                read |= reads & moment
    not_who = moment | stamped | measures.NAMES | CONTEXT
    return Plan(moment, tuple(sorted(read)), not_who)


def moment_of(ready: Ready) -> bytes:
    """
    The members of a line that its snapshot shares, up to the end of the object.
    """
    return ready.data[ready.data.rfind(MOMENT_BEGINS) + 1 :]


def _part(data: bytes) -> Document | None:
    try:
        said = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    return said if isinstance(said, dict) and b"\\u0000" not in data else None


def _open(document: Document) -> bytes:
    return orjson.dumps(document)[:-1]
