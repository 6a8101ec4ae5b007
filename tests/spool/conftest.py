"""What the tests of a spool share: a clock that only moves when told, numbered documents."""

from collections.abc import Callable
from pathlib import Path

import pytest

from leadline.spool import Reader


class FakeClock:
    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "spool"


@pytest.fixture(scope="session")
def drain() -> Callable[[Reader], list[bytes]]:
    def drain(reader: Reader) -> list[bytes]:
        found: list[bytes] = []
        while (batch := reader.read(max_lines=7, max_bytes=1000)).count:
            found += batch.lines
            reader.commit(batch.position)
        return found

    return drain


@pytest.fixture(scope="session")
def numbered() -> Callable[[int, int], list[bytes]]:
    def numbered(first: int, count: int) -> list[bytes]:
        return [b'{"n": %d}' % n for n in range(first, first + count)]

    return numbered
