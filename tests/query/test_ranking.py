"""
Top rows of many: the store ranks where it can, and what is shown does not depend on it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from leadline.formats import Document
from leadline.query import ask, parse_question
from leadline.store.contract import Store
from leadline.store.lake import LakeStore
from leadline.store.plan import Plan, Row
from leadline.store.scope import EVERYTHING, Scope
from tests.any_store import STORES
from tests.query.conftest import NOW, ZONE, answer, sample, stored

JOBS = [
    sample(n, **{"core_seconds": float(3600 * (n % 40)), "job.id": f"fox/{n % 80}"})
    for n in range(400)
] + [sample(1000, core_seconds=7200.0)]


class Counting(LakeStore):
    """
    Remembers how many rows each plan came to.
    """

    sent: tuple[int, ...] = ()

    def ask(self, plan: Plan, scope: Scope) -> list[Row]:
        rows = super().ask(plan, scope)
        self.sent = (*self.sent, len(rows))
        return rows


@pytest.mark.parametrize("order", ["", " order core_hours_used ascending"])
def test_few_rows_are_sent(tmp_path: Path, order: str) -> None:
    """
    Of eighty jobs the lake sends the five shown and one more; ties, others and counts are as in
    the naive store, which sends them all.
    """
    lake = Counting(tmp_path / "lake")
    lake.write(JOBS, "create")
    asked = parse_question(f"core_hours_used by job during all top 5{order}")
    found = ask(asked, lake, EVERYTHING, NOW, zone=ZONE)
    expected = ask(asked, stored(JOBS), EVERYTHING, NOW, zone=ZONE)
    lake.close()
    assert max(lake.sent) <= 6
    assert expected.rows == found.rows
    assert (76, expected.others_count) == (found.others_count, found.others_count)
    assert expected.others == pytest.approx(found.others)
    assert expected.total == pytest.approx(found.total)


def test_a_node_that_was_down_all_the_time_is_not_among_the_unused() -> None:
    """
    Nobody could have used it, which is what `leadline nodes --never-used` says, too.
    """

    def hour(host: str, up: float) -> Document:
        return {
            "dataset": "capacity",
            "@timestamp": "2026-11-20T11:00:00.000Z",
            "cluster": "fox",
            "host.name": host,
            "seconds.up": up,
            "seconds.down": 3600.0 - up,
            "record.version": 1,
        }

    store = stored([hour("idle", 3600.0), hour("broken", 0.0), sample(1)])
    found = answer(
        store, "core_hours_used by host during all top 9 order core_hours_used ascending"
    )
    assert ["idle", "c1-1"] == [row["host"] for row in found.rows]


@STORES
def test_hours_and_classes_stand_in_their_own_order(other: Store) -> None:
    """
    Of classes and hours the greatest are shown, and those in their order, day by day too; who asks
    for a ranking gets one.
    """
    sizes = [20, 30, 30, 30, 34, 34, 36]
    other.write(
        [
            sample(n, **{"memory.rss.bytes": 2**size, "local.hour": 23 - n})
            for n, size in enumerate(sizes)
        ],
        "create",
    )

    def told(text: str, name: str) -> list[object]:
        return [row[name] for row in answer(other, text).rows]

    classes = "samples by memory_class"
    assert [0, 2**30, 2**34, 2**36] == told(f"{classes} during all", "memory_class")
    assert [2**30, 2**34] == told(f"{classes} during all top 2", "memory_class")
    assert [2**30, 2**34] == told(f"{classes} per day during all top 2", "memory_class")
    assert [2**30, 2**34, 0] == told(f"{classes} during all top 3 order samples", "memory_class")
    assert list(range(17, 24)) == told("samples by hour_of_day during all top 20", "hour_of_day")
