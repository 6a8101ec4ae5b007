"""
What keeps a table small and quick: files merged, old months taken away, dead files deleted.

Files of one month are merged by size class, so that a row is written a handful of times in its
life and not each time its neighbours come in. Merging reads files that never change, so only
the commit needs the lock; when one of them has gone meanwhile, the merged file is dropped.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import groupby
from pathlib import Path

import duckdb

from leadline.store.lake.folder import locked
from leadline.store.lake.table import File, Table
from leadline.store.lake.write import copy_out, month_end, padded

MERGED_AT = 8  # so many files of one size class become one
LARGEST = 4_000_000  # rows of a merged file
INLINE = 200_000  # rows a writer merges itself; more is left to the chores
UNUSED_FOR = 3600  # seconds a file outside the table is left to slow readers
KEPT_LEVEL = 9  # zstd: merged files are read for years


def merge_small(con: duckdb.DuckDBPyConnection, table: Table) -> int:
    """
    What a writer does after each batch: merge a size class that is full and cheap to merge.
    """
    return _merge(
        con,
        table,
        (
            files
            for files in _full_classes(table.files())
            if sum(file.rows for file in files) <= INLINE
        ),
    )


def merge_all(con: duckdb.DuckDBPyConnection, table: Table) -> int:
    """
    What the chores do: in each month, neighbours in time up to the largest size.
    """
    return _merge(con, table, _neighbours(table.files()))


def vacuum(table: Table, now: float | None = None) -> int:
    """
    Delete files that are not in the table and have not been touched for an hour.
    """
    limit = (time.time() if now is None else now) - UNUSED_FOR
    live = {table.path(file) for file in table.files()}
    deleted = 0
    for path in table.folder.glob("month=*/*"):
        if str(path) not in live and _touched(path) < limit:
            path.unlink(missing_ok=True)
            deleted += 1
    return deleted


def months_before(table: Table, moment: datetime) -> dict[str, list[File]]:
    """
    The months that end before MOMENT, with their files.
    """
    by_month: dict[str, list[File]] = {}
    for file in table.files():
        if month_end(file.month) <= moment:
            by_month.setdefault(file.month, []).append(file)
    return dict(sorted(by_month.items()))


def _merge(con: duckdb.DuckDBPyConnection, table: Table, groups: Iterable[list[File]]) -> int:
    merged = 0
    with locked(table.folder.parent / f"{table.dataset.name}.merge.lock", wait=False) as mine:
        if not mine:
            return 0
        for files in groups:
            paths = [table.path(file) for file in files]
            large = sum(file.rows for file in files) > INLINE
            level = KEPT_LEVEL if large else 1
            written = copy_out(
                con, table, f"SELECT * FROM {padded(table, paths)}", files[0].month, level
            )
            with table.locked():
                if set(paths) <= {table.path(file) for file in table.files()}:
                    table.commit([written], files)
                    merged += len(files)
                else:
                    (table.folder / written.path).unlink()
    return merged


def _full_classes(files: list[File]) -> Iterator[list[File]]:
    for _, month in groupby(sorted(files, key=_place), key=lambda file: file.month):
        classes: dict[int, list[File]] = {}
        for file in month:
            classes.setdefault(int(math.log(max(file.rows, 1), MERGED_AT)), []).append(file)
        for members in classes.values():
            if len(members) >= MERGED_AT:
                yield members


def _neighbours(files: list[File]) -> Iterator[list[File]]:
    for _, month in groupby(sorted(files, key=_place), key=lambda file: file.month):
        group: list[File] = []
        for file in month:
            if group and sum(member.rows for member in group) + file.rows > LARGEST:
                if len(group) > 1:
                    yield group
                group = []
            group.append(file)
        if len(group) > 1:
            yield group


def _place(file: File) -> tuple[str, datetime]:
    return file.month, file.first


def _touched(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:  # another process was quicker
        return math.inf
