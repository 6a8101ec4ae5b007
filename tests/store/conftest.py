"""
The three stores behind one fixture.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from leadline.store.contract import Store
from leadline.store.lake import LakeStore
from leadline.store.memory import MemoryStore


@pytest.fixture
def memory() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[LakeStore]:
    store = LakeStore(tmp_path / "lake")
    yield store
    store.close()


@pytest.fixture(params=["memory", "lake", pytest.param("opensearch", marks=pytest.mark.opensearch)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """
    Each of the three in turn: what holds for one holds for all.
    """
    if request.param == "memory":
        opened: Store = MemoryStore()
    elif request.param == "lake":
        opened = LakeStore(tmp_path / "lake")
    else:
        opened = request.getfixturevalue("opensearch_store")
    yield opened
    opened.close()
