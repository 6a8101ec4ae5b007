"""
The three stores behind one fixture, `other`, for what must be the same on each: a test asks for it
with the mark STORES.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from leadline.store.contract import Store
from leadline.store.lake import LakeStore
from leadline.store.memory import MemoryStore

STORES = pytest.mark.parametrize(
    "open_store", ["memory", "lake", pytest.param("opensearch", marks=pytest.mark.opensearch)]
)


@pytest.fixture
def other(request: pytest.FixtureRequest, open_store: str, tmp_path: Path) -> Iterator[Store]:
    """
    An empty store of the kind `open_store`.
    """
    if open_store == "opensearch":
        yield request.getfixturevalue("opensearch_store")
        return
    store: Store = MemoryStore() if open_store == "memory" else LakeStore(tmp_path / "other")
    yield store
    store.close()
