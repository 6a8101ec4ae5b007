"""
Sending documents: ready-made bodies over several connections, and each answer of the engine put
into the one right pile of an Outcome.

MUST: every document handed in is counted exactly once. MUST NOT: call a document rejected because
of the state of an index or the cluster; those are kept.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import orjson

from leadline.errors import FormatError, StoreError
from leadline.formats import DATASETS, Document
from leadline.formats.ids import document_id
from leadline.formats.validate import check
from leadline.store.contract import Mode, Outcome
from leadline.store.opensearch.client import NDJSON, UNREACHABLE, Answer, Client, explain
from leadline.store.opensearch.indices import Indices

LARGEST = 5_000_000  # a small heap refuses bigger bodies as a whole
SMALLEST = 100_000
SAMPLES = frozenset(name for name, dataset in DATASETS.items() if not dataset.replaces)
SHAPES_KEPT = 4096
FILTER = "errors,items.*.status,items.*.error.type,items.*.error.reason,items.*.error.caused_by"
NOT_THE_DOCUMENT = {
    "cluster_block_exception",
    "index_closed_exception",
    "security_exception",
    "unavailable_shards_exception",
    "validation_exception",  # the limit of shards; mapping errors have other names
}

# Samples carry no version: whoever replaces one has changed its names, and the last wins.
UNVERSIONED = frozenset(
    name for name, dataset in DATASETS.items() if "record.version" not in dataset.by_name
)


@dataclass(slots=True)
class Line:
    """
    One document on its way: what is sent, and what is given back when it cannot be stored.
    """

    index: str
    data: bytes  # action and source, both lines
    document: Document


@dataclass(frozen=True, slots=True)
class Backoff:
    first: float = 0.5
    longest: float = 5.0
    patience: float = 15.0  # of one body; what is left is given back as kept, the worker waits

    def pauses(self, clock: Callable[[], float]) -> Iterator[float]:
        end = clock() + self.patience
        pause = self.first
        while clock() < end:
            yield pause * random.uniform(0.5, 1)  # noqa: S311  spreads retries, guards nothing
            pause = min(pause * 2, self.longest)


@dataclass(slots=True)
class Verdict:
    """
    One body's answer, sorted: `again` are the lines worth another try at once.
    """

    outcome: Outcome = field(default_factory=Outcome)
    again: list[Line] = field(default_factory=list)
    busy: bool = False
    reason: str = ""
    unreachable: bool = False


class Sender:
    """
    Encodes, cuts into bodies, sends over `workers` connections, retries what is worth it.
    """

    def __init__(
        self,
        client: Client,
        indices: Indices,
        *,
        workers: int = 2,
        backoff: Backoff | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.client = client
        self.indices = indices
        self.workers = workers
        self.backoff = backoff or Backoff()
        self.sleep = sleep
        self.clock = clock
        self.size = LARGEST  # adapts: halves when the engine is busy, grows back slowly
        self.shapes: set[tuple[object, tuple[str, ...]]] = set()
        self.pool = ThreadPoolExecutor(workers, thread_name_prefix="bulk")

    def write(self, documents: Sequence[Document], mode: Mode) -> Outcome:
        """
        All documents, with at most two bodies per connection waiting: back-pressure by blocking.
        """
        outcome = Outcome()
        waiting: list[Future[Outcome]] = []
        room = threading.Semaphore(2 * self.workers)
        for body in self.bodies(documents, mode, outcome):
            room.acquire()
            future = self.pool.submit(self.deliver, body)
            future.add_done_callback(lambda _: room.release())
            waiting.append(future)
        for future in waiting:
            outcome.add(future.result())
        return outcome

    def bodies(
        self, documents: Sequence[Document], mode: Mode, outcome: Outcome
    ) -> Iterator[list[Line]]:
        body: list[Line] = []
        size = 0
        for document in documents:
            try:
                line = self.encode(document, mode)
            except FormatError as error:
                outcome.rejected.append((document, str(error)))
                continue
            size += len(line.data)
            if size > self.size and body:
                yield body
                body, size = [], len(line.data)
            body.append(line)
        if body:
            yield body

    def encode(self, document: Document, mode: Mode) -> Line:
        """
        Documents come through the gate, so only their names are looked at: values of a wrong type
        are refused by the engine itself.
        """
        if (dataset := document.get("dataset"), names := tuple(document)) not in self.shapes:
            document = self.unseen(document, (dataset, names))
        index = self.indices.name(dataset, document["@timestamp"])  # type: ignore[arg-type]
        name = document_id(document)
        if mode == "create":
            action = f'{{"create":{{"_index":"{index}","_id":"{name}"}}}}\n'
        elif "record.version" not in document and dataset in SAMPLES:
            # Made with version 1 by `create`, which no version of ours would beat: last one wins.
            action = f'{{"index":{{"_index":"{index}","_id":"{name}"}}}}\n'
        else:
            version = document.get("record.version", 0)
            action = (
                f'{{"index":{{"_index":"{index}","_id":"{name}",'
                f'"version":{version},"version_type":"external_gte"}}}}\n'
            )
        source = orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)
        return Line(index, action.encode() + source, document)

    def unseen(self, document: Document, shape: tuple[object, tuple[str, ...]]) -> Document:
        checked = check(dict(document))
        if checked == document and len(self.shapes) < SHAPES_KEPT:
            self.shapes.add(shape)
        return checked

    def deliver(self, lines: list[Line]) -> Outcome:
        """
        One body until all of it has found its pile, or patience is over.
        """
        total = Outcome()
        verdict = Verdict(again=lines)
        for pause in self.backoff.pauses(self.clock):
            verdict = self.attempt(verdict.again)
            total.add(verdict.outcome)
            if not verdict.again:
                return total
            if verdict.busy:
                self.size = max(SMALLEST, self.size // 2)
            self.sleep(pause)
        kept = [line.document for line in verdict.again]
        total.add(Outcome(kept=kept, reason=verdict.reason, pause=verdict.unreachable))
        return total

    def attempt(self, lines: list[Line]) -> Verdict:
        missing = {index: self.indices.ensure(index) for index in {line.index for line in lines}}
        verdict = Verdict()
        refused = {index: answer for index, answer in missing.items() if answer is not None}
        for index, answer in refused.items():
            there = [line for line in lines if line.index == index]
            sort_refusal(verdict, answer, there)
        ready = [line for line in lines if line.index not in refused]
        for piece in pieces(ready, self.size):
            self.send(piece, verdict)
        return verdict

    def send(self, lines: list[Line], verdict: Verdict) -> None:
        body = b"".join([line.data for line in lines])
        answer = self.client.request(
            "POST", "/_bulk", body, headers=NDJSON, filter_path=FILTER, timeout=120
        )
        if answer.ok:
            self.sort_items(lines, answer, verdict)
            self.size = min(LARGEST, self.size + self.size // 10)
        elif answer.status in (400, 413) or (answer.status == UNREACHABLE and len(body) > LARGEST):
            self.send_halves(lines, answer, verdict)
        else:
            sort_refusal(verdict, answer, lines)

    def send_halves(self, lines: list[Line], answer: Answer, verdict: Verdict) -> None:
        """
        A body that is refused whole is cut until the one document at fault stands alone.
        """
        if len(lines) == 1:
            verdict.outcome.rejected.append((lines[0].document, answer.reason))
            return
        middle = len(lines) // 2
        self.send(lines[:middle], verdict)
        self.send(lines[middle:], verdict)

    def sort_items(self, lines: list[Line], answer: Answer, verdict: Verdict) -> None:
        items = answer.body.get("items", [])
        if len(items) != len(lines):
            raise StoreError(f"the engine answered {len(items)} of {len(lines)} documents")
        if not answer.body["errors"]:
            verdict.outcome.accepted += len(lines)
            return
        for line, item in zip(lines, items, strict=True):
            (result,) = item.values()
            status = result["status"]
            if status < 300:
                verdict.outcome.accepted += 1
            elif status == 409:
                verdict.outcome.duplicate += 1
            else:
                self.sort_failure(line, status, result.get("error", {}), verdict)

    def sort_failure(
        self, line: Line, status: int, error: dict[str, object], verdict: Verdict
    ) -> None:
        reason = f"{line.index}: {status} {explain(error)}"
        if status == 429 or status >= 500:
            verdict.again.append(line)
            verdict.busy = verdict.busy or status == 429
            verdict.reason = reason
        elif status == 404:  # somebody deleted the index: made anew by the next attempt
            self.indices.forget(line.index)
            verdict.again.append(line)
            verdict.reason = reason
        elif status == 403 or error.get("type") in NOT_THE_DOCUMENT:
            verdict.outcome.add(Outcome(kept=[line.document], reason=reason, pause=True))
        else:
            verdict.outcome.rejected.append((line.document, reason))

    def close(self) -> None:
        self.pool.shutdown()


def pieces(lines: Sequence[Line], size: int) -> Iterator[list[Line]]:
    piece: list[Line] = []
    room = size
    for line in lines:
        if piece and len(line.data) > room:
            yield piece
            piece, room = [], size
        piece.append(line)
        room -= len(line.data)
    if piece:
        yield piece


def sort_refusal(verdict: Verdict, answer: Answer, lines: list[Line]) -> None:
    """
    A request refused as a whole: busy and absent engines are tried again, all else waits.
    """
    if answer.status == 429 or answer.status >= 500 or answer.status == UNREACHABLE:
        verdict.again += lines
        verdict.busy = verdict.busy or answer.status == 429
        verdict.unreachable = verdict.unreachable or answer.status == UNREACHABLE
        verdict.reason = answer.reason
    else:
        documents = [line.document for line in lines]
        verdict.outcome.add(Outcome(kept=documents, reason=answer.reason, pause=True))
