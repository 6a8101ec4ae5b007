"""
What is not told apart is refused with a reason and a way out; all else is told.
"""

from __future__ import annotations

import pytest

from leadline.errors import QuestionError
from leadline.query import DIMENSIONS, MEASURES, Dimension, Measure, question
from leadline.query.refusals import knows, refusal
from leadline.store.memory import MemoryStore
from tests.query.conftest import answer, stored
from tests.query.test_runs import DOCUMENTS

LISTED = ("processes", "jobs_sampled")  # too many to be joined by what runs were


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("wait_p90 by program", "do not account it; ask core_hours_used, jobs_sampled"),
        ("jobs_running by weekday", "a run is in every hour it ran; ask jobs_started, wall_hours"),
        ("wall_hours by host", "schedulers do not account it; ask core_hours_used"),
        ("memory_p90 by state", "ranks do not add up; ask memory_mean, core_hours_used"),
        ("cpu_utilisation by user", "whoever used them; ask core_hours_used, core_hours_alloc"),
        ("core_hours_counted by tag", "only name their run; ask core_hours_used"),
        ("samples where gpu_model=A", "do not know it; ask gpu_hours_busy, gpu_hours_allocated"),
    ],
)
def test_refusals_say_what_to_ask(text: str, said: str) -> None:
    """
    Why, and two measures of other documents that know it.
    """
    with pytest.raises(QuestionError, match=said):
        answer(stored([]), f"{text} during all")


@pytest.mark.parametrize("known", MEASURES, ids=lambda known: known.name)
def test_all_else_is_told(known: Measure) -> None:
    """
    A measure is told by each dimension that the table says it knows, and by no other.
    """
    store = stored(DOCUMENTS)
    for each in DIMENSIONS:
        told = knows(known, each) and not (known.name in LISTED and each.by_run_in("process"))
        assert told == _is_told(store, known, each), each.name
        assert known.of or told or not refusal(known, each).endswith("ask "), each.name


def _is_told(store: MemoryStore, known: Measure, by: Dimension) -> bool:
    asked = question(measures=(known.name,), by=(by.name,), period="all", top=1)
    try:
        answer(store, str(asked))
    except QuestionError:
        return False
    return True
