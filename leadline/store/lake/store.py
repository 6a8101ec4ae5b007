"""
The embedded store: Delta tables in one folder, read and written by any number of processes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import orjson
import psutil

from leadline.errors import FormatError, StoreError
from leadline.formats import DATASETS, Document
from leadline.formats.times import format_time
from leadline.formats.validate import check
from leadline.store.contract import (
    DatasetHealth,
    Expired,
    Found,
    Health,
    Hit,
    Mode,
    Outcome,
    Ready,
    counted,
)
from leadline.store.lake.bulk import Rows, write_bulk
from leadline.store.lake.folder import file_system, open_folder
from leadline.store.lake.forget import forget
from leadline.store.lake.log import came_in, from_log, in_log, of_nothing
from leadline.store.lake.rows import as_document, flat_places, shown
from leadline.store.lake.schema import empty_rows, fields_of, quote
from leadline.store.lake.search import FACETS, compile_search
from leadline.store.lake.sql import Query, compile_plan
from leadline.store.lake.table import File, Table
from leadline.store.lake.upkeep import merge_all, merge_small, months_before, vacuum
from leadline.store.lake.write import Counts, even, padded, write_lines
from leadline.store.people import People
from leadline.store.plan import ROWS, Condition, Plan, Row
from leadline.store.scope import Scope
from leadline.store.words import parse

BATCH = 5000
MOST_MEMORY = 4 << 30  # of DuckDB's own; beyond it sorts go to disk


class LakeStore:
    """
    Safe to share between threads and processes; `close` gives the memory back.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        allow_network: bool = False,
        threads: int = 0,
        memory: int = 0,
    ) -> None:
        self.folder = Path(folder).absolute()
        open_folder(self.folder, allow_network=allow_network)
        self.staging = self.folder / ".staging"
        self.staging.mkdir(mode=0o700, exist_ok=True)
        self._tables: dict[str, Table] = {}
        self._uneven: set[str] = set()  # datasets with files from before a column was added
        self._local = threading.local()
        self._database = duckdb.connect()
        self._database.execute("SET TimeZone = 'UTC'; SET parquet_metadata_cache = true")
        self._database.execute("SET temp_directory = $1", [str(self.staging)])
        limit = memory or min(psutil.virtual_memory().total // 4, MOST_MEMORY)
        self._database.execute("SET memory_limit = $1", [f"{limit} B"])
        if threads:
            self._database.execute("SET threads = $1", [threads])

    def write(self, documents: Sequence[Document], mode: Mode) -> Outcome:
        outcome = Outcome()
        by_dataset: dict[str, list[Document]] = {}
        for document in documents:
            name = document.get("dataset")
            if isinstance(name, str) and name in DATASETS and "@timestamp" in document:
                by_dataset.setdefault(name, []).append(document)
            else:
                outcome.rejected.append((document, "dataset or @timestamp: missing or unknown"))
        for name, members in by_dataset.items():
            outcome.add(self._write(name, members, mode))
        return outcome

    def write_ready(self, lines: Iterable[Ready]) -> Outcome:
        outcome = Outcome()
        by_dataset: dict[str, list[Ready]] = {}
        for line in lines:
            by_dataset.setdefault(line.dataset, []).append(line)
        for name, members in by_dataset.items():
            try:
                data = b"\n".join(line.data for line in members) + b"\n"
                counts = self.write_lines(name, data, "create")
            except (duckdb.Error, OSError):  # told apart document by document
                outcome.add(self._write(name, [line.document() for line in members], "create"))
            else:
                outcome.add(Outcome(counts.accepted, counts.duplicate))
        return outcome

    def write_lines(self, dataset: str, lines: bytes, mode: Mode) -> Counts:
        """
        The quick way in for NDJSON that is known to hold checked documents of one dataset.
        """
        table = self.table(dataset)
        con = self._connection()
        counts = write_lines(con, table, lines, self.staging, mode)
        if counts.accepted:
            merge_small(con, table)
        return counts

    def write_rows(
        self,
        con: duckdb.DuckDBPyConnection,
        dataset: str,
        rows: Rows,
        after: Callable[[], object] = tuple,
    ) -> Counts:
        """
        The bulk way in for readers that are SQL, on a connection of `connection()`; only greater
        versions replace. AFTER returns when the rows may be seen.
        """
        return write_bulk(con, self.table(dataset), rows, after)

    def connection(self) -> duckdb.DuckDBPyConnection:
        """
        A connection whose temporary tables `write_rows` can read; close it in the end.
        """
        return self._database.cursor()

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
        scope.allow_documents()
        known = fields_of(dataset)
        names = [name for name in known if fields is None or name in fields]
        query = Query(dataset)
        tail = "".join(_order(order, known))
        tail += f" LIMIT {limit:d}" if limit is not None else ""
        filters = query.filters(where, scope, start, end)

        def statement(source: str) -> str:
            return f"SELECT {shown(dataset, names)} FROM {source} WHERE {filters}{tail}"

        live = partial(self._files, dataset, start, end)
        cursor, rows = self._first(dataset, live, statement, query.values)
        flat = flat_places(dataset, names)
        while rows:
            yield [as_document(names, flat, row) for row in rows]
            rows = cursor.fetchmany(BATCH)
        cursor.close()

    def ask(self, plan: Plan, scope: Scope) -> list[Row]:
        scope.allow_plan(plan)
        if in_log(plan, scope):
            files = self._files(plan.dataset, plan.start, plan.end)
            if (known := from_log(plan, files)) is not None:
                return [known]
        bounds = (plan.start, plan.end) if plan.time == "@timestamp" else (None, None)

        def live() -> list[File]:
            return came_in(plan, self._files(plan.dataset, *bounds))

        if not live():
            return of_nothing(plan)
        names = [group.field for group in plan.by] + [a.name for a in plan.aggregates]
        names += [ROWS] if plan.best and plan.limit is not None else []
        compiled = compile_plan(plan, scope, "{source}")
        rows = self._all(
            plan.dataset, live, lambda s: compiled[0].replace("{source}", s), compiled[1]
        )
        return [dict(zip(names, row, strict=True)) for row in rows]

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
        scope.allow_documents()
        query = Query("process")
        filters = query.filters(where, scope, start, end)
        statement = compile_search(query, parse(text), "{source}", filters, max(limit, 1))
        live = partial(self._files, "process", start, end)
        rows = self._all("process", live, lambda s: statement.replace("{source}", s), query.values)
        if not rows:
            return Found((), 0, counted({}))
        hits = tuple(_hit(row) for row in rows[:limit])
        samples = {name: rows[0][9 + place] or {} for place, name in enumerate(FACETS)}
        return Found(hits, rows[0][8], counted(samples))

    def expire(self, keep: Mapping[str, datetime], *, dry_run: bool) -> list[Expired]:
        gone = []
        for name, dataset in DATASETS.items():
            if (kept_from := keep.get(dataset.family)) is None:
                continue
            table = self.table(name)
            with table.locked():
                months = months_before(table, kept_from)
                if months and not dry_run:
                    table.commit([], [file for files in months.values() for file in files])
            reason = f"{dataset.family} is kept from {format_time(kept_from)[:10]}"
            for month, files in months.items():
                rows, size = sum(f.rows for f in files), sum(f.size for f in files)
                gone.append(Expired(f"{name}/{month}", name, rows, size, reason))
        return sorted(gone, key=lambda expired: expired.name)

    def forget(
        self,
        dataset: str,
        people: People,
        *,
        before: datetime | None = None,
        dry_run: bool,
    ) -> int:
        return forget(self._connection(), self.table(dataset), people, before, dry_run=dry_run)

    def health(self) -> Health:
        datasets = {}
        for name in DATASETS:
            if files := self.table(name).files():
                datasets[name] = DatasetHealth(
                    sum(file.rows for file in files),
                    sum(file.size for file in files),
                    format_time(max(file.last for file in files)),
                    format_time(min(file.first for file in files)),
                )
        there = self.folder.is_dir()
        problems = [] if there else [f"{self.folder} is not there; is its disk mounted?"]
        if there and not file_system(self.folder):
            problems.append("the lake's file system is not known")
        return Health("lake", there, tuple(problems), datasets)

    def compact(self) -> int:
        """
        Merge small files and delete what is long out of use; the chores call this.
        """
        con = self._connection()
        merged = 0
        for name in DATASETS:
            table = self.table(name)
            if table.files():
                merged += merge_all(con, table)
                vacuum(table)
        return merged

    def close(self) -> None:
        self._database.close()

    def table(self, dataset: str) -> Table:
        """
        The table of a dataset, whether or not anything was written to it.
        """
        if dataset not in DATASETS:
            raise StoreError(f"no dataset {dataset!r}; there are {', '.join(DATASETS)}")
        return self._tables.setdefault(dataset, Table(self.folder, DATASETS[dataset]))

    def _write(self, name: str, documents: list[Document], mode: Mode) -> Outcome:
        known = fields_of(name)
        if not set().union(*documents) <= known.keys():
            documents = [check(dict(document)) for document in documents]
        lines = b"".join(orjson.dumps(d, option=orjson.OPT_APPEND_NEWLINE) for d in documents)
        try:
            counts = self.write_lines(name, lines, mode)
        except (duckdb.ConversionException, duckdb.InvalidInputException) as error:
            return self._write_halves(name, documents, mode, error)
        except (OSError, duckdb.IOException, duckdb.OutOfMemoryException) as error:
            return Outcome(kept=documents, reason=_one_line(error), pause=True)
        return Outcome(counts.accepted, counts.duplicate)

    def _write_halves(
        self, name: str, documents: list[Document], mode: Mode, error: Exception
    ) -> Outcome:
        """
        Somewhere in the batch is a value its column cannot hold: find it, keep the rest.
        """
        if len(documents) == 1:
            try:
                check(dict(documents[0]))
            except FormatError as reason:
                error = reason
            return Outcome(rejected=[(documents[0], _one_line(error))])
        middle = len(documents) // 2
        outcome = self._write(name, documents[:middle], mode)
        outcome.add(self._write(name, documents[middle:], mode))
        return outcome

    def _source(self, dataset: str, files: Sequence[File]) -> str:
        table = self.table(dataset)
        paths = [table.path(file) for file in files]
        if not paths:
            return empty_rows(dataset)
        return padded(table, paths) if dataset in self._uneven else even(paths)

    def _files(self, dataset: str, start: datetime | None, end: datetime | None) -> list[File]:
        return [
            file
            for file in self.table(dataset).files()
            if (start is None or file.last >= start) and (end is None or file.first < end)
        ]

    def _all(
        self,
        dataset: str,
        live: Callable[[], Sequence[File]],
        statement: Callable[[str], str],
        values: list[object],
    ) -> list[tuple[Any, ...]]:
        cursor, rows = self._first(dataset, live, statement, values, None)
        cursor.close()
        return rows

    def _first(
        self,
        dataset: str,
        live: Callable[[], Sequence[File]],
        statement: Callable[[str], str],
        values: list[object],
        size: int | None = BATCH,
    ) -> tuple[duckdb.DuckDBPyConnection, list[tuple[Any, ...]]]:
        """
        Run a statement over the live files; once more when one of them was deleted meanwhile, or
        is from before a column was added.
        """
        for left in (2, 1, 0):
            cursor = self._database.cursor()
            try:
                cursor.execute(statement(self._source(dataset, live())), values)
                return cursor, cursor.fetchall() if size is None else cursor.fetchmany(size)
            except duckdb.Error as error:
                cursor.close()
                if not left or not self._once_more(dataset, error):
                    raise StoreError(f"lake {self.folder}: {_one_line(error)}") from error
        raise AssertionError("the last try returns or raises")

    def _once_more(self, dataset: str, error: duckdb.Error) -> bool:
        if isinstance(error, duckdb.IOException):
            return True
        uneven = isinstance(error, duckdb.BinderException | duckdb.InvalidInputException)
        if uneven and dataset not in self._uneven:
            self._uneven.add(dataset)
            return True
        return False

    def _connection(self) -> duckdb.DuckDBPyConnection:
        """
        This thread's own connection: temporary tables live in it.
        """
        if not hasattr(self._local, "con"):
            self._local.con = self._database.cursor()
        con: duckdb.DuckDBPyConnection = self._local.con
        return con


def _order(order: Sequence[str], known: Mapping[str, object]) -> Iterator[str]:
    terms = [
        f"{quote(name.removeprefix('-'))} {'DESC' if name.startswith('-') else 'ASC'} NULLS LAST"
        for name in order
        if name.removeprefix("-") in known
    ]
    if terms:
        yield f" ORDER BY {', '.join(terms)}"


def _hit(row: tuple[Any, ...]) -> Hit:
    line, matched, hours, samples, first, last, users, programs, *_ = row
    return Hit(
        line, matched, hours, samples, first, last, tuple(users or ()), tuple(programs or ())
    )


def _one_line(error: BaseException) -> str:
    return str(error).strip().split("\n", 1)[0][:300]
