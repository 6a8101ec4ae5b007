"""
A spool never grows beyond its bounds, and says exactly what that cost.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from leadline.spool import Reader, Spool

Numbered = Callable[[int, int], list[bytes]]
Drain = Callable[[Reader], list[bytes]]


def on_disk(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("*.ndjson"))


def test_bytes_are_bounded_and_the_loss_is_counted(
    folder: Path, clock: Any, numbered: Numbered, drain: Drain
) -> None:
    """
    At every moment the folder is within max_bytes; delivered + dropped = appended.
    """
    with Spool(folder, max_bytes=1000, clock=clock) as spool:
        reader = spool.reader("sender")
        for first in range(0, 500, 5):
            spool.append(numbered(first, 5))
            assert on_disk(folder) <= 1000
        kept = drain(reader)
        lost = spool.counters.dropped_documents
        assert numbered(lost, 500 - lost) == kept
        assert spool.counters.dropped_bytes == sum(len(x) + 1 for x in numbered(0, lost))


def test_bound_does_not_count_what_was_read(folder: Path, clock: Any, numbered: Numbered) -> None:
    """
    Dropping a segment that the reader had half read counts only the other half.
    """
    with Spool(folder, max_bytes=2400, segment_bytes=100, clock=clock) as spool:
        reader = spool.reader("sender")
        spool.append(numbered(100, 8))
        reader.commit(reader.read(max_lines=6).position)
        while spool.counters.dropped_documents == 0:
            spool.append(numbered(100, 8))
        assert spool.counters.dropped_documents == 2
        assert spool.counters.dropped_bytes == 2 * len(b'{"n": 100}\n')


def test_old_documents_are_dropped_by_age(
    folder: Path, clock: Any, numbered: Numbered, drain: Drain
) -> None:
    """
    What waited longer than max_age_seconds goes, and is counted; what is younger stays.
    """
    with Spool(folder, max_age_seconds=86400, segment_seconds=3600, clock=clock) as spool:
        reader = spool.reader("sender")
        for hour in range(48):
            spool.append(numbered(hour, 1))
            clock.now += 3600
        spool.trim()
        lost = spool.counters.dropped_documents
        assert lost in (23, 24)
        assert numbered(lost, 48 - lost) == drain(reader)


def test_without_readers_everything_is_kept_to_the_bound(
    folder: Path, clock: Any, numbered: Numbered, drain: Drain
) -> None:
    """
    A spool nobody has read yet waits for its first reader.
    """
    with Spool(folder, segment_bytes=50, clock=clock) as spool:
        for first in range(0, 100, 10):
            clock.now += 10
            spool.append(numbered(first, 10))
        assert numbered(0, 100) == drain(spool.reader("late"))


def test_clock_stepping_back_loses_nothing(
    folder: Path, clock: Any, numbered: Numbered, drain: Drain
) -> None:
    """
    Order comes from positions, never from times.
    """
    with Spool(folder, segment_seconds=10, clock=clock) as spool:
        for n in range(20):
            spool.append(numbered(n, 1))
            clock.now += 3600 if n % 3 else -7200
        assert numbered(0, 20) == drain(spool.reader("sender"))
        assert spool.counters.dropped_documents == 0
    with Spool(folder, clock=clock) as spool:
        spool.append(numbered(20, 1))
        assert numbered(20, 1) == drain(spool.reader("sender"))


def test_drop_interrupted_after_counting_is_not_counted_twice(
    folder: Path, clock: Any, numbered: Numbered
) -> None:
    """
    Killed between counting a drop and removing the file, the next start only removes it.
    """
    with Spool(folder, max_bytes=400, clock=clock) as spool:
        spool.reader("sender")
        spool.append(numbered(0, 5))
        first = min(folder.glob("*.ndjson"))
        content = first.read_bytes()
        while first.exists():
            spool.append(numbered(0, 5))
        before = spool.counters
    first.write_bytes(content)
    with Spool(folder, max_bytes=4000, clock=clock) as spool:
        assert before == spool.counters
        assert not first.exists()
