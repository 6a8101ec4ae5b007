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
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import orjson

from leadline.errors import FormatError, StoreError
from leadline.formats import DATASETS, Document
from leadline.formats.ids import document_id
from leadline.formats.validate import check
from leadline.store.contract import Mode, Outcome, Ready
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


Line = tuple[str, bytes]  # an index, and what is sent: action and source, a newline after each


def document_of(line: Line) -> Document:
    """
    What is given back of a line that cannot be stored.
    """
    document: Document = orjson.loads(line[1].split(b"\n", 1)[1])
    return document


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
        self.actions: dict[tuple[str, str], tuple[str, bytes]] = {}  # index, begin of `create`
        self.pool = ThreadPoolExecutor(workers, thread_name_prefix="bulk")

    def write(self, documents: Sequence[Document], mode: Mode) -> Outcome:
        outcome = Outcome()
        outcome.add(self.send_all(self.encoded(documents, mode, outcome)))
        return outcome

    def write_ready(self, lines: Iterable[Ready]) -> Outcome:
        return self.send_all(map(self.wrap, lines))

    def send_all(self, lines: Iterable[Line]) -> Outcome:
        """
        All lines, with at most two bodies per connection waiting: back-pressure by blocking.
        """
        outcome = Outcome()
        waiting: list[Future[Outcome]] = []
        room = threading.Semaphore(2 * self.workers)
        for body in pieces(lines, lambda: self.size):
            room.acquire()
            future = self.pool.submit(self.deliver, body)
            future.add_done_callback(lambda _: room.release())
            waiting.append(future)
        for future in waiting:
            outcome.add(future.result())
        return outcome

    def encoded(
        self, documents: Sequence[Document], mode: Mode, outcome: Outcome
    ) -> Iterator[Line]:
        for document in documents:
            try:
                yield self.encode(document, mode)
            except FormatError as error:
                outcome.rejected.append((document, str(error)))

    def encode(self, document: Document, mode: Mode) -> Line:
        """
        Documents come through the gate, so only their names are looked at: values of a wrong type
        are refused by the engine itself.
        """
        if (dataset := document.get("dataset"), names := tuple(document)) not in self.shapes:
            document = self.unseen(document, (dataset, names))
        name = document_id(document)
        data = orjson.dumps(document)
        if mode == "create":
            time = document["@timestamp"]
            return self.wrap((dataset, time, name.encode(), data))  # type: ignore[arg-type]
        index = self.indices.name(dataset, document["@timestamp"])  # type: ignore[arg-type]
        if "record.version" not in document and dataset in SAMPLES:
            # Made with version 1 by `create`, which no version of ours would beat: last one wins.
            action = f'{{"index":{{"_index":"{index}","_id":"{name}"}}}}\n'
        else:
            version = document.get("record.version", 0)
            action = (
                f'{{"index":{{"_index":"{index}","_id":"{name}",'
                f'"version":{version},"version_type":"external_gte"}}}}\n'
            )
        return index, b"%b%b\n" % (action.encode(), data)

    def wrap(self, ready: tuple[str, str, bytes, bytes]) -> Line:
        dataset, time, name, data = ready
        found = self.actions.get(key := (dataset, time[:10]))
        if found is None:
            index = self.indices.name(dataset, time)
            self.actions[key] = found = (index, f'{{"create":{{"_index":"{index}","_id":"'.encode())
        index, action = found
        return index, b"".join((action, name, b'"}}\n', data, b"\n"))

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
        kept = [document_of(line) for line in verdict.again]
        total.add(Outcome(kept=kept, reason=verdict.reason, pause=verdict.unreachable))
        return total

    def attempt(self, lines: list[Line]) -> Verdict:
        verdict = Verdict()
        refused: dict[str, Answer] = {}
        for index in {index for index, _ in lines}:
            if (answer := self.indices.ensure(index)) is not None:
                refused[index] = answer
        for index, answer in refused.items():
            there = [line for line in lines if line[0] == index]
            sort_refusal(verdict, answer, there)
        ready = [line for line in lines if line[0] not in refused] if refused else lines
        for piece in pieces(ready, lambda: self.size):
            self.send(piece, verdict)
        return verdict

    def send(self, lines: list[Line], verdict: Verdict) -> None:
        body = b"".join([data for _, data in lines])
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
            verdict.outcome.rejected.append((document_of(lines[0]), answer.reason))
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
        reason = f"{line[0]}: {status} {explain(error)}"
        if status == 429 or status >= 500:
            verdict.again.append(line)
            verdict.busy = verdict.busy or status == 429
            verdict.reason = reason
        elif status == 404:  # somebody deleted the index: made anew by the next attempt
            self.indices.forget(line[0])
            verdict.again.append(line)
            verdict.reason = reason
        elif status == 403 or error.get("type") in NOT_THE_DOCUMENT:
            verdict.outcome.add(Outcome(kept=[document_of(line)], reason=reason, pause=True))
        else:
            verdict.outcome.rejected.append((document_of(line), reason))

    def close(self) -> None:
        self.pool.shutdown()


def pieces(lines: Iterable[Line], size: Callable[[], int]) -> Iterator[list[Line]]:
    """
    LINES in bodies of at most `size()` bytes, which is asked again for each.
    """
    piece: list[Line] = []
    room = size()
    for line in lines:
        length = len(line[1])
        if length > room and piece:
            yield piece
            piece, room = [], size()
        piece.append(line)
        room -= length
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
        documents = [document_of(line) for line in lines]
        verdict.outcome.add(Outcome(kept=documents, reason=answer.reason, pause=True))
