"""What processes of the pages share, on disks that are full, read-only or gone."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from leadline.web.seals import Tickets, ticket
from leadline.web.shared import TRIES, WINDOW, Tries
from tests.web.conftest import NOW

SECRET = "a-secret-of-some-length"


@contextmanager
def full() -> Iterator[None]:
    """
    No byte can be written to any file.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture(params=["there", "gone"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path if request.param == "there" else tmp_path / "gone"


def test_a_full_disk_lets_in_once(folder: Path) -> None:
    """
    A ticket opens, and no second time, though nowhere can be written that it did.
    """
    tickets = Tickets(SECRET, folder / "spent", lambda: NOW)
    shown = ticket(SECRET, NOW)
    with full():
        assert tickets.take(shown)
        assert not tickets.take(shown)
    assert not tickets.take(shown)


def test_a_full_disk_counts_wrong_passwords(folder: Path) -> None:
    """
    Tries are counted and run out as on any other disk.
    """
    now = [NOW]
    tries = Tries(folder / "wrong", lambda: now[0])
    with full():
        for _ in range(TRIES):
            assert not tries.waits("alice")
            tries.wrong("alice")
        assert tries.waits("alice")
        assert not tries.waits("bjorn")
        now[0] += WINDOW + timedelta(seconds=1)
        assert not tries.waits("alice")
