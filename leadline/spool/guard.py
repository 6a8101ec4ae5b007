"""
What keeps a spool's writer honest: the lock, the counters of what was dropped, complete writes.
"""

import fcntl
import json
import os
from pathlib import Path

from leadline.errors import SpoolError
from leadline.spool.segments import Position, Segment, replace_durably

COUNTERS = "counters.json"
LOCK = "writer.lock"


def lock_folder(folder: Path) -> int:
    handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = os.pread(handle, 20, 0).decode(errors="replace").strip() or "unknown"
        os.close(handle)
        raise SpoolError(
            f"spool {folder}: process {owner} writes here already; stop it or use another folder"
        ) from None
    os.ftruncate(handle, 0)
    os.pwrite(handle, str(os.getpid()).encode(), 0)
    return handle


def without_false_starts(segments: list[Segment]) -> list[Segment]:
    """
    Remove what a crash left of a segment that was begun twice at the same place.
    """
    kept = []
    for segment in segments:
        twins = [s for s in segments if s.start.offset == segment.start.offset]
        if len(twins) > 1 and segment.size() == 0 and segment != max(twins, key=Segment.size):
            segment.path.unlink(missing_ok=True)
        else:
            kept.append(segment)
    return kept


def write_counters(folder: Path, dropped: Position, counted_to: int) -> None:
    text = {
        "dropped_bytes": dropped.offset,
        "dropped_documents": dropped.line,
        "dropped_to": counted_to,
    }
    replace_durably(folder / COUNTERS, json.dumps(text).encode())


def read_counters(folder: Path) -> tuple[Position, int]:
    """
    Bytes and documents dropped so far, and up to where that was counted.
    """
    try:
        found = json.loads((folder / COUNTERS).read_bytes())
        dropped = Position(int(found["dropped_bytes"]), int(found["dropped_documents"]))
        return dropped, int(found["dropped_to"])
    except (FileNotFoundError, ValueError, TypeError, KeyError):
        return Position(), 0


def write_all(handle: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(handle, left) :]
