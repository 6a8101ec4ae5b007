"""The worker's books balance, also when it dies between two writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from enrich.counters import Counters, Tally
from leadline.spool import Position

FIRST, SECOND = Position(100, 10), Position(200, 20)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "counters.json"


def test_books_are_kept(path: Path) -> None:
    """
    A worker that starts again goes on counting where it was.
    """
    counters = Counters(path, Position())
    counters.note(Tally(stored=7, duplicate=2, dead_lettered=1), FIRST)
    counters.note(Tally(stored=10), SECOND)
    assert Tally(stored=17, duplicate=2, dead_lettered=1) == Counters(path, SECOND).tally


def test_batch_is_counted_once_after_a_crash(path: Path) -> None:
    """
    The books knew a batch, the spool did not: it is read again and counted that time.
    """
    counters = Counters(path, Position())
    counters.note(Tally(stored=10), FIRST)
    counters.note(Tally(stored=10), SECOND)  # killed before the spool's commit
    again = Counters(path, FIRST)
    again.note(Tally(duplicate=10), SECOND)
    assert Tally(stored=10, duplicate=10) == again.tally


def test_what_the_bound_took_is_counted(path: Path) -> None:
    """
    Lines that were dropped before they were read stand in the books as such.
    """
    counters = Counters(path, Position())
    counters.note(Tally(stored=5), FIRST)
    assert Tally(stored=5, dropped_by_bound=5) == counters.tally


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b'{"now":{"position":{"x":1}}}'])
def test_broken_books_start_anew_and_balance(path: Path, content: bytes) -> None:
    """
    Lost books never stop a worker: what they knew counts as dropped.
    """
    path.write_bytes(content)
    assert 10 == Counters(path, FIRST).tally.total
