"""
A spool under violence: torn anywhere, killed anywhere, a full disk, broken files.
"""

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.errors import SpoolError
from leadline.spool import Reader, Spool

Numbered = Callable[[int, int], list[bytes]]
Drain = Callable[[Reader], list[bytes]]


def test_truncated_anywhere_nothing_before_is_lost(
    tmp_path: Path, folder: Path, numbered: Numbered, drain: Drain
) -> None:
    """
    Cut the last segment at every byte: whole lines before the cut stay, in order, none twice, and
    new ones follow them.
    """
    with Spool(folder, segment_bytes=120) as spool:
        spool.reader("sender")
        for first in range(0, 30, 3):
            spool.append(numbered(first, 3))
    last = max(folder.glob("*.ndjson"))
    data = last.read_bytes()
    before = 30 - data.count(b"\n")
    for cut in range(len(data) + 1):
        torn = tmp_path / f"cut{cut}"
        shutil.copytree(folder, torn)
        os.truncate(torn / last.name, cut)
        kept = before + data[:cut].count(b"\n")
        with Spool(torn) as spool:
            assert spool.counters.appended == kept
            spool.append(numbered(1000, 2))
            reader = spool.reader("sender")
            assert numbered(0, kept) + numbered(1000, 2) == drain(reader)
        shutil.rmtree(torn)


@settings(max_examples=60, deadline=None)
@given(
    batches=st.lists(st.lists(st.binary(max_size=40), max_size=5), max_size=12),
    segment_bytes=st.integers(1, 200),
    reads=st.lists(st.tuples(st.integers(1, 6), st.integers(1, 100), st.booleans()), max_size=20),
    cut=st.integers(0, 300),
)
def test_any_history_repeats_only_what_was_not_committed(
    tmp_path_factory: pytest.TempPathFactory,
    drain: Drain,
    batches: list[list[bytes]],
    segment_bytes: int,
    reads: list[tuple[int, int, bool]],
    cut: int,
) -> None:
    """
    Whatever is appended, read, committed or torn: after a restart the reader goes on exactly behind
    its last commit, with everything that was whole.
    """
    folder = tmp_path_factory.mktemp("spool")
    lines = [line.replace(b"\n", b" ") for batch in batches for line in batch]
    with Spool(folder, segment_bytes=segment_bytes) as spool:
        for batch in batches:
            spool.append([line.replace(b"\n", b" ") for line in batch])
        reader = spool.reader("r")
        committed = 0
        for max_lines, max_bytes, commit in reads:
            found = reader.read(max_lines, max_bytes)
            assert lines[committed : committed + found.count] == found.lines
            if commit:
                reader.commit(found.position)
                committed += found.count
        reader.close()
    last = max(folder.glob("*.ndjson"))
    os.truncate(last, max(last.stat().st_size - cut, 0))
    with Spool(folder, segment_bytes=segment_bytes) as spool:
        whole = max(spool.counters.appended, committed)
        spool.append([b"after"])
        assert [*lines[committed:whole], b"after"] == drain(spool.reader("r"))


def test_reader_ahead_of_a_torn_spool_skips_nothing_new(
    folder: Path, numbered: Numbered, drain: Drain
) -> None:
    """
    Power went before the disk had what a reader had already delivered: what comes next has places
    behind the reader's position, so none of it is skipped.
    """
    with Spool(folder) as spool:
        spool.append(numbered(0, 50))
        assert numbered(0, 50) == drain(spool.reader("sender"))
    os.truncate(max(folder.glob("*.ndjson")), 5)
    with Spool(folder) as spool:
        spool.append(numbered(50, 50))
        assert numbered(50, 50) == drain(spool.reader("sender"))


def test_lost_segments_do_not_hide_new_documents(
    folder: Path, numbered: Numbered, drain: Drain
) -> None:
    """
    Somebody removed the segments and left the positions: new documents still arrive.
    """
    with Spool(folder) as spool:
        spool.append(numbered(0, 50))
        drain(spool.reader("sender"))
    for path in folder.glob("*.ndjson"):
        path.unlink()
    with Spool(folder) as spool:
        spool.append(numbered(50, 5))
        assert numbered(50, 5) == drain(spool.reader("sender"))


@pytest.mark.parametrize(
    "broken", [b"", b"{", b"[]", b"null", b'{"offset": -1, "line": 2}', b"\x00" * 40, b"\xff\xfe"]
)
def test_broken_position_starts_over(
    folder: Path, numbered: Numbered, drain: Drain, broken: bytes
) -> None:
    """
    A position that cannot be read costs repeats, never documents.
    """
    with Spool(folder) as spool:
        spool.append(numbered(0, 5))
        drain(spool.reader("sender"))
    (folder / "reader-sender.json").write_bytes(broken)
    (folder / "counters.json").write_bytes(broken)
    with Spool(folder) as spool:
        assert numbered(0, 5) == drain(spool.reader("sender"))
    with Spool(folder) as spool:
        assert drain(spool.reader("sender")) == []


def test_position_inside_a_line_goes_back_to_its_start(
    folder: Path, numbered: Numbered, drain: Drain
) -> None:
    """
    A position from elsewhere repeats a line rather than delivering half of it.
    """
    with Spool(folder) as spool:
        spool.append(numbered(0, 5))
        spool.reader("sender")
        (folder / "reader-sender.json").write_bytes(b'{"offset": 13, "line": 1}')
        assert numbered(1, 4) == drain(spool.reader("sender"))


def test_full_disk_refuses_the_batch_and_keeps_the_rest(
    folder: Path, numbered: Numbered, drain: Drain
) -> None:
    """
    No room in the middle of a batch: one clear line, the batch is cut back, earlier ones stay, and
    when there is room again so do later ones.
    """
    with Spool(folder) as spool:
        spool.append(numbered(0, 10))
        reader = spool.reader("sender")
        with limited_file_size(150), pytest.raises(SpoolError) as caught:
            spool.append(numbered(10, 10))
        assert str(caught.value) == (
            f"spool {folder}: 10 documents not accepted: File too large;"
            " what was accepted before is safe"
        )
        assert numbered(0, 10) == reader.read().lines
        assert spool.counters.appended == 10
        spool.append(numbered(20, 10))
        assert numbered(0, 10) + numbered(20, 10) == drain(reader)
    with Spool(folder) as spool:
        assert spool.counters.appended == 20


def test_reader_that_saw_a_refused_batch_is_not_led_astray(
    folder: Path, numbered: Numbered, drain: Drain
) -> None:
    """
    Lines of a batch that failed may have been read already; what is accepted next is still whole.
    """
    with Spool(folder) as spool:
        reader = spool.reader("sender")
        spool.append(numbered(0, 10))
        real = os.ftruncate
        with limited_file_size(150):
            seen = []

            def late(handle: int, size: int) -> None:
                seen.append(reader.read())
                real(handle, size)

            os.ftruncate = late
            try:
                with pytest.raises(SpoolError):
                    spool.append(numbered(10, 10))
            finally:
                os.ftruncate = real
        assert len(seen[0].lines) > 10
        reader.commit(seen[0].position)
        spool.append(numbered(100, 10))
        assert numbered(100, 10) == drain(reader)


class limited_file_size:  # noqa: N801 - reads as a context, like the ones of contextlib
    """
    A full disk that needs no root: no file of this process may grow beyond `size`.
    """

    def __init__(self, size: int) -> None:
        self.size = size

    def __enter__(self) -> None:
        self.before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (self.size, self.before[1]))

    def __exit__(self, *_: object) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, self.before)


WRITER = """
import sys
from leadline.spool import Spool

with Spool(sys.argv[1], segment_bytes=20_000) as spool:
    n = spool.counters.appended
    while True:
        spool.append([b"%d" % k + b"x" * 50 for k in range(n, n + 20)])
        n += 20
        print(n, flush=True)
"""


def test_killed_writer_loses_nothing_it_acknowledged(folder: Path) -> None:
    """
    kill -9 in a loop: every acknowledged document is there, numbered without a gap or a repeat.
    """
    dice = random.Random(5)
    acknowledged, seen = 0, []
    for _ in range(6):
        child = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(dice.uniform(0.0, 0.1))
        child.send_signal(signal.SIGKILL)
        acknowledged = max(int(n) for n in child.stdout.read().split())
        child.wait()
        child.stdout.close()
        reader = Reader(folder, "sender")
        while (batch := reader.read(max_lines=37)).count:
            seen += [int(line.rstrip(b"x")) for line in batch.lines]
            reader.commit(batch.position)
        assert len(seen) >= acknowledged
        assert list(range(len(seen))) == seen


def test_reader_follows_a_writer_of_another_process(folder: Path) -> None:
    """
    A reader beside a working writer never sees half a line, a gap or a repeat.
    """
    child = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    child.stdout.readline()
    reader = Reader(folder, "sender")
    seen: list[int] = []
    until = time.monotonic() + 1
    while time.monotonic() < until:
        batch = reader.read(max_lines=100)
        seen += [int(line.rstrip(b"x")) for line in batch.lines]
        reader.commit(batch.position)
    child.kill()
    child.communicate()
    assert len(seen) > 100
    assert list(range(len(seen))) == seen
