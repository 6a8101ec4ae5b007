"""
People forgotten in the lake: each file that names them is written anew without, in one commit each.

Killed in between, the files that are done stay done; the same call goes on with the others. The
old files lie unused in the folder until `vacuum` takes them, an hour later.
"""

from __future__ import annotations

from datetime import datetime

import duckdb

from leadline.formats import Dataset
from leadline.store.lake.schema import quote
from leadline.store.lake.table import File, Table
from leadline.store.lake.write import copy_out, padded
from leadline.store.people import NUMBER, OTHERS, OWNER, People, is_set, naming, pattern, texts

LEVEL = 9  # zstd: such files are mostly old ones, and read for years
SHAPE = "name VARCHAR, alias VARCHAR, pattern VARCHAR"


def forget(
    con: duckdb.DuckDBPyConnection,
    table: Table,
    people: People,
    before: datetime | None,
    *,
    dry_run: bool,
) -> int:
    """
    How many documents were, or would be, changed or deleted.
    """
    if not (fields := naming(table.dataset.name)):
        return 0
    _load(con, people)
    try:
        matching = " OR ".join(f"{quote(f)} IN (SELECT name FROM people)" for f in fields)
        if before is not None:
            matching = f"({matching}) AND \"@timestamp\" < TIMESTAMPTZ '{before.isoformat()}'"
        return _all_files(con, table, matching, dry_run=dry_run)
    finally:
        con.execute("DROP TABLE IF EXISTS people; DROP TABLE IF EXISTS numbers")


def _load(con: duckdb.DuckDBPyConnection, people: People) -> None:
    con.execute(f"CREATE OR REPLACE TEMP TABLE people ({SHAPE})")
    con.execute("CREATE OR REPLACE TEMP TABLE numbers (id VARCHAR, alias VARCHAR)")
    rows = [(name, alias, pattern(name)) for name, alias in people.aliases.items()]
    con.executemany("INSERT INTO people VALUES (?, ?, ?)", rows)
    if people.ids:
        con.executemany("INSERT INTO numbers VALUES (?, ?)", list(people.ids.items()))


def _all_files(
    con: duckdb.DuckDBPyConnection, table: Table, matching: str, *, dry_run: bool
) -> int:
    """
    Until a look at the table finds no file that was merged into another meanwhile.
    """
    count, done, moved = 0, set[str](), True
    while moved:
        moved = False
        for file in table.files():
            if file.path in done:
                continue
            found = _file(con, table, file, matching, dry_run=dry_run)
            if found is None:
                moved = True
            else:
                done.add(file.path)
                count += found
    return count


def _file(
    con: duckdb.DuckDBPyConnection, table: Table, file: File, matching: str, *, dry_run: bool
) -> int | None:
    """
    How many of its documents it concerns; None: it went while it was written anew.

    Files never change, so only the commit needs the lock: writers do not wait for the rest.
    """
    source = padded(table, [table.path(file)])
    row = con.execute(f"SELECT count(*) FROM {source} WHERE {matching}").fetchone()
    assert row is not None
    if not row[0] or dry_run:
        return int(row[0])
    select = changed(table.dataset, source, matching)
    left = con.execute(f"SELECT count(*) FROM ({select})").fetchone()
    assert left is not None
    written = [copy_out(con, table, select, file.month, LEVEL)] if left[0] else []
    with table.locked():
        if file.path in {live.path for live in table.files()}:
            table.commit(written, [file])
            return int(row[0])
    for new in written:
        (table.folder / new.path).unlink()
    return None


def changed(dataset: Dataset, source: str, matching: str) -> str:
    """
    `People.changed` in SQL, over the rows of SOURCE; rows that do not match pass as they are.
    """
    columns = dict.fromkeys(field.name for field in dataset.fields)
    written = {name: f"t.{quote(name)}" for name in columns}
    joins = []
    for place, name in enumerate(other for other in OTHERS if other in columns):
        alias = f"o{place}"
        joins.append(f"LEFT JOIN people AS {alias} ON t.hit AND t.{quote(name)} = {alias}.name")
        written[name] = (
            f"CASE WHEN {alias}.name IS NULL THEN t.{quote(name)} ELSE {alias}.alias END"
        )
    if OWNER in columns:
        joins.append(f"LEFT JOIN people AS p ON t.hit AND t.{quote(OWNER)} = p.name")
        written[OWNER] = f"coalesce(p.alias, t.{quote(OWNER)})"
        for name in texts(dataset):
            written[name] = (
                f"CASE WHEN p.name IS NULL THEN t.{quote(name)} ELSE {_text(dataset, name)} END"
            )
    if NUMBER in columns:
        joins.append(f"LEFT JOIN numbers AS n ON p.name IS NOT NULL AND t.{quote(NUMBER)} = n.id")
        written[NUMBER] = f"coalesce(n.alias, t.{quote(NUMBER)})"
    picked = ", ".join(f"{value} AS {quote(name)}" for name, value in written.items())
    gone = "WHERE p.name IS NULL OR p.alias IS NOT NULL" if OWNER in columns else ""
    rows = f"(SELECT *, coalesce({matching}, false) AS hit FROM {source})"
    return f"SELECT {picked} FROM {rows} AS t {' '.join(joins)} {gone}"


def _text(dataset: Dataset, name: str) -> str:
    column = f"t.{quote(name)}"
    if is_set(dataset, name):
        each = f"[regexp_replace(x, p.pattern, p.alias, 'g') FOR x IN {column}]"
        return f"list_sort(list_distinct({each}))"
    return f"regexp_replace({column}, p.pattern, p.alias, 'g')"
