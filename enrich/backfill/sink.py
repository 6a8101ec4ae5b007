"""
Where SQL readers put their documents: straight into a lake, or through any store's contract.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import duckdb

from leadline.errors import StoreError
from leadline.formats import Document
from leadline.store.contract import Mode, Outcome, Store
from leadline.store.lake import LakeStore
from leadline.store.lake.bulk import Rows
from leadline.store.lake.rows import documents
from leadline.store.plan import Condition
from leadline.store.scope import EVERYTHING

BATCH = 5000


def in_utc(con: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    con.execute("SET TimeZone = 'UTC'")
    return con


@dataclass(frozen=True, slots=True)
class Written:
    inserted: int
    updated: int
    unchanged: int
    rejected: int = 0  # by the store: a reader's mistake, not the file's


class Sink(Protocol):
    def put(self, documents: list[Document], mode: Mode = "replace") -> Outcome: ...

    def scan(
        self, dataset: str, where: Sequence[Condition], start: datetime, end: datetime | None
    ) -> Iterator[list[Document]]:
        """
        What is stored already.
        """
        ...

    def connection(self) -> duckdb.DuckDBPyConnection: ...

    def write(
        self,
        con: duckdb.DuckDBPyConnection,
        dataset: str,
        rows: Rows,
        after: Callable[[], object] = tuple,
    ) -> Written:
        """
        All of ROWS; they may be seen once AFTER has returned.
        """
        ...


class _OfStore:
    """
    What a store does for any reader.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def put(self, documents: list[Document], mode: Mode = "replace") -> Outcome:
        return self._store.write(documents, mode)

    def scan(
        self, dataset: str, where: Sequence[Condition], start: datetime, end: datetime | None
    ) -> Iterator[list[Document]]:
        return self._store.scan(dataset, EVERYTHING, where=where, start=start, end=end)


class LakeSink(_OfStore):
    def __init__(self, store: LakeStore) -> None:
        super().__init__(store)
        self.store = store

    def connection(self) -> duckdb.DuckDBPyConnection:
        return in_utc(self.store.connection())

    def write(
        self,
        con: duckdb.DuckDBPyConnection,
        dataset: str,
        rows: Rows,
        after: Callable[[], object] = tuple,
    ) -> Written:
        counts = self.store.write_rows(con, dataset, rows, after)
        return Written(counts.accepted - counts.updated, counts.updated, counts.duplicate)


class StoreSink(_OfStore):
    """
    Any other store: the same rows as documents, in batches.
    """

    def connection(self) -> duckdb.DuckDBPyConnection:
        return in_utc(duckdb.connect())

    def write(
        self,
        con: duckdb.DuckDBPyConnection,
        dataset: str,
        rows: Rows,
        after: Callable[[], object] = tuple,
    ) -> Written:
        after()
        total = Outcome()
        with ThreadPoolExecutor(1) as sender:  # the next batch is made meanwhile
            sending = sender.submit(Outcome)
            for batch in documents(con, dataset, rows(), BATCH):
                self._sent(sending, total)
                sending = sender.submit(self.put, batch)
            self._sent(sending, total)
        return Written(total.accepted, 0, total.duplicate, len(total.rejected))

    def _sent(self, sending: Future[Outcome], total: Outcome) -> None:
        outcome = sending.result()
        if outcome.kept:
            raise StoreError(f"the store took only part: {outcome.reason}; run it again")
        total.add(outcome)


class DrySink:
    """
    Counts what would be written.
    """

    def put(self, documents: list[Document], mode: Mode = "replace") -> Outcome:
        return Outcome(accepted=len(documents))

    def scan(
        self, dataset: str, where: Sequence[Condition], start: datetime, end: datetime | None
    ) -> Iterator[list[Document]]:
        return iter(())

    def connection(self) -> duckdb.DuckDBPyConnection:
        return in_utc(duckdb.connect())

    def write(
        self,
        con: duckdb.DuckDBPyConnection,
        dataset: str,
        rows: Rows,
        after: Callable[[], object] = tuple,
    ) -> Written:
        row = con.execute(f"SELECT count(*) FROM ({rows()})").fetchone()
        assert row is not None
        return Written(int(row[0]), 0, 0)
