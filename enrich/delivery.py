"""
From lines to a store: nothing is forgotten before the store has it or a dead letter keeps it.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import orjson

from enrich.chain import Chain
from enrich.counters import Tally
from enrich.deadletters import DeadLetter, DeadLetters, dead_letter
from enrich.settings import BackoffSettings
from leadline.errors import FormatError, LeadlineError, StoreError
from leadline.formats import DATASETS, Document
from leadline.formats.validate import read_line
from leadline.store.contract import Health, Mode, Outcome

log = logging.getLogger("leadline.worker")

Wait = Callable[[float], bool]  # waits so many seconds; True when it is time to stop
Notice = Callable[[str], None]

REPLACED = frozenset(name for name, dataset in DATASETS.items() if dataset.replaces)


class Sink(Protocol):
    """
    A store, or another worker: whatever says of each document what became of it.
    """

    def write(self, documents: Sequence[Document], mode: Mode) -> Outcome: ...

    def health(self) -> Health: ...

    def close(self) -> None: ...


class StoppedError(LeadlineError):
    """
    Told to stop while the store would not take documents: they stay where they were.
    """


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

    def lines(self, lines: Iterable[bytes], source: str) -> Tally:
        documents, dead = self.enrich(lines, source)
        return self.write(documents, dead, source)

    def enrich(
        self, lines: Iterable[bytes], source: str
    ) -> tuple[list[Document], list[DeadLetter]]:
        """
        The documents to store, and the lines that are none.
        """
        documents: list[Document] = []
        dead: list[DeadLetter] = []
        one = self.chain.one
        for line in lines:
            try:
                documents.append(one(read_line(line)))
            except FormatError as error:
                dead.append(dead_letter(line, str(error), source))
            except Exception as error:  # one document must never stop those behind it
                log.exception("a document met a bug")
                dead.append(dead_letter(line, f"a bug of leadline: {error!r}"[:500], source))
        return documents, dead

    def write(
        self, documents: Sequence[Document], dead: Sequence[DeadLetter], source: str
    ) -> Tally:
        outcome = Outcome()
        for mode, part in by_mode(documents):
            outcome.add(self._until_taken(part, mode))
        refused = [
            dead_letter(orjson.dumps(document), reason, source)
            for document, reason in outcome.rejected
        ]
        self._keep([*dead, *refused])
        return Tally(outcome.accepted, outcome.duplicate, len(dead) + len(refused))

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
            elif tried:
                self.notice("the store takes documents again")
        return total

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
