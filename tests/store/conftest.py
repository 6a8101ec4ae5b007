"""
The three stores behind one fixture.
"""

from __future__ import annotations

import importlib.util
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from leadline.store.contract import Store
from leadline.store.lake import LakeStore
from leadline.store.memory import MemoryStore

HAVE_OPENSEARCH = importlib.util.find_spec("leadline.store.opensearch.store") is not None


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
        opened = _opensearch(request)
    yield opened
    opened.close()


def _opensearch(request: pytest.FixtureRequest) -> Store:
    if not HAVE_OPENSEARCH:
        pytest.skip("leadline.store.opensearch.store is not there yet")
    from leadline.store.opensearch import OpenSearchStore

    url = request.getfixturevalue("opensearch")
    opened: Store = OpenSearchStore([url], prefix=f"t{uuid.uuid4().hex[:12]}-", refresh="true")
    return opened
