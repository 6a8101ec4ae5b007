"""
Answers in words: what an empty one says.
"""

from __future__ import annotations

from leadline.reports.answers import why_empty
from tests.query.conftest import answer, sample, stored


def test_no_accounted_run_is_no_lack_of_samples() -> None:
    """
    Whoever asks for runs and gets none is told where runs come from, not that nodes are silent.
    """
    store = stored([sample(1)])
    assert "No accounted run" in why_empty(answer(store, "wall_hours by user during 2020"))
    both = "wall_hours, core_hours_used by user during 2020"
    assert "No samples in this period" in why_empty(answer(store, both))
