"""
People forgotten in the lake while other processes write and merge.
"""

from __future__ import annotations

import threading
from pathlib import Path

from leadline.store.lake import LakeStore
from leadline.store.people import People
from leadline.store.scope import EVERYTHING
from tests.store.documents import process

ALICE = People({"alice": None})


def users(store: LakeStore) -> list[object]:
    return [d["user.name"] for batch in store.scan("process", EVERYTHING) for d in batch]


def test_files_merged_meanwhile_are_found_again(tmp_path: Path) -> None:
    """
    Another process appends small batches, which merge under way: nothing of hers that was there
    stays, and nothing of bob's is lost.
    """
    store = LakeStore(tmp_path / "lake")
    for start in range(0, 60, 6):
        numbers = range(start, start + 6)
        store.write(
            [process(n, **{"user.name": "alice" if n % 2 else "bob"}) for n in numbers], "create"
        )

    def write() -> None:
        other = LakeStore(tmp_path / "lake")
        for start in range(60, 180, 6):
            other.write(
                [process(n, **{"user.name": "bob"}) for n in range(start, start + 6)], "create"
            )
        other.close()

    writer = threading.Thread(target=write)
    writer.start()
    count = store.forget("process", ALICE, dry_run=False)
    writer.join()
    assert 30 == count
    assert ["bob"] * 150 == users(store)
    store.close()


def test_a_month_that_was_all_hers_is_empty(tmp_path: Path) -> None:
    """
    No file is left of it, and the next write finds its place.
    """
    store = LakeStore(tmp_path / "lake")
    store.write([process(n, **{"user.name": "alice"}) for n in range(5)], "create")
    assert 5 == store.forget("process", ALICE, dry_run=False)
    assert [] == users(store)
    assert [] == store.table("process").files()
    store.write([process(1, **{"user.name": "bob"})], "create")
    assert ["bob"] == users(store)
    store.close()
