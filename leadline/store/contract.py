"""
The one contract every store keeps: lake, OpenSearch and memory pass the same cases.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol

import orjson

from leadline.formats import Document
from leadline.store.people import People
from leadline.store.plan import Condition, Plan, Row
from leadline.store.scope import Scope

Mode = Literal["create", "replace"]


class Ready(NamedTuple):
    """
    A sample checked, enriched and encoded already: what most lines become.
    """

    dataset: str
    time: str  # its @timestamp
    id: bytes  # leadline.formats.ids
    data: bytes  # a JSON object, without a newline

    def document(self) -> Any:
        return orjson.loads(self.data)


@dataclass(slots=True)
class Outcome:
    """
    What became of a batch. Every document of it is in exactly one of the four.
    """

    accepted: int = 0
    duplicate: int = 0  # seen before, or an older version than what is stored: nothing to do
    rejected: list[tuple[Document, str]] = field(
        default_factory=list
    )  # with the reason: dead letter
    kept: list[Document] = field(default_factory=list)  # not now: try these again
    reason: str = ""  # why some were kept, for people
    pause: bool = False  # the store, not the documents, is at fault: wait before trying again

    def add(self, other: Outcome) -> None:
        self.accepted += other.accepted
        self.duplicate += other.duplicate
        self.rejected += other.rejected
        self.kept += other.kept
        self.reason = other.reason or self.reason
        self.pause = self.pause or other.pause


@dataclass(frozen=True, slots=True)
class Hit:
    """
    A distinct command line that a search found.
    """

    command_line: str
    matched: int  # words of the search that it holds
    core_hours: float
    samples: int
    first_seen: str
    last_seen: str
    users: tuple[str, ...]
    programs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    hits: tuple[Hit, ...]
    total: int  # distinct command lines that match
    facets: Mapping[str, Mapping[str, int]] = field(default_factory=dict)  # samples: see counted


FACETS = ("user", "program", "month")
MOST_FACETS = 10


def counted(samples: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
    """
    Samples of all matching lines by FACETS: the most first, months in their order.
    """
    found = {}
    for name in FACETS:
        values = sorted(samples.get(name, {}).items(), key=lambda item: (-item[1], item[0]))
        kept = values[:MOST_FACETS]
        found[name] = dict(sorted(samples.get(name, {}).items()) if name == "month" else kept)
    return found


@dataclass(frozen=True, slots=True)
class Expired:
    """
    One piece of a store that a retention policy takes: an index, a month of a table.
    """

    name: str
    dataset: str
    documents: int
    size: int
    reason: str


@dataclass(frozen=True, slots=True)
class DatasetHealth:
    documents: int
    bytes: int
    newest: str | None  # the latest @timestamp
    oldest: str | None


@dataclass(frozen=True, slots=True)
class Health:
    store: str  # "lake", "opensearch 3.4.0" …
    ok: bool
    problems: tuple[str, ...]
    datasets: Mapping[str, DatasetHealth]


class Store(Protocol):
    def write(self, documents: Sequence[Document], mode: Mode) -> Outcome:
        """
        Store complete documents (datasets may be mixed); durable when it returns.

        create: a document whose key is stored already is a duplicate. replace: it takes the
        place of one whose record.version is not greater. A batch counts like the same documents
        sent one after the other, so a version that a later one of the batch replaces is accepted.
        """
        ...

    def write_ready(self, lines: Iterable[Ready]) -> Outcome:
        """
        Like `write` with create, but nothing needs to be encoded: stored while they are made.
        """
        ...

    def scan(
        self,
        dataset: str,
        scope: Scope,
        *,
        where: Sequence[Condition] = (),
        start: datetime | None = None,
        end: datetime | None = None,
        fields: Sequence[str] | None = None,
        order: Sequence[str] = ("@timestamp",),
        limit: int | None = None,
    ) -> Iterator[list[Document]]:
        """
        Documents as they were written, in batches. `order` names fields; a leading `-` descends,
        documents without the field come last either way.
        """
        ...

    def ask(self, plan: Plan, scope: Scope) -> list[Row]:
        """
        One row per combination of `plan.by` that has documents, keyed by field name (buckets
        and classes too) and aggregate name; without `by` exactly one row. SUM, MIN and MAX over
        no value are None, COUNT and DISTINCT 0. Order is not defined.
        """
        ...

    def search(
        self,
        text: str,
        scope: Scope,
        *,
        where: Sequence[Condition] = (),
        start: datetime | None = None,
        end: datetime | None = None,
        limit: int = 20,
    ) -> Found:
        """
        Distinct command lines by words, phrases ("…"), prefixes (word*) and exclusions (-word),
        ordered by words matched, then core hours, then last seen (store.words says it all).
        """
        ...

    def expire(self, keep: Mapping[str, datetime], *, dry_run: bool) -> list[Expired]:
        """
        Take away whole periods that end before the moment their family is kept from.
        """
        ...

    def forget(
        self,
        dataset: str,
        people: People,
        *,
        before: datetime | None = None,
        dry_run: bool,
    ) -> int:
        """
        Of every document older than BEFORE that names one of PEOPLE make what `People.changed`
        says; how many. Doing it again, also after dying in it, changes nothing more.
        """
        ...

    def health(self) -> Health: ...

    def close(self) -> None: ...


def in_batches(documents: Iterable[Document], size: int) -> Iterator[list[Document]]:
    batch: list[Document] = []
    for document in documents:
        batch.append(document)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
