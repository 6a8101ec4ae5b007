"""
A fake machine, and snapshots of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from leadline.formats import Document
from leadline.formats.validate import check
from shipper.settings import CollectSettings
from shipper.snapshot import Snapshots
from tests.shipper.fake import FakeSystem

Take = Callable[..., list[Document]]


@pytest.fixture
def system(tmp_path: Path) -> FakeSystem:
    return FakeSystem(tmp_path / "machine")


@pytest.fixture
def start(system: FakeSystem) -> Iterator[Callable[..., Snapshots]]:
    """
    Snapshots of the fake machine with given settings; only the process collector unless told.
    """
    made: list[Snapshots] = []

    def begin(*, state: Path | None = None, **settings: object) -> Snapshots:
        settings.setdefault("collectors", ("process", "node"))
        snapshots = Snapshots(CollectSettings(**settings), system, state)  # type: ignore[arg-type]
        made.append(snapshots)
        return snapshots

    yield begin
    for snapshots in made:
        snapshots.close()


def processes(documents: list[Document]) -> list[Document]:
    return of(documents, "process")


def of(documents: list[Document], dataset: str) -> list[Document]:
    """
    Documents of one dataset, each as the gate lets it pass: nothing unknown, nothing broken.
    """
    passed = [check(dict(d)) for d in documents if d["dataset"] == dataset]
    for document in passed:
        assert "labels" not in document, document["labels"]
    return passed


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < until, "did not happen within 20 s"
        time.sleep(0.01)
