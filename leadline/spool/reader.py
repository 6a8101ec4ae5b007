"""
Readers of a spool: each has a name and a durable position, and may live in another process.

A batch is delivered again until its position is committed: at least once, in order.
"""

import os
import time
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from leadline.errors import SpoolError
from leadline.spool.segments import (
    READER_NAME,
    Position,
    Segment,
    count_lines,
    list_segments,
    position_path,
    read_position,
    write_position,
)


@dataclass(frozen=True, slots=True)
class Batch:
    data: bytes  # whole lines, each with its newline: NDJSON as it stands
    count: int
    position: Position  # commit this when the batch is safe elsewhere

    @property
    def lines(self) -> list[bytes]:
        return self.data.split(b"\n")[:-1]


@dataclass(frozen=True, slots=True)
class Pending:
    documents: int
    bytes: int
    oldest_age: float  # seconds the next document has waited; at most a segment's span too many


class Reader:
    def __init__(self, folder: str | Path, name: str, sync: bool = True) -> None:
        if not READER_NAME.fullmatch(name):
            raise SpoolError(f"spool reader {name!r}: use letters, digits, '_', '.' and '-' only")
        self.folder = Path(folder)
        self.name = name
        self._sync = sync
        self._path = position_path(self.folder, name)
        self._open: tuple[Path, int] | None = None
        try:
            found = read_position(self._path)
            self._committed = found or Position()
            if found is None:
                write_position(self._path, self._committed, sync)
        except OSError as error:
            raise SpoolError(f"spool {self.folder}: {error.strerror}: {self._path.name}") from error

    @property
    def position(self) -> Position:
        return self._committed

    def read(
        self, max_lines: int = 10_000, max_bytes: int = 8 << 20, after: Position | None = None
    ) -> Batch:
        """
        The next lines after the committed position, or after that of a batch still under way.
        Empty when there is nothing; never empty because the next line alone exceeds `max_bytes`.
        """
        at = self._committed if after is None else after
        try:
            # listed before reading: that a later segment exists proves the earlier one complete
            for segment in current(list_segments(self.folder), at):
                line = at.line if at.offset > segment.start.offset else segment.start.line
                skip = max(at.offset - segment.start.offset, 0)
                skip, data, count = self._take(segment, skip, max_lines, max_bytes)
                if count:
                    end = segment.start.offset + skip + len(data)
                    return Batch(data, count, Position(end, line + count))
        except OSError as error:
            raise SpoolError(f"spool {self.folder}: cannot read: {error.strerror}") from error
        return Batch(b"", 0, at)

    def commit(self, position: Position) -> None:
        """
        Everything before `position` is safe elsewhere and will not be read again, crash or not.
        """
        try:
            write_position(self._path, position, self._sync)
        except OSError as error:
            raise SpoolError(
                f"spool {self.folder}: cannot keep the position of {self.name}: {error.strerror}"
            ) from error
        self._committed = position

    def close(self) -> None:
        if self._open is not None:
            os.close(self._open[1])
            self._open = None

    def _take(
        self, segment: Segment, skip: int, max_lines: int, max_bytes: int
    ) -> tuple[int, bytes, int]:
        """
        Where the lines start in the segment, the lines, and how many they are.
        """
        handle = self._handle(segment.path)
        if handle is None:
            return skip, b"", 0
        if skip and os.pread(handle, 1, skip - 1) not in (b"\n", b""):
            skip = line_start(
                handle, skip
            )  # a position file from elsewhere: rather twice than torn
        wanted = max(max_bytes, 1)
        data = os.pread(handle, wanted, skip)
        while len(data) == wanted and b"\n" not in data:
            wanted *= 2
            data = os.pread(handle, wanted, skip)
        data = data[: data.rfind(b"\n") + 1]
        count = data.count(b"\n")
        if count > max_lines:
            data, count = first_lines(data, max_lines), max_lines
        return skip, data, count

    def _handle(self, path: Path) -> int | None:
        if self._open is not None and self._open[0] == path:
            return self._open[1]
        self.close()
        try:
            handle = os.open(path, os.O_RDONLY)
        except FileNotFoundError:  # dropped by the bound between listing and opening
            return None
        self._open = (path, handle)
        return handle


def line_start(handle: int, at: int) -> int:
    while at:
        back = max(at - 65536, 0)
        newline = os.pread(handle, at - back, back).rfind(b"\n")
        if newline >= 0:
            return back + newline + 1
        at = back
    return 0


def first_lines(data: bytes, count: int) -> bytes:
    lines = data.split(b"\n", count)
    return data[: len(data) - len(lines[-1])]


def current(segments: list[Segment], at: Position) -> list[Segment]:
    """
    The segment that holds the position, and those after it.
    """
    first = 0
    for index, segment in enumerate(segments):
        if segment.start.offset <= at.offset:
            first = index
    return segments[first:]


def pending(folder: str | Path, name: str, now: float | None = None) -> Pending:
    """
    What a reader still has before it; asks the folder only, so any process may call it.
    """
    folder = Path(folder)
    at = read_position(position_path(folder, name)) or Position()
    now = time.time() if now is None else now
    try:
        left = current(list_segments(folder), at)
    except FileNotFoundError:
        return Pending(0, 0, 0.0)
    documents = size = 0
    oldest = now
    for segment, following in zip_longest(left, left[1:]):
        held = segment.size()
        skip = min(max(at.offset - segment.start.offset, 0), held)
        if skip == 0 and following is not None:
            lines, end = following.start.line - segment.start.line, held
        else:
            lines, end = count_lines(segment.path, skip)
        if lines:
            oldest = min(oldest, segment.created)
        documents += lines
        size += end - skip
    return Pending(documents, size, max(now - oldest, 0.0))
