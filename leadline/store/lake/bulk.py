"""
The bulk way into a table, for readers that are SQL: no document is ever made.

Rows that nobody has seen before go from the reader's own SELECT straight into their months' files,
with only the columns it fills. Where some are known, all are laid out in a temporary table first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Protocol

import duckdb

from leadline.errors import StoreError
from leadline.store.lake.schema import empty_rows
from leadline.store.lake.table import Table
from leadline.store.lake.write import (
    Batch,
    Counts,
    copy_select,
    create_rows,
    key_of,
    look_at,
    month_end,
    overlapping,
    replace_rows,
    same_key,
    stored_keys,
)

DAY = 86400 * 1_000_000


class Rows(Protocol):
    """
    The rows of a reader as a SELECT of the dataset's columns, those that are empty left out.
    """

    def __call__(self, first: datetime | None = None, end: datetime | None = None) -> str:
        """
        With bounds only the rows whose @timestamp is in [FIRST, END).
        """
        ...


@dataclass(frozen=True, slots=True)
class Look:
    batch: Batch
    months: list[str]
    known: int  # rows whose key is stored
    newer: int  # of those: the stored version is an older one


def write_bulk(
    con: duckdb.DuckDBPyConnection, table: Table, rows: Rows, after: Callable[[], object]
) -> Counts:
    """
    Rows into the table; only greater versions replace. AFTER returns when they may be seen.
    """
    with table.locked():
        table.prepare()
        look = _look(con, table, rows)
        if look is None or (look.known == look.batch.rows and not look.newer):
            after()
            return Counts(0, look.batch.rows if look else 0)
        if look.known or look.batch.keys < look.batch.rows:
            after()
            return _sort_out(con, table, f"({rows()})", look)
        return _write_new(con, table, rows, look, after)


def _look(con: duckdb.DuckDBPyConnection, table: Table, rows: Rows) -> Look | None:
    """
    Keys are told apart by a hash: two that fall together only cost the longer way.
    """
    found = con.execute(
        "SELECT count(*), min(moment), max(moment), count(DISTINCT key),"
        f" list(DISTINCT moment // {DAY}) FROM (SELECT"
        f' epoch_us("@timestamp") AS moment, hash({key_of(table)}) AS key FROM ({rows()}))'
    ).fetchone()
    assert found is not None
    count, first, last, distinct, days = found
    if not count:
        return None
    epoch = datetime.fromtimestamp(0, UTC)
    span = (epoch + timedelta(microseconds=first), epoch + timedelta(microseconds=last))
    batch = Batch(count, distinct, *span)
    months = sorted({f"{epoch + timedelta(days=day):%Y-%m}" for day in days})
    return Look(batch, months, *_known(con, table, batch, rows))


def _known(
    con: duckdb.DuckDBPyConnection, table: Table, batch: Batch, rows: Rows
) -> tuple[int, int]:
    """
    How many rows have a key that is stored, and of those how many are newer than what is.

    Only the time that stored files and the batch share is looked at: a file that grows shares
    little of it with its past.
    """
    files = overlapping(table, batch)
    if not files:
        return 0, 0
    first = max(batch.first, min(file.first for file in files))
    last = min(batch.last, max(file.last for file in files))
    shared = replace(batch, first=first, last=last)
    older = 's."record.version" < coalesce(b."record.version", 0)'
    row = con.execute(
        f"SELECT count(*), count(*) FILTER ({older})"
        f" FROM ({rows(first, last + timedelta(seconds=1))}) AS b"
        f" JOIN {stored_keys(table, shared, files, files=True)} AS s ON {same_key(table)}"
    ).fetchone()
    assert row is not None
    return row[0], row[1]


def _write_new(
    con: duckdb.DuckDBPyConnection,
    table: Table,
    rows: Rows,
    look: Look,
    after: Callable[[], object],
) -> Counts:
    """
    Rows stay in the order they come in, which is nearly that of time; merging sorts them.
    """
    written = []
    for month in look.months:
        bounds = (datetime.fromisoformat(f"{month}-01T00:00:00+00:00"), month_end(month))
        select = rows() if len(look.months) == 1 else rows(*bounds)
        written.append(copy_select(con, table, select, month))
    count = sum(file.rows for file in written)
    if count != look.batch.rows:
        raise StoreError(f"{table.folder}: {count} of {look.batch.rows} rows fell into a month")
    after()
    table.commit(written)
    return Counts(count, 0)


def _sort_out(con: duckdb.DuckDBPyConnection, table: Table, source: str, look: Look) -> Counts:
    con.execute(
        "CREATE OR REPLACE TEMP TABLE batch AS"
        f" SELECT * EXCLUDE (month) FROM {empty_rows(table.dataset.name)}"
        f" UNION ALL BY NAME SELECT * FROM {source}"
    )
    try:
        if not look.newer:
            created = create_rows(con, table, look.batch, ordered=False)
            return Counts(created, look.batch.rows - created)
        return _newer(con, table, look.batch)
    finally:
        con.execute("DROP TABLE IF EXISTS batch; DROP TABLE IF EXISTS fresh")


def _newer(con: duckdb.DuckDBPyConnection, table: Table, batch: Batch) -> Counts:
    """
    What is stored in the same version stays untouched.
    """
    con.execute(
        "CREATE OR REPLACE TEMP TABLE older AS SELECT b.* FROM batch AS b"
        f" SEMI JOIN {stored_keys(table, batch, overlapping(table, batch), files=True)} AS s"
        f' ON {same_key(table)} AND s."record.version" < coalesce(b."record.version", 0)'
    )
    created = create_rows(con, table, batch)
    con.execute("DROP TABLE batch; ALTER TABLE older RENAME TO batch")
    corrected = look_at(con, table)
    assert corrected is not None
    updated = corrected.rows
    replace_rows(con, table, corrected)
    return Counts(created + updated, batch.rows - created - updated, updated)
