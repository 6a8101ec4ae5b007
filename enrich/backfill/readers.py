"""
Every foreign format by name. To add one: write its module, then its line here.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from enrich.backfill import ndjson, sacct, sge, sonar, tsv
from enrich.backfill.files import Source
from enrich.backfill.options import Options
from enrich.backfill.seen import Seen
from enrich.backfill.sink import Sink
from enrich.backfill.tally import Rejects, Tally
from leadline.settings.plugins import plugged


class Reader(Protocol):
    """
    Reads files of one format one after the other; `tally` counts over all of them.
    """

    tally: Tally

    def read(self, source: Source, seen: Seen, progress: Callable[[int], None]) -> None: ...

    def close(self) -> None: ...


class Format(Protocol):
    def build(self, sink: Sink, options: Options, rejects: Rejects, staging: Path) -> Reader: ...

    def recognise(self, head: bytes) -> bool:
        """
        Whether a file that begins with HEAD is of this format; `auto` asks each in turn.
        """
        ...


FORMATS: dict[str, Format] = {
    "sge": sge,
    "sacct": sacct,
    "ndjson": ndjson,
    "tsv": tsv,
    "sonar": sonar,
}


def formats() -> dict[str, Format]:
    """
    The built-in formats, and those of plug-ins.
    """
    return {**FORMATS, **plugged("readers")}
