"""
Grid Engine's accounting file, of any generation and any size, slice by slice.

DuckDB reads the lines that are simply right; the others go through Python one by one.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from enrich.backfill import sge_sql as sql
from enrich.backfill.files import Slice, Source, ahead
from enrich.backfill.options import EARLIEST, LATEST, Options
from enrich.backfill.seen import Seen
from enrich.backfill.sge_lines import FIELDS, NAMES, OLD, read_record
from enrich.backfill.sge_runs import Runs
from enrich.backfill.sink import Sink
from enrich.backfill.tally import Rejects, Tally
from leadline.errors import FormatError

SLICE = 64 << 20
SEPARATOR = "\x1f"
FORGET_REJECTS = "DROP TABLE IF EXISTS reject_errors; DROP TABLE IF EXISTS reject_scans"
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

    def __init__(self, sink: Sink, options: Options, rejects: Rejects, staging: Path) -> None:
        self.sink = sink
        self.options = options
        self.rejects = rejects
        self.staging = staging
        self.tally = Tally()
        self.con = sink.connection()
        name = f"sge_{uuid4().hex}"  # a place of its own, which both connections see
        self.con.execute(f"ATTACH ':memory:' AS {name}")
        self._second = self.con.cursor()
        for con in (self.con, self._second):
            con.execute(f"USE {name}; SET TimeZone = 'UTC'")
        self._writer = ThreadPoolExecutor(1)
        self._place = name
        self._clock = 0
        self._now = f"TIMESTAMPTZ '{datetime.now(UTC):%Y-%m-%d %H:%M:%S}+00'"

    def read(self, source: Source, seen: Seen, progress: Callable[[int], None] = _quiet) -> None:
        """
        What is new in a file, saved slice by slice.
        """
        place = seen.find(source)
        start, line = (place.position, place.line) if place else (0, 1)
        self.tally.skipped_bytes += start
        waiting = place.waiting if place else ()
        self._clock = 0
        self._load([record.split(SEPARATOR) for record in waiting], "slaves")
        self.tally.read += len(waiting)
        for piece in ahead(source.slices(start, SLICE, line=line, whole=self.options.whole)):
            self._slice(source.name, piece)
            place = seen.save(place, piece, piece.line + piece.lines, self._waiting())
            progress(piece.end)
        self.tally.waiting += self._count("slaves")

    def close(self) -> None:
        self._writer.shutdown()
        self._second.close()
        self.con.execute(f"USE memory; DETACH {self._place}")
        self.con.close()

    def _slice(self, name: str, piece: Slice) -> None:
        unread = self._parse(piece.data)
        self._mend(name, piece, unread)
        self.tally.read += self._count("records")
        self._choose()
        self._store("records", sql.MASTERS)
        self._promote()

    def _parse(self, data: bytes) -> list[int]:
        """
        Usual lines into the table `records`; the numbers of those that are not usual.
        """
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n")
        if b"\0" in data or b"\r" in data:  # DuckDB's parser takes them for something else
            self._load([], "records")
            return list(range(1, data.count(b"\n") + 1))
        with tempfile.NamedTemporaryFile(dir=self.staging, suffix=".csv") as file:
            file.write(data)
            file.flush()
            self.con.execute(FORGET_REJECTS)
            rows = sql.typed(sql.read_slice(file.name, _usual_count(data)))
            self.con.execute(f"CREATE OR REPLACE TABLE records AS {rows}")
        return [row[0] for row in self._rows("SELECT DISTINCT line FROM reject_errors ORDER BY 1")]

    def _mend(self, name: str, piece: Slice, unread: list[int]) -> None:
        """
        Lines that are not the usual ones: read them carefully, or refuse them with the reason.
        """
        wrong = self._rows("SELECT rowid FROM records WHERE reason IS NOT NULL ORDER BY rowid")
        if not unread and not wrong:
            return
        self.con.execute("DELETE FROM records WHERE reason IS NOT NULL")
        lines = piece.data.split(b"\n")
        rowless = {*unread, *(n for n, line in enumerate(lines, 1) if not line)}
        odd = sorted({*unread, *_line_numbers([row[0] for row in wrong], sorted(rowless))})
        mended: list[tuple[int, list[str]]] = []
        for number in odd:
            try:
                record = read_record(lines[number - 1])
            except FormatError as error:
                self._refuse(name, piece, number, lines, str(error))
                continue
            if record is not None:
                mended.append((number, record))
        self._load([record for _, record in mended], "mended")
        for place, reason in self._rows(
            "SELECT rowid, reason FROM mended WHERE reason IS NOT NULL"
        ):
            self._refuse(name, piece, mended[place][0], lines, reason)
        self.con.execute("INSERT INTO records SELECT * FROM mended WHERE reason IS NULL")

    def _refuse(
        self, name: str, piece: Slice, number: int, lines: list[bytes], reason: str
    ) -> None:
        self.tally.read += 1
        self.tally.rejected[reason] += 1
        self.rejects.add(name, piece.line + number - 1, lines[number - 1], reason)

    def _choose(self) -> None:
        """
        Only the time that was asked for, and slaves to where they wait.
        """
        since, until = self.options.since, self.options.until
        if since > 0 or until < LATEST:
            before = self._count("records")
            when = "CASE WHEN end_time > 0 THEN end_time ELSE submission_time END"
            self.con.execute(
                f"DELETE FROM records WHERE {when} NOT BETWEEN {since} AND {until - 1}"
            )
            self.tally.outside += before - self._count("records")
        self.con.execute(f"INSERT INTO slaves SELECT * FROM records WHERE NOT ({sql.MASTERS})")
        latest = self._rows("SELECT max(end_time) FROM records")[0][0]
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
            zone=self.options.zone,
            table=table,
            where=where,
            first=max(bounds[1], EARLIEST),
            last=bounds[2],
            with_slaves=slaves > 0,
            now=self._now,
        )
        # Days before the run: whoever sees the run sees its hours, whenever this is stopped.
        days = self._writer.submit(self.sink.write, self._second, "job_slice", runs.slices)
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

    def _load(self, records: list[list[str]], table: str) -> None:
        """
        Records whose fields are told apart, as a table typed like those DuckDB read itself.
        """
        with tempfile.NamedTemporaryFile(dir=self.staging, suffix=".csv") as file:
            for record in records:
                text = SEPARATOR.join(value.replace(SEPARATOR, " ") for value in record)
                file.write(text.encode() + b"\n")
            file.flush()
            rows = sql.read_slice(file.name, FIELDS, SEPARATOR)
            self.con.execute(f"CREATE OR REPLACE TABLE {table} AS {sql.typed(rows)}")

    def _count(self, relation: str) -> int:
        return int(self._rows(f"SELECT count(*) FROM {relation}")[0][0])

    def _rows(self, statement: str) -> list[tuple[Any, ...]]:
        return self.con.execute(statement).fetchall()


def _usual_count(data: bytes) -> int:
    """
    How many fields most lines have; what has fewer than any accounting file is read one by one.
    """
    counts = Counter(line.count(b":") + 1 for line in data[: 1 << 18].split(b"\n")[:1000])
    likely = {count: lines for count, lines in counts.items() if count >= OLD}
    return max(likely, key=lambda count: likely[count]) if likely else FIELDS


def _line_numbers(places: list[int], rowless: list[int]) -> set[int]:
    """
    The lines (from 1) of rows (from 0), where the lines ROWLESS made no row.
    """
    found = set()
    skipped = 0
    for place in places:
        while skipped < len(rowless) and rowless[skipped] <= place + 1 + skipped:
            skipped += 1
        found.add(place + 1 + skipped)
    return found
