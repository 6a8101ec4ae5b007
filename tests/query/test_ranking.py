"""
Top rows of many: the store ranks where it can, and what is shown does not depend on it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from leadline.query import ask, parse_question
from leadline.store.lake import LakeStore
from leadline.store.plan import Plan, Row
from leadline.store.scope import EVERYTHING, Scope
from tests.query.conftest import NOW, ZONE, sample, stored

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
