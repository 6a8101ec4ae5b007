"""
Our own documents, one a line: what a spool, `leadline sample` or an export holds.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import orjson

from enrich.backfill.chained import Chained
from enrich.backfill.files import Source
from enrich.backfill.options import Options
from enrich.backfill.seen import Seen
from enrich.backfill.sink import Sink
from enrich.backfill.tally import Rejects
from enrich.run_days import days_by
from leadline.errors import FormatError
from leadline.formats import DATASETS
from leadline.formats.validate import read_line

SLICE = 8 << 20


class NdjsonReader:
    def __init__(self, sink: Sink, options: Options, rejects: Rejects, staging: Path) -> None:
        self._whole = options.whole
        self._chained = Chained(sink, options, rejects, days_by(lambda cluster: options.days))
        self.tally = self._chained.tally

    def read(self, source: Source, seen: Seen, progress: Callable[[int], None]) -> None:
        """
        A file that begins as one read before costs only what was added to it.
        """
        place = seen.find(source)
        start, line = (place.position, place.line) if place else (0, 1)
        self.tally.skipped_bytes += start
        for piece in source.slices(start, SLICE, line=line, whole=self._whole):
            for number, raw in enumerate(piece.data.split(b"\n"), piece.line):
                self._line(source.name, number, raw)
            self._chained.flush()
            place = seen.save(place, piece, piece.line + piece.data.count(b"\n"), ())
            progress(piece.end)

    def close(self) -> None:
        """
        Nothing is held open.
        """

    def _line(self, name: str, number: int, raw: bytes) -> None:
        if not raw.strip() or raw.startswith(b"#"):
            return
        try:
            document = read_line(raw)
        except FormatError as error:
            self._chained.refuse(name, number, raw, str(error))
            return
        self._chained.add(name, number, raw, document)


def build(sink: Sink, options: Options, rejects: Rejects, staging: Path) -> NdjsonReader:
    return NdjsonReader(sink, options, rejects, staging)


def recognise(head: bytes) -> bool:
    try:
        first = orjson.loads(head.split(b"\n", 1)[0])
    except orjson.JSONDecodeError:
        return False
    return isinstance(first, dict) and "@timestamp" in first and first.get("dataset") in DATASETS
