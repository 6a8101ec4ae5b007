"""
`sacct -P` with any field list: the header decides; `sacct --json` of any version. Steps are folded
into their job.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from enrich.backfill.files import Source
from enrich.backfill.known import sort_out, vanished
from enrich.backfill.options import Options
from enrich.backfill.sacct_documents import base, document_of, identity, seconds_of
from enrich.backfill.sacct_json import is_dump, jobs_of
from enrich.backfill.sacct_rows import Lines, read_row, separator
from enrich.backfill.seen import Seen
from enrich.backfill.sink import Sink
from enrich.backfill.tally import Rejects, Tally
from enrich.run_days import run_days
from leadline.errors import FormatError, StoreError
from leadline.formats import Document
from leadline.formats.sacct import Row
from leadline.formats.validate import check

BATCH = 5000
SLICE = 32 << 20
NEEDED = ("Submit", "State")


class SacctReader:
    def __init__(self, sink: Sink, options: Options, rejects: Rejects, staging: Path) -> None:
        self.sink = sink
        self.options = options
        self.rejects = rejects
        self.tally = Tally()
        self._chain = options.build_chain()
        self._jobs: list[Document] = []
        self._days: list[Document] = []

    def read(self, source: Source, seen: Seen, progress: Callable[[int], None]) -> None:
        """
        A dump is read whole each time: it is no cumulative file, later ones correct it.
        """
        stamp = Path(source.name).stat().st_mtime if source.size else time.time()
        if is_dump(source.head):
            for number, (raw, found) in enumerate(jobs_of(source), 1):
                self._found(source.name, number, raw, found, int(stamp))
            self._flush()
            return
        group: list[tuple[int, bytes, Row]] = []
        for item in self._rows(source, progress):
            # A job's steps follow it; with -D each try is a job of its own.
            step = "." in identity(item[2])
            if group and not (step and base(item[2]) == base(group[0][2])):
                self._job(source.name, group, int(stamp))
                group = []
            group.append(item)
        if group:
            self._job(source.name, group, int(stamp))
        self._flush()

    def close(self) -> None:
        """
        Nothing is held open.
        """

    def _found(self, name: str, number: int, raw: bytes, found: list[Row] | str, at: int) -> None:
        """
        The NUMBERth job of a JSON dump.
        """
        if isinstance(found, str):
            self.tally.read += 1
            self._refuse(name, number, raw, found)
        else:
            self._job(name, [(number, raw, row) for row in found], at)

    def _rows(
        self, source: Source, progress: Callable[[int], None]
    ) -> Iterator[tuple[int, bytes, Row]]:
        cut, header = separator(source.head), list[str]()
        lines = Lines(cut)
        for piece in source.slices(0, SLICE):
            for number, raw in lines.of(piece):
                yield from self._row(source.name, number, raw, cut, header)
            progress(piece.end)
        for number, raw in lines.rest():
            yield from self._row(source.name, number, raw, cut, header)

    def _row(
        self, name: str, number: int, raw: bytes, cut: bytes, header: list[str]
    ) -> Iterator[tuple[int, bytes, Row]]:
        """
        The line as a row, unless it is the HEADER, which it then becomes, or refused.
        """
        fields = raw.decode("utf-8", "replace").split(cut.decode())
        if not header or fields == header:
            header[:] = fields
            self._check_header(name, header)
            return
        try:
            yield number, raw, read_row(header, fields)
        except FormatError as error:
            self.tally.read += 1
            self._refuse(name, number, raw, str(error))

    def _check_header(self, name: str, header: list[str]) -> None:
        missing = [field for field in NEEDED if field not in header]
        if missing or not {"JobID", "JobIDRaw"} & set(header):
            raise FormatError(
                f"no header with JobIDRaw, {', '.join(NEEDED)} in its first line; use"
                " sacct -a -D -P -S … -o JobIDRaw,JobID,Submit,State,…"
            )

    def _job(self, name: str, rows: list[tuple[int, bytes, Row]], stamp: int) -> None:
        self.tally.read += len(rows)
        number, raw, main = rows[0]
        self.tally.merged += len(rows) - 1
        try:
            if "." in identity(main):
                raise FormatError("a step without its job")
            steps = [row for _, _, row in rows[1:]]
            document = self._chain.one(check(document_of(main, steps, self.options, stamp)))
            ended = seconds_of(main, "End", self.options)
        except (FormatError, ValueError, OverflowError) as error:
            self._refuse(name, number, raw, str(error))
            return
        if not self.options.since <= (ended or stamp) < self.options.until:
            self.tally.outside += 1
            return
        self._jobs.append(document)
        days = run_days(document, self.options.days, ended or stamp)
        self._days += map(self._chain.one, days)
        if len(self._jobs) >= BATCH:
            self._flush()

    def _flush(self) -> None:
        runs, days = sort_out(self.sink, self._jobs), sort_out(self.sink, self._days)
        gone = vanished(self.sink, runs.changed, self._days)
        # Days before their run: whoever sees the run sees its hours.
        for documents in (days.new + days.changed + gone, runs.new + runs.changed):
            outcome = self.sink.put(documents)
            if outcome.kept:
                raise StoreError(f"the store took only part: {outcome.reason}; run it again")
        for document, reason in outcome.rejected:
            self._refuse(str(document.get("job.run")), 0, b"", reason)
        self.tally.inserted += len(runs.new)
        self.tally.updated += len(runs.changed)
        self.tally.unchanged += runs.unchanged
        self.tally.duplicate += runs.repeated
        self._jobs, self._days = [], []

    def _refuse(self, name: str, line: int, raw: bytes, reason: str) -> None:
        self.tally.rejected[reason] += 1
        self.rejects.add(name, line, raw, reason)


def build(sink: Sink, options: Options, rejects: Rejects, staging: Path) -> SacctReader:
    return SacctReader(sink, options, rejects, staging)


def recognise(head: bytes) -> bool:
    fields = head.split(b"\n", 1)[0].split(separator(head))
    return is_dump(head) or (bool({b"JobID", b"JobIDRaw"} & set(fields)) and b"State" in fields)
