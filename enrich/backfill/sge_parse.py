"""
A slice of a Grid Engine accounting file as a table of records.

DuckDB reads the lines that are simply right; the others go through Python one by one.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb

from enrich.backfill import sge_sql as sql
from enrich.backfill.files import Slice
from enrich.backfill.sge_lines import FIELDS, OLD, read_record
from enrich.backfill.tally import Rejects, Tally
from leadline.errors import FormatError

SEPARATOR = "\x1f"
FORGET_REJECTS = "DROP TABLE IF EXISTS reject_errors; DROP TABLE IF EXISTS reject_scans"


class Parser:
    """
    Makes tables on CON; what it refuses is counted in `tally`.
    """

    def __init__(
        self,
        con: duckdb.DuckDBPyConnection,
        cluster: str,
        staging: Path,
        rejects: Rejects,
        tally: Tally,
    ) -> None:
        self._con = con
        self._cluster = cluster
        self._staging = staging
        self._rejects = rejects
        self._tally = tally

    def parse(self, name: str, piece: Slice, table: str) -> None:
        """
        The records of PIECE, which is of the file NAME, as TABLE.
        """
        self._mend(name, piece, table, self._parse(piece.data, table))
        self._tally.read += self._rows(f"SELECT count(*) FROM {table}")[0][0]

    def load(self, records: list[list[str]], table: str) -> None:
        """
        Records whose fields are told apart, as a table typed like those DuckDB read itself.
        """
        with tempfile.NamedTemporaryFile(dir=self._staging, suffix=".csv") as file:
            for record in records:
                text = SEPARATOR.join(value.replace(SEPARATOR, " ") for value in record)
                file.write(text.encode() + b"\n")
            file.flush()
            rows = sql.read_slice(file.name, FIELDS, SEPARATOR)
            self._con.execute(
                f"CREATE OR REPLACE TABLE {table} AS {sql.typed(self._cluster, rows)}"
            )

    def _parse(self, data: bytes, table: str) -> list[int]:
        """
        Usual lines into TABLE; the numbers of those that are not usual.
        """
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n")
        if b"\0" in data or b"\r" in data:  # DuckDB's parser takes them for something else
            self.load([], table)
            return list(range(1, data.count(b"\n") + 1))
        with tempfile.NamedTemporaryFile(dir=self._staging, suffix=".csv") as file:
            file.write(data)
            file.flush()
            self._con.execute(FORGET_REJECTS)
            rows = sql.typed(self._cluster, sql.read_slice(file.name, _usual_count(data)))
            self._con.execute(f"CREATE OR REPLACE TABLE {table} AS {rows}")
        return [row[0] for row in self._rows("SELECT DISTINCT line FROM reject_errors ORDER BY 1")]

    def _mend(self, name: str, piece: Slice, table: str, unread: list[int]) -> None:
        """
        Lines that are not the usual ones: read them carefully, or refuse them with the reason.
        """
        wrong = self._rows(f"SELECT rowid FROM {table} WHERE reason IS NOT NULL ORDER BY rowid")
        if not unread and not wrong:
            return
        self._con.execute(f"DELETE FROM {table} WHERE reason IS NOT NULL")
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
        self.load([record for _, record in mended], "mended")
        for place, reason in self._rows(
            "SELECT rowid, reason FROM mended WHERE reason IS NOT NULL"
        ):
            self._refuse(name, piece, mended[place][0], lines, reason)
        self._con.execute(f"INSERT INTO {table} SELECT * FROM mended WHERE reason IS NULL")

    def _refuse(
        self, name: str, piece: Slice, number: int, lines: list[bytes], reason: str
    ) -> None:
        self._tally.read += 1
        self._tally.rejected[reason] += 1
        self._rejects.add(name, piece.line + number - 1, lines[number - 1], reason)

    def _rows(self, statement: str) -> list[tuple[Any, ...]]:
        return self._con.execute(statement).fetchall()


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
