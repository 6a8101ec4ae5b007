"""
The one writer of a spool: what `append` has accepted survives kill -9, power loss and a full disk.

A failed append is cut back, and the next one begins a new segment beyond the bytes that were tried:
a reader that saw some of them can never end up in the middle of a line.
"""

import contextlib
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from leadline.errors import SpoolError
from leadline.spool.guard import (
    lock_folder,
    read_counters,
    without_false_starts,
    write_all,
    write_counters,
)
from leadline.spool.reader import Pending, Reader, current
from leadline.spool.segments import (
    Position,
    Segment,
    count_lines,
    list_segments,
    position_path,
    read_position,
    read_positions,
    segment_at,
    sync_data,
    sync_folder,
)
from leadline.spool.settings import SpoolSettings

KEPT_TIMES = 4096  # appends whose exact time is remembered for `oldest_age`


@dataclass(frozen=True, slots=True)
class Counters:
    appended: int = 0
    dropped_documents: int = 0  # by the bound, before every reader had them
    dropped_bytes: int = 0


@dataclass(slots=True)
class Offer:
    """
    Documents that a thread wants to have accepted; whoever holds the lock settles several.
    """

    data: bytes
    count: int
    settled: bool = False
    error: SpoolError | None = None


class Spool:
    def __init__(
        self,
        folder: str | Path,
        *,
        max_bytes: int = SpoolSettings.max_size,
        max_age_seconds: float = SpoolSettings.max_age,
        segment_bytes: int = SpoolSettings.segment_size,
        segment_seconds: float = SpoolSettings.segment_age,
        sync_seconds: float = SpoolSettings.sync_every,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.folder = Path(folder)
        self._max_bytes = max_bytes
        self._max_age = max_age_seconds
        self._segment_bytes = max(min(segment_bytes, max_bytes // 8), 1)
        self._segment_seconds = segment_seconds
        self._sync_seconds = sync_seconds
        self._clock = clock
        self._guard = threading.Lock()
        self._offers: deque[Offer] = deque()
        self._times: deque[tuple[int, float]] = deque(maxlen=KEPT_TIMES)
        self._handle = -1
        self._uncounted = False  # drops that are not in the counters' file yet
        self._broken = False  # the tail holds bytes of a failed append that could not be cut yet
        self._synced = self._trimmed = clock()
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock = lock_folder(self.folder)
            try:
                self._recover()
            except BaseException:
                os.close(self._lock)
                raise
        except OSError as error:
            raise SpoolError(f"spool {self.folder}: cannot open: {error.strerror}") from error

    @classmethod
    def from_settings(cls, folder: str | Path, settings: SpoolSettings) -> Self:
        """
        A spool as the settings want it, at their path or else in `folder`.
        """
        return cls(
            settings.path or folder,
            max_bytes=settings.max_size,
            max_age_seconds=settings.max_age,
            segment_bytes=settings.segment_size,
            segment_seconds=settings.segment_age,
            sync_seconds=settings.sync_every,
        )

    def append(self, lines: Sequence[bytes]) -> None:
        """
        Accept documents, one line each without its newline. Returns when they are on the disk.
        """
        if not lines:
            return
        data = b"\n".join([*lines, b""])
        if data.count(b"\n") != len(lines):
            raise SpoolError(f"spool {self.folder}: a document with a newline in it; escape it")
        if len(data) > self._max_bytes:
            raise SpoolError(
                f"spool {self.folder}: {len(lines)} documents of {len(data)} bytes exceed max_size"
                f" {self._max_bytes}; raise it"
            )
        mine = Offer(data, len(lines))
        self._offers.append(mine)
        with self._guard:
            while not mine.settled:
                self._append_offers()
        if mine.error is not None:
            raise SpoolError(str(mine.error)) from mine.error

    def reader(self, name: str) -> Reader:
        return Reader(self.folder, name, sync=self._sync_seconds == 0)

    def pending(self, name: str) -> Pending:
        """
        What the reader still has before it, without a look at the segments: cheap at every tick.
        """
        now = self._clock()
        at = read_position(position_path(self.folder, name)) or Position()
        with self._guard:
            end, segments = self._end, self._segments
            before = [when for offset, when in self._times if offset <= at.offset]
        if at.offset < segments[0].start.offset:
            at = segments[0].start
        if at.offset >= end.offset:
            return Pending(0, 0, 0.0)
        since = before[-1] if before else current(segments, at)[0].created
        documents = max(end.line - at.line, 0)
        return Pending(documents, end.offset - at.offset, max(now - since, 0.0))

    @property
    def counters(self) -> Counters:
        with self._guard:
            return Counters(self._end.line, self._dropped.line, self._dropped.offset)

    @property
    def end(self) -> Position:
        with self._guard:
            return self._end

    def begin_segment(self) -> None:
        """
        What comes from now on lies in a file of its own, so that all before it can go.
        """
        with self._guard:
            if self._end.offset > self._segments[-1].start.offset:
                self._roll()

    def trim(self) -> None:
        """
        Forget what all readers have passed and what the bounds forbid. `append` does it too.
        """
        with self._guard:
            self._trim(0)

    def flush(self) -> None:
        with self._guard:
            try:
                sync_data(self._handle)
            except OSError as error:
                raise SpoolError(f"spool {self.folder}: cannot sync: {error.strerror}") from error
            self._synced = self._clock()

    def close(self) -> None:
        if self._handle < 0:
            return
        with contextlib.suppress(SpoolError):  # what is not synced yet was never promised
            self.flush()
        os.close(self._handle)
        os.close(self._lock)
        self._handle = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _recover(self) -> None:
        """
        Cut a torn last line, and go on behind whatever a reader may have seen of it.
        """
        self._dropped, self._dropped_to = read_counters(self.folder)
        segments = without_false_starts(list_segments(self.folder))
        furthest = max(read_positions(self.folder).values(), default=Position())
        if not segments:
            self._end = Position(max(furthest.offset, self._dropped_to), furthest.line)
            self._segments: list[Segment] = []
            self._roll()
            return
        last = segments[-1]
        lines, whole = count_lines(last.path)
        torn = last.size()
        self._segments = segments
        self._end = Position(last.start.offset + whole, last.start.line + lines)
        self._handle = os.open(last.path, os.O_WRONLY | os.O_APPEND)
        if torn > whole:
            os.ftruncate(self._handle, whole)
            os.fsync(self._handle)
        seen = max(last.start.offset + torn, furthest.offset)
        if seen > self._end.offset:
            self._end = Position(seen, self._end.line)
            self._roll()
        self._trim(0)

    def _append_offers(self) -> None:
        """
        One write and one sync for all that was offered while the last sync was under way.
        """
        taken = [self._offers.popleft()]
        size = len(taken[0].data)
        while self._offers and size + len(self._offers[0].data) <= self._segment_bytes:
            taken.append(self._offers.popleft())
            size += len(taken[-1].data)
        error: SpoolError | None = SpoolError(f"spool {self.folder}: interrupted")
        try:
            data = taken[0].data if len(taken) == 1 else b"".join(one.data for one in taken)
            self._append(data, sum(one.count for one in taken))
            error = None
        except SpoolError as problem:
            error = problem
        finally:
            for one in taken:
                one.error, one.settled = error, True

    def _append(self, data: bytes, count: int) -> None:
        if self._handle < 0:
            raise SpoolError(f"spool {self.folder}: is closed")
        now = self._clock()
        try:
            self._repair()
            self._make_room(len(data), now)
            self._write(data, now)
        except OSError as error:
            raise SpoolError(
                f"spool {self.folder}: {count} documents not accepted: {error.strerror};"
                " what was accepted before is safe"
            ) from error
        start = self._end
        self._end = Position(start.offset + len(data), start.line + count)
        if not self._times or now - self._times[-1][1] >= 1 or now < self._times[-1][1]:
            self._times.append((start.offset, now))

    def _make_room(self, size: int, now: float) -> None:
        last = self._segments[-1]
        used = self._end.offset - last.start.offset
        old = not 0 <= now - last.created < self._segment_seconds
        if used and (used + size > self._segment_bytes or old):
            self._roll()
            old = True
        span = self._end.offset - self._segments[0].start.offset
        if old or span + size > self._max_bytes or not 0 <= now - self._trimmed < 1:
            self._trim(size)

    def _roll(self) -> None:
        """
        Begin a new segment at the end of the stream.
        """
        if self._handle >= 0:
            sync_data(self._handle)
        segment = segment_at(self.folder, self._end, self._clock())
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        handle = os.open(segment.path, flags, 0o600)
        try:
            sync_folder(self.folder)
        except OSError:
            os.close(handle)
            segment.path.unlink(missing_ok=True)
            raise
        if self._handle >= 0:
            os.close(self._handle)
        self._handle = handle
        self._segments = [*self._segments, segment]

    def _write(self, data: bytes, now: float) -> None:
        try:
            write_all(self._handle, data)
            if now - self._synced >= self._sync_seconds or now < self._synced:
                sync_data(self._handle)
                self._synced = now
        except BaseException:  # Ctrl-C too must not leave half a line for the next to follow
            self._cut_back(self._end, len(data))
            raise

    def _cut_back(self, start: Position, tried: int) -> None:
        """
        After a failed append: the file ends where it was, the stream goes on behind what was tried.
        """
        self._broken = True
        self._whole = start.offset - self._segments[-1].start.offset
        self._end = Position(start.offset + tried, start.line)
        with contextlib.suppress(OSError):  # tried again before the next append
            os.ftruncate(self._handle, self._whole)

    def _repair(self) -> None:
        if self._broken:
            os.ftruncate(self._handle, self._whole)
            self._roll()
            self._broken = False

    def _trim(self, incoming: int) -> None:
        now = self._trimmed = self._clock()
        positions = read_positions(self.folder)
        slowest = min(positions.values(), default=Position())
        sizes = [segment.size() for segment in self._segments]
        total = sum(sizes) + incoming
        kept = list(self._segments)
        while len(kept) > 1:
            size, following = sizes[len(self._segments) - len(kept)], kept[1]
            read = bool(positions) and slowest.offset >= following.start.offset
            counted = following.start.offset <= self._dropped_to
            full = total > self._max_bytes
            old = 0 < self._max_age < now - following.created
            if not (read or counted or full or old):
                break
            if not (read or counted):
                self._count_dropped(kept[0], size, following, slowest)
            kept[0].path.unlink(missing_ok=True)
            total -= size
            del kept[0]
        self._segments = kept
        self._keep_counters()

    def _count_dropped(self, gone: Segment, size: int, following: Segment, seen: Position) -> None:
        """
        Counted durably before the file goes, and with how far, so that it is counted once.
        """
        read = max(seen.offset - gone.start.offset, 0)
        line = max(seen.line, gone.start.line) if read else gone.start.line
        lost = Position(max(size - read, 0), max(following.start.line - line, 0))
        self._dropped = Position(self._dropped.offset + lost.offset, self._dropped.line + lost.line)
        self._dropped_to = following.start.offset
        self._uncounted = True
        self._keep_counters()

    def _keep_counters(self) -> None:
        if not self._uncounted:
            return
        with contextlib.suppress(OSError):  # the disk is full: what is dropped next makes room
            write_counters(self.folder, self._dropped, self._dropped_to)
            self._uncounted = False
