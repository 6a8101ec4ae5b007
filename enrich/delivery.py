"""
From lines to a store: nothing is forgotten before the store has it or a dead letter keeps it.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import orjson

from enrich.chain import Chain
from enrich.counters import Tally
from enrich.deadletters import DeadLetter, DeadLetters, dead_letter, refusals
from enrich.expiry import nothing
from enrich.run_days import Days, no_days
from enrich.settings import BackoffSettings
from leadline.errors import FormatError, LeadlineError, StoreError
from leadline.formats import DATASETS, Document
from leadline.formats.times import from_epoch
from leadline.formats.validate import read_line
from leadline.store.contract import Health, Mode, Outcome, Ready
from leadline.store.retention import Gone

log = logging.getLogger("leadline.worker")

Wait = Callable[[float], bool]  # waits so many seconds; True when it is time to stop
Notice = Callable[[str], None]

REPLACED = frozenset(name for name, dataset in DATASETS.items() if dataset.replaces)


class Sink(Protocol):
    """
    A store, or another worker: whatever says of each document what became of it.
    """

    def write(self, documents: Sequence[Document], mode: Mode) -> Outcome: ...

    def write_ready(self, lines: Iterable[Ready]) -> Outcome: ...

    def health(self) -> Health: ...

    def close(self) -> None: ...


class StoppedError(LeadlineError):
    """
    Told to stop while the store would not take documents: they stay where they were.
    """


@dataclass(slots=True)
class Enriched:
    """
    What lines have become: most are ready to be stored, the dead ones never will be.
    """

    documents: list[Document] = field(default_factory=list)
    ready: list[Ready] = field(default_factory=list)
    dead: list[DeadLetter] = field(default_factory=list)
    expired: int = 0

    def __len__(self) -> int:
        return len(self.documents) + len(self.ready) + len(self.dead) + self.expired

    def take(self, document: Document, gone: Gone) -> None:
        if gone.takes(str(document["dataset"]), str(document["@timestamp"])):
            self.expired += 1
        else:
            self.documents.append(document)

    def add(self, other: Enriched) -> None:
        self.documents += other.documents
        self.ready += other.ready
        self.dead += other.dead
        self.expired += other.expired


@dataclass(frozen=True, slots=True)
class Delivery:
    """
    `lines` do not come back before each of them is stored or a dead letter.
    """

    store: Sink
    chain: Chain
    letters: DeadLetters
    backoff: BackoffSettings
    wait: Wait
    notice: Notice
    tries: int | None = None  # None: until the store takes them
    expiry: Callable[[], Gone] = nothing
    days: Days = no_days  # what is stored with a run
    tells: bool = False  # the store, as events, what it would not take
    clock: Callable[[], float] = time.time

    def lines(self, lines: Sequence[bytes], source: str) -> Tally:
        """
        Enriched while the store takes them.
        """

        def attempt() -> tuple[Enriched, Outcome]:
            done = Enriched()
            return done, self.store.write_ready(self._sorted(lines, source, done))

        return self._finish(*self._until_answered(attempt, len(lines)), source)

    def enrich(self, lines: Iterable[bytes], source: str) -> Enriched:
        done = Enriched()
        done.ready = list(self._sorted(lines, source, done))
        return done

    def write(self, done: Enriched, source: str) -> Tally:
        def attempt() -> tuple[Enriched, Outcome]:
            return done, self.store.write_ready(done.ready)

        return self._finish(*self._until_answered(attempt, len(done.ready)), source)

    def _sorted(self, lines: Iterable[bytes], source: str, done: Enriched) -> Iterator[Ready]:
        """
        Lines that went the short way; what became of the others is added to DONE.
        """
        one, splice, gone = self.chain.one, self.chain.splicer.batch(), self.expiry()
        horizon = gone.horizon
        for line in lines:
            try:
                if (ready := splice(line)) is None:
                    done.take(one(read_line(line)), gone)
                    continue
            except FormatError as error:
                done.dead.append(dead_letter(line, str(error), source))
            except Exception as error:  # one document must never stop those behind it
                log.exception("a document met a bug")
                reason = f"a bug of leadline: {error!r}"[:500]
                done.dead.append(dead_letter(line, reason, source))
            else:
                if ready.time >= horizon or not gone.takes(ready.dataset, ready.time):
                    yield ready
                else:
                    done.expired += 1

    def _until_answered(
        self, attempt: Callable[[], tuple[Enriched, Outcome]], count: int
    ) -> tuple[Enriched, Outcome]:
        """
        All anew where nobody knows how far the store came: ids make repeats harmless.
        """
        tried = 0
        while True:
            try:
                return attempt()
            except (StoreError, OSError) as error:
                tried += 1
                self._hold(tried, count, str(error))

    def _finish(self, done: Enriched, outcome: Outcome, source: str) -> Tally:
        kept, outcome.kept = outcome.kept, []
        if kept:
            self._hold(1, len(kept), outcome.reason)
            outcome.add(self._until_taken(self._taken_now(kept), "create"))
        self._write_days(done.documents)
        for mode, part in by_mode(done.documents):
            outcome.add(self._until_taken(part, mode))
        refused = [
            dead_letter(orjson.dumps(document), reason, source)
            for document, reason in outcome.rejected
        ]
        self._keep([*done.dead, *refused])
        if self.tells:
            self._until_taken(refusals([*done.dead, *refused]), "replace")
        dead = len(done.dead) + len(refused)
        return Tally(outcome.accepted, outcome.duplicate, dead, expired=done.expired)

    def _write_days(self, documents: Iterable[Document]) -> None:
        """
        Before their runs: whoever sees a run sees its hours. Nobody sent them, so none is counted.
        Each belongs to the groups of its own day.
        """
        days = [self.chain.one(day) for document in documents for day in self.days(document)]
        outcome = self._until_taken(days, "replace")
        self._keep(
            [dead_letter(orjson.dumps(day), why, "days of a run") for day, why in outcome.rejected]
        )

    def _until_taken(self, documents: Sequence[Document], mode: Mode) -> Outcome:
        """
        Only what the store kept back is tried again, less and less often.
        """
        total = Outcome()
        tried = 0
        while documents:
            outcome = self._try(documents, mode)
            documents, outcome.kept = outcome.kept, []
            total.add(outcome)
            if documents:
                tried += 1
                self._hold(tried, len(documents), outcome.reason)
                documents = self._taken_now(documents)
            elif tried:
                self.notice("the store takes documents again")
        return total

    def _taken_now(self, documents: Iterable[Document]) -> list[Document]:
        """
        What a store takes after an hour is taken in then: roll-ups would not look for it otherwise.
        """
        now = {"event.ingested": from_epoch(int(self.clock()))}
        return [{**one, **now} if "event.ingested" in one else one for one in documents]

    def _try(self, documents: Sequence[Document], mode: Mode) -> Outcome:
        try:
            return self.store.write(documents, mode)
        except (StoreError, OSError) as error:
            return Outcome(kept=list(documents), reason=str(error), pause=True)

    def _keep(self, letters: list[DeadLetter]) -> None:
        tried = 0
        while True:
            try:
                return self.letters.add(letters)
            except LeadlineError as error:
                tried += 1
                self._hold(tried, len(letters), str(error))

    def _hold(self, tried: int, count: int, reason: str) -> None:
        if self.tries is not None and tried >= self.tries:
            raise StoreError(f"{count} documents not stored: {reason or 'the store is busy'}")
        seconds = wait_seconds(self.backoff, tried)
        if tried == 1 or seconds >= self.backoff.max / 2:
            self.notice(f"{count} documents wait: {reason or 'the store is busy'}")
        if self.wait(seconds):
            raise StoppedError(f"{count} documents wait for the next start: {reason}")


def wait_seconds(backoff: BackoffSettings, tried: int) -> float:
    """
    Twice as long each time up to the bound; half of it is chance, so that workers do not march.
    """
    longest: float = min(backoff.init * 2 ** min(tried - 1, 30), backoff.max)
    return longest * (0.5 + random.random() / 2)  # noqa: S311 - no secret hangs on it


def by_mode(documents: Sequence[Document]) -> list[tuple[Mode, list[Document]]]:
    """
    Samples are created once; what may be corrected replaces what was there.
    """
    replaced = [document for document in documents if document["dataset"] in REPLACED]
    if not replaced:
        return [("create", list(documents))]
    created = [document for document in documents if document["dataset"] not in REPLACED]
    return [("create", created), ("replace", replaced)]
