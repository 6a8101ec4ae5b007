"""
The table of processes that `leadline sample --format tsv` prints.

It holds no interval: a host's snapshots follow each other, so the time since its last one is it,
in the same file or the one read before.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable
from pathlib import Path

from enrich.backfill.chained import Chained
from enrich.backfill.files import Source
from enrich.backfill.options import Options
from enrich.backfill.seen import Seen
from enrich.backfill.sink import Sink
from enrich.backfill.tally import Rejects
from leadline.errors import FormatError
from leadline.formats import Document
from leadline.formats.times import from_epoch, parse_time

SLICE = 8 << 20
LONGEST = 3600.0  # seconds; snapshots further apart do not speak for the time between them
TEXTS = {
    "host": "host.name",
    "user": "user.name",
    "project": "project",
    "command": "process.name",
    "command_line": "process.command_line",
    "state": "process.state",
    "job": "job.local_id",
}
NUMBERS = {
    "memory": "memory.rss.bytes",
    "pid": "process.pid",
    "ppid": "process.parent.pid",
    "threads": "process.thread.count",
    "io_read": "io.read.bytes",
    "io_write": "io.write.bytes",
}
COLUMNS = {"time", "cpu", *TEXTS, *NUMBERS}
FIRST = ("time", "host", "user")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r"}


class TsvReader:
    def __init__(self, sink: Sink, options: Options, rejects: Rejects, staging: Path) -> None:
        self._whole = options.whole
        self._chained = Chained(sink, options, rejects)
        self.tally = self._chained.tally
        self._last: dict[str, tuple[float, float]] = {}  # each host's last snapshot, and its span

    def read(self, source: Source, seen: Seen, progress: Callable[[int], None]) -> None:
        """
        Read whole each time, for a snapshot's span begins with the one before it.
        """
        header: list[str] = []
        for piece in source.slices(0, SLICE, whole=self._whole):
            for number, raw in enumerate(piece.data.split(b"\n"), piece.line):
                if not raw.strip() or raw.startswith(b"#"):
                    continue
                fields = raw.decode("utf-8", "replace").split("\t")
                if fields[0] == "time":
                    header = fields
                elif not header:
                    raise FormatError("no line of column names: time, host, user, …")
                else:
                    self._row(source.name, number, raw, header, fields)
            progress(piece.end)
        self._chained.flush()

    def close(self) -> None:
        """
        Nothing is held open.
        """

    def _row(self, name: str, line: int, raw: bytes, header: list[str], fields: list[str]) -> None:
        try:
            if len(fields) != len(header):
                raise FormatError(f"{len(fields)} columns, the header has {len(header)}")
            cells = {n: _text(v) for n, v in zip(header, fields, strict=True) if v != "-"}
            document = self._document(cells)
        except (FormatError, ValueError, OverflowError) as error:
            self._chained.refuse(name, line, raw, str(error))
            return
        self._chained.add(name, line, raw, document)

    def _document(self, cells: dict[str, str]) -> Document:
        taken = parse_time(cells.get("time", "")).timestamp()
        host = cells.get("host", "")
        span = self._span(host, taken)
        percent = _number("cpu", cells["cpu"]) if "cpu" in cells else None
        document: Document = {
            "dataset": "process",
            "@timestamp": from_epoch(taken),  # a part of a table knows no first span
            "sample.time": from_epoch(taken),
            "interval.seconds": span or None,
            "cpu.percent": percent,
            "process.entity_id": _entity(cells),
            "rolled_up": True if "pid" not in cells else None,
        }
        if span and percent is not None:
            document["core_seconds"] = percent / 100 * span
        document |= {ours: cells[theirs] for theirs, ours in TEXTS.items() if theirs in cells}
        for theirs, ours in NUMBERS.items():
            if theirs in cells:
                document[ours] = _number(theirs, cells[theirs])
        return document | {n: v for n, v in cells.items() if n not in COLUMNS}

    def _span(self, host: str, taken: float) -> float:
        last, span = self._last.get(host, (taken, 0.0))
        if taken != last:
            span = taken - last if 0 < taken - last <= LONGEST else 0.0
        self._last[host] = (taken, span)
        return span


def build(sink: Sink, options: Options, rejects: Rejects, staging: Path) -> TsvReader:
    return TsvReader(sink, options, rejects, staging)


def recognise(head: bytes) -> bool:
    return head.startswith("\t".join(FIRST).encode() + b"\t")


def _text(cell: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), cell)


def _number(name: str, text: str) -> float | int:
    try:
        number = float(text)
    except ValueError:
        raise FormatError(f"{name}: {text[:40]!r} is not a number") from None
    if not math.isfinite(number) or number < 0:
        raise FormatError(f"{name}: {text[:40]!r} is out of range")
    return int(text) if text.isdecimal() else number


def _entity(cells: dict[str, str]) -> str:
    """
    The process, or what a roll-up merges on: the table knows no start ticks.
    """
    kin = "\t".join(cells.get(n, "") for n in ("user", "job", "command", "command_line"))
    return (
        f"{cells.get('pid', 'rolled')}-{hashlib.blake2b(kin.encode(), digest_size=8).hexdigest()}"
    )
