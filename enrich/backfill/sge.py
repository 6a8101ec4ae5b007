"""
Grid Engine's accounting file, of any generation and any size, slice by slice.

While one slice's runs and days are written, each over a connection of its own, the next are parsed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path
from typing import Any
from uuid import uuid4

import duckdb

from enrich.backfill import sge_sql as sql
from enrich.backfill.files import Slice, Source
from enrich.backfill.options import EARLIEST, LATEST, Options
from enrich.backfill.seen import Place, Seen
from enrich.backfill.sge_lines import NAMES, read_record
from enrich.backfill.sge_parse import SEPARATOR, Parser
from enrich.backfill.sge_runs import Runs
from enrich.backfill.sink import Sink
from enrich.backfill.tally import Rejects, Tally
from leadline.errors import FormatError

SLICE = 64 << 20
TABLES = ("one_slice", "another", "and_another")  # being parsed, waiting, being written
PATIENCE = 86400  # a slave's record waits so long for its master's, by the file's own clock


def _quiet(position: int) -> None:
    """
    Nobody watches.
    """


def build(sink: Sink, options: Options, rejects: Rejects, staging: Path) -> SgeReader:
    return SgeReader(sink, options, rejects, staging)


def recognise(head: bytes) -> bool:
    """
    An accounting file says so itself, or its first lines are records.
    """
    lines = [line for line in head.split(b"\n")[:20] if line and not line.startswith(b"#")]
    for line in lines[:-1] or lines:
        try:
            read_record(line)
        except FormatError:
            continue
        return True
    return False


class SgeReader:
    """
    Reads files one after the other into a sink.
    """

    def __init__(
        self, sink: Sink, options: Options, rejects: Rejects, staging: Path, size: int = SLICE
    ) -> None:
        self.sink = sink
        self.options = options
        self.tally = Tally()
        self._database = sink.connection()
        self._name = f"sge_{uuid4().hex}"  # for the connections' common tables
        self._database.execute(f"ATTACH ':memory:' AS {self._name}")
        self.con, self._second = self._connect(), self._connect()
        self._reading = self._connect()
        self._parser = Parser(self._reading, options.cluster, staging, rejects, self.tally)
        self._writer, self._days = ThreadPoolExecutor(1), ThreadPoolExecutor(1)
        self._saved: Place | None = None
        self._stopped = False
        self._size = size
        self._clock = 0
        self._now = f"TIMESTAMPTZ '{datetime.now(UTC):%Y-%m-%d %H:%M:%S}+00'"

    def read(self, source: Source, seen: Seen, progress: Callable[[int], None] = _quiet) -> None:
        """
        What is new in a file, saved slice by slice; the next ones are parsed meanwhile.
        """
        place = seen.find(source)
        start, line = (place.position, place.line) if place else (0, 1)
        self.tally.skipped_bytes += start
        waiting = place.waiting if place else ()
        self._clock = 0
        self._parser.load([record.split(SEPARATOR) for record in waiting], "slaves")
        self.tally.read += len(waiting)
        self._saved, self._stopped = place, False
        tables = cycle(TABLES)
        saving: deque[Future[None]] = deque()
        try:
            for piece in source.slices(start, self._size, line=line, whole=self.options.whole):
                if len(saving) == len(TABLES) - 1:
                    saving.popleft().result()
                self._parser.parse(source.name, piece, table := next(tables))
                light = replace(piece, data=b"")
                saving.append(self._writer.submit(self._slice, table, light, seen))
                progress(piece.end)
        finally:
            while saving:
                saving.popleft().result()
        self.tally.waiting += self._count("slaves")

    def close(self) -> None:
        self._writer.shutdown()
        self._days.shutdown()
        for con in (self.con, self._second, self._reading):
            con.close()
        self._database.execute(f"DETACH {self._name}")
        self._database.close()

    def _connect(self) -> duckdb.DuckDBPyConnection:
        con = self._database.cursor()
        con.execute(f"USE {self._name}; SET TimeZone = 'UTC'")
        return con

    def _slice(self, table: str, piece: Slice, seen: Seen) -> None:
        if self._stopped:
            return  # one before it was not stored, and reading has to go on there
        self._stopped = True
        self._choose(table)
        self._store(table, sql.MASTERS)
        self._promote()
        line = piece.line + piece.lines
        self._saved = seen.save(self._saved, piece, line, self._waiting())
        self._stopped = False

    def _choose(self, table: str) -> None:
        """
        Only the time that was asked for, and slaves to where they wait.
        """
        since, until = self.options.since, self.options.until
        if since > 0 or until < LATEST:
            before = self._count(table)
            when = "CASE WHEN end_time > 0 THEN end_time ELSE submission_time END"
            self.con.execute(
                f"DELETE FROM {table} WHERE {when} NOT BETWEEN {since} AND {until - 1}"
            )
            self.tally.outside += before - self._count(table)
        self.con.execute(f"INSERT INTO slaves SELECT * FROM {table} WHERE NOT ({sql.MASTERS})")
        latest = self._rows(f"SELECT max(end_time) FROM {table}")[0][0]
        self._clock = max(self._clock, latest or 0)

    def _store(self, table: str, where: str) -> None:
        bounds = self._rows(
            "SELECT count(*), min(CASE WHEN start_time > 0 THEN least(start_time, greatest("
            "submission_time, 1)) ELSE submission_time END), max(greatest(end_time,"
            f" submission_time)) FROM {table} WHERE {where}"
        )[0]
        if not bounds[0]:
            return
        slaves = self._count("slaves")
        runs = Runs(
            cluster=self.options.cluster,
            zone=self.options.days,
            table=table,
            where=where,
            first=max(bounds[1], EARLIEST),
            last=bounds[2],
            with_slaves=slaves > 0,
            now=self._now,
        )
        # Days before the run: whoever sees the run sees its hours, whenever this is stopped.
        days = self._days.submit(self.sink.write, self._second, "job_slice", runs.slices)
        counts = self.sink.write(self.con, "job", runs.jobs, days.result)
        self.tally.inserted += counts.inserted
        self.tally.updated += counts.updated
        self.tally.unchanged += counts.unchanged
        if counts.rejected:
            self.tally.rejected["refused by the store"] += counts.rejected
        if slaves:
            self.con.execute(f"DELETE FROM slaves WHERE rowid IN ({runs.merged()})")
            self.tally.merged += slaves - self._count("slaves")

    def _promote(self) -> None:
        """
        A slave whose master's record never came is a run of its own.
        """
        late = f"end_time < {self._clock - PATIENCE}"
        if not self._rows(f"SELECT count(*) FROM slaves WHERE {late}")[0][0]:
            return
        self.con.execute(
            f"CREATE OR REPLACE TABLE late AS SELECT * FROM slaves WHERE {late};"
            f" CREATE OR REPLACE TABLE kept AS SELECT * FROM slaves WHERE NOT ({late});"
            " DELETE FROM slaves"
        )
        self._store("late", "true")
        self.con.execute("INSERT INTO slaves SELECT * FROM kept")

    def _waiting(self) -> tuple[str, ...]:
        names = [name for name in NAMES if name in {*sql.TEXT, *sql.WHOLE, *sql.DECIMAL}]
        columns = ", ".join(f"coalesce({name}::VARCHAR, '0')" for name in names)
        filled = []
        for row in self._rows(f"SELECT {columns} FROM slaves LIMIT 100000"):
            values = dict(zip(names, row, strict=True))
            filled.append(SEPARATOR.join(values.get(name, "0") for name in NAMES))
        return tuple(filled)

    def _count(self, relation: str) -> int:
        return int(self._rows(f"SELECT count(*) FROM {relation}")[0][0])

    def _rows(self, statement: str) -> list[tuple[Any, ...]]:
        return self.con.execute(statement).fetchall()
