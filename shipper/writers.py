"""
Documents as text: NDJSON, and the tab-separated table of processes that people read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

import orjson

from leadline.formats import Document

COLUMNS = (
    "time",
    "host",
    "user",
    "project",
    "cpu",
    "memory",
    "command",
    "command_line",
    "pid",
    "ppid",
    "threads",
    "state",
    "io_read",
    "io_write",
    "job",
)
_FIELDS = (
    "sample.time",
    "host.name",
    "user.name",
    "project",
    "cpu.percent",
    "memory.rss.bytes",
    "process.name",
    "process.command_line",
    "process.pid",
    "process.parent.pid",
    "process.thread.count",
    "process.state",
    "io.read.bytes",
    "io.write.bytes",
    "job.local_id",
)
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


class Writer(Protocol):
    def head(self) -> bytes: ...

    def lines(self, documents: Iterable[Document]) -> Iterator[bytes]: ...


class NDJSON:
    """
    One document a line, as it goes to the worker.
    """

    def head(self) -> bytes:
        return b""

    def lines(self, documents: Iterable[Document]) -> Iterator[bytes]:
        for document in documents:
            yield orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)


class TSV:
    """
    Processes only. `-` stands for what is not known; a tab, a newline or a backslash inside a
    field is written \\t, \\n, \\\\.
    """

    def head(self) -> bytes:
        return ("\t".join(COLUMNS) + "\n").encode()

    def lines(self, documents: Iterable[Document]) -> Iterator[bytes]:
        for document in documents:
            if document.get("dataset") == "process":
                cells = (_cell(document.get(name)) for name in _FIELDS)
                yield ("\t".join(cells) + "\n").encode("utf-8", "backslashreplace")


def _cell(value: object) -> str:
    return "-" if value is None or value == "" else str(value).translate(_ESCAPES)
