"""
Batches into a table: each document once, the greatest version of it, all or nothing.

A batch is loaded into a temporary table of its own, compared with the rows of its time range
under the table's lock, written as Parquet and committed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import duckdb

from leadline.store.contract import Mode
from leadline.store.lake.folder import sync
from leadline.store.lake.schema import PARTITION, empty_rows, json_rows, literal, quote
from leadline.store.lake.table import File, Table, Written

LIVE_LEVEL = 1  # zstd: new rows are written once more when files are merged
ROW_GROUP = 122_880
MONTH = "strftime(\"@timestamp\", '%Y-%m')"


@dataclass(frozen=True, slots=True)
class Counts:
    accepted: int
    duplicate: int
    updated: int = 0  # of those accepted: they took the place of an older version


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
    con.execute(f"CREATE OR REPLACE TEMP TABLE batch AS SELECT * FROM {source}")
    try:
        batch = look_at(con, table)
        if batch is None:
            return Counts(0, 0)
        with table.locked():
            table.prepare()
            accepted = (replace_rows if mode == "replace" else create_rows)(con, table, batch)
        return Counts(accepted, batch.rows - accepted)
    finally:
        con.execute("DROP TABLE IF EXISTS batch; DROP TABLE IF EXISTS fresh")


@dataclass(frozen=True, slots=True)
class Batch:
    """
    What there is to know about the temporary table `batch` before it is compared with the store.
    """

    rows: int
    keys: int  # distinct ones
    first: datetime
    last: datetime

    @property
    def span(self) -> str:
        """
        Its time range in SQL, the ends included.
        """
        first, last = (literal(moment.isoformat()) for moment in (self.first, self.last))
        return f'"@timestamp" BETWEEN TIMESTAMPTZ {first} AND TIMESTAMPTZ {last}'

    def months(self, con: duckdb.DuckDBPyConnection, relation: str) -> list[str]:
        if f"{self.first:%Y-%m}" == f"{self.last:%Y-%m}":
            return [f"{self.first:%Y-%m}"]
        found = con.execute(f"SELECT DISTINCT {MONTH} FROM {relation} ORDER BY 1").fetchall()
        return [row[0] for row in found]


def look_at(con: duckdb.DuckDBPyConnection, table: Table) -> Batch | None:
    found = con.execute(
        'SELECT count(*), min(epoch_us("@timestamp")), max(epoch_us("@timestamp")),'
        f" (SELECT count(*) FROM (SELECT DISTINCT {key_of(table)} FROM batch)) FROM batch"
    ).fetchone()
    assert found is not None
    rows, first, last, keys = found
    if not rows:
        return None
    epoch = datetime.fromtimestamp(0, UTC)
    return Batch(
        rows, keys, epoch + timedelta(microseconds=first), epoch + timedelta(microseconds=last)
    )


def read(paths: Iterable[str], extra: str = "") -> str:
    """
    A FROM clause over Parquet files, some of which may be from before a column was added.
    """
    listed = ", ".join(literal(path) for path in paths)
    return f"read_parquet([{listed}], union_by_name = true, hive_partitioning = true{extra})"


def even(paths: Iterable[str]) -> str:
    """
    A FROM clause over Parquet files that all have the columns asked for: the statement is refused
    where one has not. To look for every column in every file costs more than a small question.
    """
    return f"read_parquet([{', '.join(literal(path) for path in paths)}])"


def padded(table: Table, paths: Iterable[str]) -> str:
    """
    A FROM clause over Parquet files with every column of the dataset: what no file has is NULL.
    """
    return f"({empty_rows(table.dataset.name)} UNION ALL BY NAME SELECT * FROM {read(paths)})"


def copy_out(
    con: duckdb.DuckDBPyConnection,
    table: Table,
    select: str,
    month: str,
    level: int,
    *,
    ordered: bool = True,
) -> Written:
    """
    Write SELECT's rows, all of one month, as a sorted Parquet file with every column.
    """
    order = ", ".join(quote(name) for name in table.dataset.sort)
    sort = f" ORDER BY {order}" if ordered else ""
    names = ", ".join(quote(field.name) for field in table.dataset.fields)
    return copy_select(con, table, f"SELECT {names} FROM ({select}){sort}", month, level)


def copy_select(
    con: duckdb.DuckDBPyConnection, table: Table, select: str, month: str, level: int = LIVE_LEVEL
) -> Written:
    """
    A SELECT of one month's rows as a Parquet file that is safe on disk.
    """
    folder = table.folder / f"{PARTITION}={month}"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{uuid4().hex}.parquet"
    rows = con.execute(
        f"COPY ({select}) TO {literal(str(path))}"
        f" (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL {level}, PARQUET_VERSION v2,"
        f" ROW_GROUP_SIZE {ROW_GROUP}, RETURN_STATS)"
    ).fetchall()
    sync(path)
    sync(folder)
    return Written.from_copy(table.folder, rows[0])


def month_end(month: str) -> datetime:
    first = datetime.strptime(month, "%Y-%m").replace(tzinfo=UTC)
    return (first + timedelta(days=32)).replace(day=1)


def create_rows(
    con: duckdb.DuckDBPyConnection, table: Table, batch: Batch, *, ordered: bool = True
) -> int:
    """
    Only row numbers are compared and sorted out; rows are copied once, into their file.
    """
    chosen = []
    if batch.keys < batch.rows:
        chosen.append(f"rowid IN (SELECT min(rowid) FROM batch GROUP BY {key_of(table)})")
    if rivals := overlapping(table, batch):
        con.execute(
            f"CREATE OR REPLACE TEMP TABLE fresh AS SELECT b.rowid AS place FROM batch AS b"
            f" SEMI JOIN {stored_keys(table, batch, rivals)} AS s ON {same_key(table)}"
        )
        if _one(con, "SELECT count(*) FROM fresh"):
            chosen.append("rowid NOT IN (SELECT place FROM fresh)")
    relation = f"(SELECT * FROM batch WHERE {' AND '.join(chosen) or 'true'})"
    if chosen and not _one(con, f"SELECT count(*) FROM {relation}"):
        return 0
    months = batch.months(con, relation)
    written = [
        copy_out(con, table, _of_month(relation, month, months), month, LIVE_LEVEL, ordered=ordered)
        for month in months
    ]
    table.commit(written)
    return sum(file.rows for file in written)


def _of_month(relation: str, month: str, months: Sequence[str]) -> str:
    """
    Instants are compared: cheaper than writing each as text.
    """
    if len(months) == 1:
        return f"SELECT * FROM {relation}"
    end = literal(month_end(month).isoformat())
    span = f"\"@timestamp\" >= TIMESTAMPTZ '{month}-01 00:00:00+00'"
    return f'SELECT * FROM {relation} WHERE {span} AND "@timestamp" < TIMESTAMPTZ {end}'


def replace_rows(con: duckdb.DuckDBPyConnection, table: Table, batch: Batch) -> int:
    """
    Each row is held against the greatest version before it, stored or in the batch itself.
    """
    version = _version(table)
    before = (
        f"max({version}) OVER (PARTITION BY {key_of(table)} ORDER BY rowid"
        " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    )
    stored, join, old_file = "NULL", "", "NULL::VARCHAR"
    if rivals := overlapping(table, batch):
        stored, old_file = 's."record.version"', "s.filename"
        join = (
            f" LEFT JOIN {stored_keys(table, batch, rivals, files=True)} AS s ON {same_key(table)}"
        )
    con.execute(
        f"CREATE OR REPLACE TEMP TABLE fresh AS SELECT b.place, {old_file} AS old_file,"
        f" {key_of(table, 'b.')} FROM (SELECT {key_of(table)}, {version} AS version,"
        f" rowid AS place, {before if batch.keys < batch.rows else 'NULL'} AS before"
        f" FROM batch) AS b{join}"
        f" WHERE b.version >= coalesce(greatest(b.before, {stored}), 0)"
    )
    accepted = _one(con, "SELECT count(*) FROM fresh")
    if accepted:
        _swap(con, table, batch, rivals)
    return accepted


def _swap(
    con: duckdb.DuckDBPyConnection, table: Table, batch: Batch, rivals: Sequence[File]
) -> None:
    """
    Write the touched files anew without the rows that are replaced, and the new rows with them.
    """
    found = con.execute("SELECT DISTINCT old_file FROM fresh WHERE old_file IS NOT NULL").fetchall()
    touched = {row[0] for row in found}
    old = [file for file in rivals if table.path(file) in touched]
    names = ", ".join(quote(field.name) for field in table.dataset.fields)
    last = f"SELECT max(place) FROM fresh GROUP BY {key_of(table)}"
    relation = f"(SELECT {names} FROM batch WHERE rowid IN ({last}))"
    months = batch.months(con, relation)
    written = []
    for month in months:
        select = _of_month(relation, month, months)
        paths = [table.path(file) for file in old if file.month == month]
        if paths:
            select += (
                f" UNION ALL BY NAME SELECT b.* EXCLUDE ({PARTITION})"
                f" FROM {padded(table, paths)} AS b"
                f" ANTI JOIN fresh AS s ON {same_key(table)}"
            )
        written.append(copy_out(con, table, select, month, LIVE_LEVEL))
    table.commit(written, old)


def overlapping(table: Table, batch: Batch) -> list[File]:
    """
    The files that may hold documents of the batch.
    """
    return [file for file in table.files() if file.last >= batch.first and file.first <= batch.last]


def stored_keys(table: Table, batch: Batch, rivals: Sequence[File], *, files: bool = False) -> str:
    """
    The keys (and versions) of stored rows in the batch's time range.
    """
    names = [quote(name) for name in table.dataset.key]
    if files:
        names += [f'{_version(table)} AS "record.version"', "filename"]
    source = read((table.path(file) for file in rivals), ", filename = true" if files else "")
    return f"(SELECT {', '.join(names)} FROM {source} WHERE {batch.span})"


def _version(table: Table) -> str:
    """
    Samples carry no version: whoever replaces one has changed its names, and the last wins.
    """
    known = "record.version" in table.dataset.by_name
    return 'coalesce("record.version", 0)' if known else "0"


def key_of(table: Table, prefix: str = "") -> str:
    return ", ".join(prefix + quote(name) for name in table.dataset.key)


def same_key(table: Table) -> str:
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
