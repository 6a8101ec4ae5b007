"""
A spool as its users see it: what goes in comes out, in order, once per reader.
"""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leadline.errors import SpoolError
from leadline.settings import Size
from leadline.spool import Pending, Reader, Spool, SpoolSettings, pending

Numbered = Callable[[int, int], list[bytes]]
Drain = Callable[[Reader], list[bytes]]


def test_lines_come_out_as_they_went_in(folder: Path, numbered: Numbered, drain: Drain) -> None:
    """
    Documents come out in order and unchanged, across segments.
    """
    with Spool(folder, segment_bytes=50) as spool:
        for first in range(0, 100, 10):
            spool.append(numbered(first, 10))
        assert len(list(folder.glob("*.ndjson"))) == 10
        assert numbered(0, 100) == drain(spool.reader("sender"))


def test_uncommitted_batch_comes_again(folder: Path, numbered: Numbered) -> None:
    """
    A batch is the same until its position is committed, also for a reader opened anew.
    """
    with Spool(folder) as spool:
        spool.append(numbered(0, 20))
        reader = spool.reader("sender")
        first = reader.read(max_lines=5)
        assert reader.read(max_lines=5) == first
        assert numbered(5, 5) == reader.read(max_lines=5, after=first.position).lines
        reader.commit(first.position)
        assert numbered(5, 15) == spool.reader("sender").read().lines


def test_reader_sees_appends_of_an_open_writer(folder: Path, numbered: Numbered) -> None:
    """
    A reader that found nothing sees the next append at once, also in a new segment.
    """
    with Spool(folder, segment_bytes=10) as spool:
        reader = Reader(folder, "elsewhere")
        for n in range(5):
            assert reader.read().count == 0
            spool.append(numbered(n, 1))
            batch = reader.read()
            assert numbered(n, 1) == batch.lines
            reader.commit(batch.position)


def test_readers_do_not_disturb_each_other(folder: Path, numbered: Numbered, drain: Drain) -> None:
    """
    Every name has its own position; segments stay until the slowest has read them.
    """
    with Spool(folder, segment_bytes=50) as spool:
        fast, slow = spool.reader("fast"), spool.reader("slow")
        for first in range(0, 50, 10):
            spool.append(numbered(first, 10))
        assert numbered(0, 50) == drain(fast)
        spool.trim()
        assert numbered(0, 50) == drain(slow)
        spool.trim()
        assert len(list(folder.glob("*.ndjson"))) == 1
        assert spool.counters.dropped_documents == 0


def test_line_larger_than_max_bytes_is_delivered(folder: Path) -> None:
    """
    One huge document never blocks the stream.
    """
    with Spool(folder) as spool:
        spool.append([b"x" * 100_000, b"small"])
        batch = spool.reader("sender").read(max_bytes=10)
        assert batch.lines[0] == b"x" * 100_000


def test_newline_in_a_document_is_refused(folder: Path) -> None:
    """
    One document is one line; anything else would shift every count behind it.
    """
    with Spool(folder) as spool:
        with pytest.raises(SpoolError, match="newline"):
            spool.append([b'{"a":\n1}'])
        assert spool.counters.appended == 0


def test_nothing_to_append_is_fine(folder: Path) -> None:
    """
    An empty batch is accepted and changes nothing.
    """
    with Spool(folder) as spool:
        spool.append([])
        assert spool.counters.appended == 0


def test_second_writer_is_refused_by_name(folder: Path) -> None:
    """
    Two writers would mix lines: the second is told who has the folder.
    """
    with Spool(folder), pytest.raises(SpoolError, match=r"process \d+ writes here already"):
        Spool(folder)
    Spool(folder).close()


def test_pending_counts_documents_bytes_and_age(
    folder: Path, clock: Any, numbered: Numbered
) -> None:
    """
    What waits is known exactly, by the writer and from another process.
    """
    with Spool(folder, segment_bytes=50, clock=clock) as spool:
        reader = spool.reader("sender")
        assert spool.pending("sender") == Pending(0, 0, 0.0)
        for first in range(0, 60, 10):
            spool.append(numbered(first, 10))
            clock.now += 60
        size = sum(len(line) + 1 for line in numbered(0, 60))
        assert spool.pending("sender") == Pending(60, size, 360.0)
        reader.commit(reader.read(max_lines=10).position)
        reader.commit(reader.read(max_lines=3).position)
        size -= sum(len(line) + 1 for line in numbered(0, 13))
        assert spool.pending("sender") == Pending(47, size, 300.0)
        assert pending(folder, "sender", clock.now) == Pending(47, size, 300.0)


def test_counters_survive_a_restart(folder: Path, numbered: Numbered, drain: Drain) -> None:
    """
    Appended and dropped go on from where the last process left them.
    """
    with Spool(folder, max_bytes=400) as spool:
        spool.reader("sender")
        for first in range(0, 100, 10):
            spool.append(numbered(first, 10))
        before = spool.counters
    with Spool(folder, max_bytes=400) as spool:
        assert before == spool.counters
        assert before.appended == 100
        assert before.dropped_documents > 0
        rest = drain(spool.reader("sender"))
        assert numbered(before.dropped_documents, 100 - before.dropped_documents) == rest


def test_many_threads_append_at_once(folder: Path, drain: Drain) -> None:
    """
    Batches of many threads share syncs: each stays whole, each thread's own order is kept.
    """
    with Spool(folder, segment_bytes=2000) as spool:

        def work(name: int) -> None:
            for n in range(50):
                spool.append([b"%d %d %d" % (name, n, part) for part in range(3)])

        threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = [tuple(map(int, line.split())) for line in drain(spool.reader("sender"))]
        assert spool.counters.appended == len(found) == 8 * 50 * 3
    for name in range(8):
        own = [(n, part) for who, n, part in found if who == name]
        assert own == [(n, part) for n in range(50) for part in range(3)]
    whole = [found[at : at + 3] for at in range(0, len(found), 3)]
    assert all(len({(who, n) for who, n, _ in batch}) == 1 for batch in whole)


def test_closed_spool_refuses_politely(folder: Path) -> None:
    """
    Appending after close is an error with the folder's name, not a crash.
    """
    spool = Spool(folder)
    spool.close()
    spool.close()
    with pytest.raises(SpoolError, match="is closed"):
        spool.append([b"{}"])


@pytest.mark.parametrize("name", ["", "../up", "a b", "x" * 65])
def test_odd_reader_names_are_refused(folder: Path, name: str) -> None:
    """
    A reader's name becomes a file's name, so it is kept plain.
    """
    with Spool(folder) as spool, pytest.raises(SpoolError, match="letters, digits"):
        spool.reader(name)


def test_settings_make_a_spool(tmp_path: Path) -> None:
    """
    The settings' path wins over the data folder; their bounds hold.
    """
    small = SpoolSettings(max_size=Size(1 << 16))
    with Spool.from_settings(tmp_path / "data", small) as spool:
        assert spool.folder == tmp_path / "data"
        with pytest.raises(SpoolError, match="exceed max_size 65536; raise it"):
            spool.append([b"x" * 65536])
    elsewhere = SpoolSettings(path=tmp_path / "set")
    with Spool.from_settings(tmp_path / "data", elsewhere) as spool:
        assert spool.folder == tmp_path / "set"


def test_a_bound_that_holds_nothing_is_refused() -> None:
    """
    A spool too small for one batch would drop everything; the settings say so at once.
    """
    with pytest.raises(ValueError, match="below 64KiB"):
        SpoolSettings(max_size=Size(1000))
