"""What the tests of senders share: workers that end with the test."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.shipper.senders.worker import Worker


@pytest.fixture
def worker() -> Iterator[Callable[..., Worker]]:
    started: list[Worker] = []

    def start(*args: Any, **kwargs: Any) -> Worker:
        started.append(Worker(*args, **kwargs))
        return started[-1]

    yield start
    for one in started:
        one.close()
