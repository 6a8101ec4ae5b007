"""
A spool written anew: what waits in it is changed line by line, what was delivered goes.

The changed lines are appended first and the readers moved on after it. Killed in between, some
lines are there twice, which ids make harmless, and the same call finishes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from leadline.errors import SpoolError
from leadline.spool.reader import Reader
from leadline.spool.segments import Position, list_segments, read_positions
from leadline.spool.writer import Spool

Change = Callable[[bytes], bytes | None]
AT_ONCE = 10_000  # lines
UNBOUNDED = 1 << 60


@dataclass(frozen=True, slots=True)
class Rewritten:
    lines: int  # that the change concerns, delivered ones that still lie there included
    left: bool = False  # a process writes here: nothing was changed


def rewrite(folder: Path, change: Change, *, dry_run: bool) -> Rewritten:
    if not folder.is_dir():
        return Rewritten(0)
    concerned = sum(change(line) is not line for line in _lines(folder))
    if dry_run or not concerned:
        return Rewritten(concerned)
    readers = read_positions(folder)
    try:
        if not readers:
            raise SpoolError(f"spool {folder}: nobody reads it")
        # Each append a segment of its own: the old ones go whole.
        spool = Spool(folder, max_bytes=UNBOUNDED, max_age_seconds=0, segment_bytes=1)
    except SpoolError:
        return Rewritten(concerned, left=True)
    with spool:
        _move_on(spool, sorted(readers, key=lambda name: readers[name]), change)
    return Rewritten(concerned)


def _lines(folder: Path) -> Iterator[bytes]:
    """
    Every whole line on the disk, as far as it is still there.
    """
    for segment in list_segments(folder):
        try:
            with segment.path.open("rb") as file:
                yield from (line[:-1] for line in file if line.endswith(b"\n"))
        except FileNotFoundError:  # delivered and deleted meanwhile
            continue


def _move_on(spool: Spool, names: list[str], change: Change) -> None:
    """
    NAMES: the slowest reader first; what it has before it is more than any other has.
    """
    end = spool.end
    slowest = Reader(spool.folder, names[0])
    at: Position = slowest.position
    while at.offset < end.offset:
        batch = slowest.read(AT_ONCE, after=at)
        if not batch.count:
            break
        at = batch.position
        spool.append([kept for line in batch.lines if (kept := change(line)) is not None])
    spool.begin_segment()
    for name in names:
        reader = Reader(spool.folder, name)
        reader.commit(end)
        reader.close()
    slowest.close()
    spool.trim()
