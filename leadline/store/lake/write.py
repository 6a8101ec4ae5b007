"""
Batches into a table: each document once, the greatest version of it, all or nothing.

A batch is loaded into a temporary table of its own, compared with the rows of its time range
under the table's lock, written as Parquet and committed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import duckdb

from leadline.store.contract import Mode
from leadline.store.lake.folder import sync
from leadline.store.lake.schema import PARTITION, json_rows, literal, quote
from leadline.store.lake.table import File, Table, Written

LIVE_LEVEL = 1  # zstd: new rows are written once more when files are merged
ROW_GROUP = 122_880


@dataclass(frozen=True, slots=True)
class Counts:
    accepted: int
    duplicate: int


def write_lines(
    con: duckdb.DuckDBPyConnection, table: Table, lines: bytes, staging: Path, mode: Mode
) -> Counts:
    """
    NDJSON documents of one dataset, checked before, into the table.
    """
    with tempfile.NamedTemporaryFile(dir=staging, suffix=".ndjson") as file:
        file.write(lines)
        file.flush()
        source = json_rows(table.dataset.name, file.name)
        return write_rows(con, table, source, mode)


def write_rows(con: duckdb.DuckDBPyConnection, table: Table, source: str, mode: Mode) -> Counts:
    """
    The rows of SOURCE, a FROM clause with the dataset's columns, into the table.
    """
    con.execute(
        "CREATE OR REPLACE TEMP TABLE batch AS SELECT *, row_number() OVER () AS place,"
        f" strftime(\"@timestamp\", '%Y-%m') AS {PARTITION} FROM {source}"
    )
    try:
        total = _one(con, "SELECT count(*) FROM batch")
        if total == 0:
            return Counts(0, 0)
        with table.locked():
            table.prepare()
            rivals = _overlapping(con, table)
            accepted = (_replace if mode == "replace" else _create)(con, table, rivals)
        return Counts(accepted, total - accepted)
    finally:
        con.execute("DROP TABLE IF EXISTS batch; DROP TABLE IF EXISTS fresh")


def read(paths: Iterable[str], extra: str = "") -> str:
    """
    A FROM clause over Parquet files, some of which may be from before a column was added.
    """
    listed = ", ".join(literal(path) for path in paths)
    return f"read_parquet([{listed}], union_by_name = true, hive_partitioning = true{extra})"


def copy_out(
    con: duckdb.DuckDBPyConnection, table: Table, select: str, month: str, level: int
) -> Written:
    """
    Write SELECT's rows, all of one month, as a sorted Parquet file that is safe on disk.
    """
    folder = table.folder / f"{PARTITION}={month}"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{uuid4().hex}.parquet"
    order = ", ".join(quote(name) for name in table.dataset.sort)
    names = ", ".join(quote(field.name) for field in table.dataset.fields)
    rows = con.execute(
        f"COPY (SELECT {names} FROM ({select}) ORDER BY {order}) TO {literal(str(path))}"
        f" (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL {level}, PARQUET_VERSION v2,"
        f" ROW_GROUP_SIZE {ROW_GROUP}, RETURN_STATS)"
    ).fetchall()
    sync(path)
    sync(folder)
    return Written.from_copy(table.folder, rows[0])


def months_of(con: duckdb.DuckDBPyConnection, relation: str) -> list[str]:
    found = con.execute(f"SELECT DISTINCT {PARTITION} FROM {relation} ORDER BY 1").fetchall()
    return [row[0] for row in found]


def _create(con: duckdb.DuckDBPyConnection, table: Table, rivals: Sequence[File]) -> int:
    first = f"row_number() OVER (PARTITION BY {_keys(table)} ORDER BY place) = 1"
    known = f" ANTI JOIN {_stored(con, table, rivals)} AS s ON {_same_key(table)}" if rivals else ""
    con.execute(
        f"CREATE OR REPLACE TEMP TABLE fresh AS SELECT * FROM batch AS b{known} QUALIFY {first}"
    )
    written = [
        copy_out(
            con,
            table,
            f"SELECT * FROM fresh WHERE {PARTITION} = {literal(month)}",
            month,
            LIVE_LEVEL,
        )
        for month in months_of(con, "fresh")
    ]
    if written:
        table.commit(written)
    return sum(file.rows for file in written)


def _replace(con: duckdb.DuckDBPyConnection, table: Table, rivals: Sequence[File]) -> int:
    """
    Each row is held against the greatest version before it, stored or in the batch itself.
    """
    version = 'coalesce("record.version", 0)'
    before = (
        f"max({version}) OVER (PARTITION BY {_keys(table)} ORDER BY place"
        " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    )
    stored, join = "NULL", ""
    if rivals:
        stored = 's."record.version"'
        join = f" LEFT JOIN {_stored(con, table, rivals, files=True)} AS s ON {_same_key(table)}"
    con.execute(
        f"CREATE OR REPLACE TEMP TABLE fresh AS SELECT * FROM (SELECT b.*,"
        f" {'s.filename' if rivals else 'NULL::VARCHAR'} AS old_file FROM"
        f" (SELECT *, {before} AS before FROM batch) AS b{join}"
        f' WHERE coalesce(b."record.version", 0) >= coalesce(greatest(b.before, {stored}), 0))'
    )
    accepted = _one(con, "SELECT count(*) FROM fresh")
    if accepted:
        _swap(con, table, rivals)
    return accepted


def _swap(con: duckdb.DuckDBPyConnection, table: Table, rivals: Sequence[File]) -> None:
    """
    Write the touched files anew without the rows that are replaced, and the new rows with them.
    """
    found = con.execute("SELECT DISTINCT old_file FROM fresh WHERE old_file IS NOT NULL").fetchall()
    touched = {row[0] for row in found}
    old = [file for file in rivals if table.path(file) in touched]
    last = f"row_number() OVER (PARTITION BY {_keys(table)} ORDER BY place DESC) = 1"
    names = ", ".join(quote(field.name) for field in table.dataset.fields)
    written = []
    for month in months_of(con, "fresh"):
        select = f"SELECT {names} FROM fresh WHERE {PARTITION} = {literal(month)} QUALIFY {last}"
        paths = [table.path(file) for file in old if file.month == month]
        if paths:
            select += (
                f" UNION ALL BY NAME SELECT b.* EXCLUDE ({PARTITION}) FROM {read(paths)} AS b"
                f" ANTI JOIN fresh AS s ON {_same_key(table)}"
            )
        written.append(copy_out(con, table, select, month, LIVE_LEVEL))
    table.commit(written, old)


def _overlapping(con: duckdb.DuckDBPyConnection, table: Table) -> list[File]:
    row = con.execute(
        'SELECT min(epoch_us("@timestamp")), max(epoch_us("@timestamp")) FROM batch'
    ).fetchone()
    assert row is not None
    return [
        file
        for file in table.files()
        if file.last.timestamp() * 1e6 >= row[0] - 1e3
        and file.first.timestamp() * 1e6 <= row[1] + 1e3
    ]


def _stored(
    con: duckdb.DuckDBPyConnection, table: Table, rivals: Sequence[File], *, files: bool = False
) -> str:
    """
    The keys (and versions) of stored rows in the batch's time range.
    """
    row = con.execute(
        'SELECT min("@timestamp")::VARCHAR, max("@timestamp")::VARCHAR FROM batch'
    ).fetchone()
    assert row is not None
    names = [quote(name) for name in table.dataset.key]
    if files:
        names += ['coalesce("record.version", 0) AS "record.version"', "filename"]
    source = read((table.path(file) for file in rivals), ", filename = true" if files else "")
    return (
        f'(SELECT {", ".join(names)} FROM {source} WHERE "@timestamp"'
        f" BETWEEN TIMESTAMPTZ {literal(row[0])} AND TIMESTAMPTZ {literal(row[1])})"
    )


def _keys(table: Table) -> str:
    return ", ".join(quote(name) for name in table.dataset.key)


def _same_key(table: Table) -> str:
    """
    Rows are the same where every part of the key is, absent parts included.
    """
    return " AND ".join(
        f"b.{quote(name)} IS NOT DISTINCT FROM s.{quote(name)}" for name in table.dataset.key
    )


def _one(con: duckdb.DuckDBPyConnection, statement: str) -> int:
    row = con.execute(statement).fetchone()
    assert row is not None
    return int(row[0])
