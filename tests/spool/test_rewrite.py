"""
A spool in which a person is forgotten: before its readers, behind them, and killed in between.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

from leadline.spool import Spool
from leadline.spool.rewrite import rewrite


def hide(line: bytes) -> bytes | None:
    """
    alice gets a longer name, bob goes, everybody else stays.
    """
    if b"bob" in line:
        return None
    return line.replace(b"alice", b"u234567abcdefghij") if b"alice" in line else line


def filled(folder: Path, delivered: int = 3) -> None:
    with Spool(folder, segment_bytes=40) as spool:
        reader = spool.reader("store")
        for number in range(12):
            name = ("alice", "bob", "carl")[number % 3]
            spool.append([b"%d %s" % (number, name.encode())])
        reader.commit(reader.read(delivered).position)
        reader.close()


def waiting(folder: Path) -> list[bytes]:
    with Spool(folder) as spool:
        reader, found = spool.reader("store"), []
        at = reader.position
        while (batch := reader.read(after=at)).count:
            found += batch.lines
            at = batch.position
        reader.close()
    return found


def on_disk(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.glob("*.ndjson"))


def test_what_waits_is_changed_and_what_was_delivered_goes(tmp_path: Path) -> None:
    """
    In order, nothing of others lost, and none of it left on the disk.
    """
    filled(tmp_path)
    assert 6 <= rewrite(tmp_path, hide, dry_run=True).lines <= 8
    assert b"alice" in on_disk(tmp_path)

    done = rewrite(tmp_path, hide, dry_run=False)

    assert not done.left
    expected = [b"3 u234567abcdefghij", b"5 carl", b"6 u234567abcdefghij", b"8 carl"]
    assert [*expected, b"9 u234567abcdefghij", b"11 carl"] == waiting(tmp_path)
    assert not {b"alice", b"bob"} & {
        name for name in (b"alice", b"bob") if name in on_disk(tmp_path)
    }
    assert 0 == rewrite(tmp_path, hide, dry_run=True).lines


def test_all_delivered_leaves_nothing(tmp_path: Path) -> None:
    """
    The last segment goes as well, though nothing comes after it.
    """
    filled(tmp_path, delivered=12)
    with Spool(tmp_path) as spool:
        reader = spool.reader("store")
        reader.commit(spool.end)
        reader.close()
    rewrite(tmp_path, hide, dry_run=False)
    assert b"" == on_disk(tmp_path)
    with Spool(tmp_path) as spool:
        spool.append([b"later"])
    assert [b"later"] == waiting(tmp_path)


def test_where_a_process_writes_it_is_left(tmp_path: Path) -> None:
    """
    Counted, and said: its daemon delivers it.
    """
    filled(tmp_path)
    before = on_disk(tmp_path)
    with Spool(tmp_path):
        assert rewrite(tmp_path, hide, dry_run=False).left
    assert before == on_disk(tmp_path)


def test_no_spool_is_nothing(tmp_path: Path) -> None:
    """
    Most machines have one of the two.
    """
    assert 0 == rewrite(tmp_path / "none", hide, dry_run=False).lines
    assert not (tmp_path / "none").exists()


def die_after(folder: Path, changes: int) -> bool:
    """
    Killed at the n-th line it changes, or after all of them.
    """
    child = os.fork()
    if child == 0:
        done = 0

        def change(line: bytes) -> bytes | None:
            nonlocal done
            done += 1
            if done == changes:
                os.kill(os.getpid(), signal.SIGKILL)
            return hide(line)

        try:
            rewrite(folder, change, dry_run=False)
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def test_killed_anywhere_it_can_be_finished(tmp_path: Path) -> None:
    """
    Nothing of others is lost; some of it may be there twice.
    """
    points = 1
    while True:
        folder = tmp_path / str(points)
        filled(folder)
        died = die_after(folder, points)
        rewrite(folder, hide, dry_run=False)
        left = waiting(folder)
        assert {b"5 carl", b"8 carl", b"11 carl"} <= set(left)
        assert not any(b"alice" in line or b"bob" in line for line in left)
        if not died:
            break
        points += 1
    assert points > 12
