"""
Takes batches from shippers: judged whole, made safe in the spool, and only then acknowledged.
"""

from __future__ import annotations

import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import orjson

from enrich.chain import Chain
from enrich.grants import Grant
from enrich.seen import Seen
from enrich.settings import WorkerSettings
from enrich.splice import moment_of
from enrich.step import Context, Fields, Step, Whole
from enrich.steps.redact import Redact
from leadline.errors import FormatError, LeadlineError, SpoolError
from leadline.formats import Document
from leadline.formats.redact import redact_line
from leadline.formats.times import from_epoch
from leadline.formats.validate import read_line

GZIP = 31  # zlib's word for gzip with a window of 32 KiB
REASONS = 5  # of rejected lines, told to the sender
HOSTS_CACHED = 10_000


class RefusedError(LeadlineError):
    """
    A batch that is not taken, with the HTTP status that says why.
    """

    def __init__(self, status: int, code: str, message: str, retry_after: int | None = None):
        super().__init__(message)
        self.status = status
        self.code = code
        self.retry_after = retry_after


class Queue(Protocol):
    """
    What a receiver needs of a spool: durable append, and how much waits in it.
    """

    def append(self, lines: list[bytes]) -> None: ...

    def waiting_bytes(self) -> int: ...


@dataclass(slots=True)
class Batch:
    """
    A batch that passed: lines for the spool, and what is to be told about it.
    """

    lines: list[bytes] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)
    moments: Counter[bytes] = field(default_factory=Counter)  # of lines that went the short way
    reasons: list[str] = field(default_factory=list)


class Receiver:
    def __init__(
        self,
        queue: Queue,
        context: Context,
        settings: WorkerSettings,
        seen: Seen,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.counts: Counter[str] = Counter()
        self._queue = queue
        self._context = context
        self._settings = settings
        self._seen = seen
        self._clock = clock
        self._redact = Redact()
        self._chains: dict[Grant, Chain] = {}
        self._guard = threading.Lock()

    def take(self, body: bytes, encoding: str, grant: Grant) -> dict[str, object]:
        """
        The answer to a batch that is durable now. Raises RefusedError.
        """
        try:
            batch = self._judge(unpack(body, encoding, self._settings.max_batch), grant)
            self._keep(batch)
        except RefusedError as refused:
            self._count({"batches_refused": 1, f"refused_{refused.code}": 1})
            raise
        accepted, rejected = len(batch.lines) - len(batch.reasons), len(batch.reasons)
        self._count({"batches": 1, "bytes": len(body), "accepted": accepted, "rejected": rejected})
        self._seen.note(batch.documents, self._clock())
        self._seen.note_moments(batch.moments, self._clock())
        answer: dict[str, object] = {"accepted": accepted, "rejected": rejected}
        if rejected:
            answer["reasons"] = batch.reasons[:REASONS]
        return answer

    def _judge(self, data: bytes, grant: Grant) -> Batch:
        batch = Batch()
        latest = from_epoch(self._clock() + self._settings.ahead)
        chain = self._chain(grant)
        splice = chain.splicer.batch()
        for line in data.split(b"\n"):
            if not line or line.isspace():
                continue
            try:
                if len(line) > self._settings.max_line:
                    raise FormatError(
                        f"a line of {len(line)} bytes, at most {self._settings.max_line} are taken"
                    )
                if (ready := splice(line)) is None:
                    document = chain.one(read_line(line))
            except FormatError as error:
                batch.lines.append(redact_line(line[: self._settings.max_line]))
                batch.reasons.append(str(error))
                continue
            if ready is not None:
                self._not_ahead(ready.time, latest)
                batch.lines.append(ready.data)
                batch.moments[moment_of(ready)] += 1
            else:
                self._not_ahead(str(document["@timestamp"]), latest)
                batch.lines.append(orjson.dumps(document))
                batch.documents.append(document)
        return batch

    def _not_ahead(self, time: str, latest: str) -> None:
        if time > latest:
            raise RefusedError(
                422,
                "ahead",
                f"@timestamp {time} is more than {self._settings.ahead / 3600:g} h ahead;"
                " set the clock of the sender",
            )

    def _chain(self, grant: Grant) -> Chain:
        """
        What is done here to a document of a sender: secrets go, and it is one of its own.
        """
        if grant not in self._chains:
            steps: list[Step | Whole] = [self._redact]
            if grant.cluster is not None:
                steps += [self._own_cluster(grant.cluster), _own_host(grant)]
            self._chains[grant] = Chain(steps, entries=HOSTS_CACHED)
        return self._chains[grant]

    def _own_cluster(self, cluster: str) -> Step:
        def bind(named: str | None) -> Fields:
            if named is not None and self._context.canonical(named) != cluster:
                raise RefusedError(
                    403,
                    "cluster",
                    f"the token is for cluster {cluster}, the batch for {named};"
                    " use the token of that cluster, or name it as an alias",
                )
            return {"cluster": cluster}

        return Step(name="cluster", reads=("cluster",), writes=("cluster",), compute=bind)

    def _keep(self, batch: Batch) -> None:
        size = sum(map(len, batch.lines)) + len(batch.lines)
        full = self._settings.queue.disk.max_size
        if self._queue.waiting_bytes() + size > full:
            raise RefusedError(
                503, "full", f"the worker's queue is full ({full} bytes wait); try later", 30
            )
        try:
            self._queue.append(batch.lines)
        except SpoolError as error:
            raise RefusedError(503, "disk", str(error), 30) from error

    def _count(self, counts: dict[str, int]) -> None:
        with self._guard:
            self.counts.update(counts)


def _own_host(grant: Grant) -> Step:
    def look(host: str | None) -> Fields:
        if grant.hosts and host is not None and host not in grant.hosts:
            raise RefusedError(
                403, "host", f"the token is not for host {host}; clusters.{grant.cluster}.hosts"
            )
        return {}

    return Step(name="host", reads=("host.name",), writes=(), compute=look)


def unpack(body: bytes, encoding: str, longest: int) -> bytes:
    """
    BODY without its compression, of LONGEST bytes at most: a bomb is cut off as it unfolds.
    """
    if encoding in ("", "identity"):
        if len(body) > longest:
            raise _too_large(longest)
        return body
    if encoding not in ("gzip", "x-gzip"):
        raise RefusedError(415, "encoding", f"Content-Encoding {encoding!r}: send gzip")
    parts: list[bytes] = []
    size = 0
    while body:
        member = zlib.decompressobj(GZIP)
        try:
            parts.append(member.decompress(body, longest - size + 1))
        except zlib.error as error:
            raise RefusedError(400, "gzip", f"broken gzip: {error}") from None
        size += len(parts[-1])
        if size > longest:
            raise _too_large(longest)
        if not member.eof:
            raise RefusedError(400, "gzip", "broken gzip: it ends early")
        body = member.unused_data
    return b"".join(parts)


def _too_large(longest: int) -> RefusedError:
    return RefusedError(413, "size", f"the batch is larger than {longest} bytes; send less at once")
