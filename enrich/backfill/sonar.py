"""
Sonar's files of every generation: JSON, tagged and untagged CSV, the table of its first years.

Which a line is its content says, so a folder may mix them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from enrich.backfill.chained import Chained
from enrich.backfill.files import Slice, Source
from enrich.backfill.options import Options
from enrich.backfill.seen import Seen
from enrich.backfill.sink import Sink
from enrich.backfill.sonar_jobs import Jobs
from enrich.backfill.sonar_json import documents
from enrich.backfill.sonar_lines import fields_of, sample_of
from enrich.backfill.sonar_samples import Samples
from enrich.backfill.tally import Rejects
from leadline.errors import FormatError

SLICE = 8 << 20
MOST_LINES = 1_000_000  # of one pretty-printed object
MARKS = (b'"data"', b'"errors"', b'"samples"', b'"timestamp"')
BROKEN = (FormatError, ValueError, OverflowError, TypeError, RecursionError)


class SonarReader:
    def __init__(self, sink: Sink, options: Options, rejects: Rejects, staging: Path) -> None:
        self._options = options
        self._chained = Chained(sink, options, rejects)
        self._samples = Samples()
        self._jobs = Jobs(options)
        self.tally = self._chained.tally

    def read(self, source: Source, seen: Seen, progress: Callable[[int], None]) -> None:
        """
        Read whole each time: what a record used is the difference to the one before it.
        """
        held: list[bytes] = []
        for piece in source.slices(0, SLICE, whole=self._options.whole):
            for number, raw in _records(piece, held):
                self._record(source.name, number, raw)
            progress(piece.end)
        if held:
            self._record(source.name, 0, b"\n".join(held))
        for raw, document in self._jobs.take():
            if isinstance(document, str):
                self._chained.refuse(source.name, 0, raw, document)
            else:
                self._chained.add(source.name, 0, raw, document)
        self._chained.flush()

    def close(self) -> None:
        """
        Nothing is held open.
        """

    def _record(self, name: str, line: int, raw: bytes) -> None:
        try:
            text = raw.decode("utf-8", "replace")
            if text.lstrip().startswith("{"):
                for found in _objects(text):
                    for document in documents(found, self._samples, self._jobs):
                        self._chained.add(name, line, raw, document)
                return
            fields = fields_of(text)
            if "JobID" in fields or "JobIDRaw" in fields:
                self._jobs.add_row(fields)
                return
            for document in self._samples.process(sample_of(fields)):
                self._chained.add(name, line, raw, document)
        except BROKEN as error:
            self._chained.refuse(name, line, raw, str(error)[:200])


def build(sink: Sink, options: Options, rejects: Rejects, staging: Path) -> SonarReader:
    return SonarReader(sink, options, rejects, staging)


def recognise(head: bytes) -> bool:
    start = head.lstrip()
    if start.startswith(b"{"):
        return any(mark in head for mark in MARKS) and (b'"meta"' in head or b'"v"' in head)
    try:
        fields = fields_of(start.split(b"\n", 1)[0].decode())
        return "JobID" in fields or bool(sample_of(fields))
    except BROKEN:
        return False


def _records(piece: Slice, held: list[bytes]) -> Iterator[tuple[int, bytes]]:
    """
    Lines, and objects that were printed over several lines; HELD is the one not yet whole.
    """
    for number, raw in enumerate(piece.data.split(b"\n"), piece.line):
        if not raw.strip() or raw.startswith(b"#"):
            continue
        if held and raw[:1] not in b" \t}]":
            yield number, b"\n".join(held)  # it never ended: refused by itself
            held.clear()
        if held:
            held.append(raw)
            if raw.startswith(b"}") or len(held) > MOST_LINES:
                yield number, b"\n".join(held)
                held.clear()
                if raw.rstrip().endswith(b"{"):
                    held.append(b"{")
        elif raw.startswith(b"{") and not raw.rstrip().endswith(b"}"):
            held.append(raw)
        else:
            yield number, raw


def _objects(text: str) -> Iterator[dict[str, object]]:
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        found, at = decoder.raw_decode(text, at)
        if not isinstance(found, dict):
            raise FormatError("not a JSON object")
        yield found
        at += len(text[at:]) - len(text[at:].lstrip())
