"""
The table of measures holds together, and its page says what it holds.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from leadline.formats import DATASETS
from leadline.query import DIMENSIONS, MEASURES, Measure
from leadline.query.reference import PAGE, measures_page

ROOT = Path(__file__).resolve().parents[2]


def test_page_is_up_to_date() -> None:
    """
    `python -m leadline.query.reference` would change nothing.
    """
    assert measures_page() == (ROOT / PAGE).read_text(encoding="utf-8")


def test_page_names_everything() -> None:
    """
    No measure and no dimension is missing on the page, whichever dataset tells it.
    """
    page = measures_page()
    assert all(f"| `{known.name}`" in page for known in (*MEASURES, *DIMENSIONS))


@pytest.mark.parametrize("known", MEASURES, ids=lambda known: known.name)
def test_measures_read_fields_that_exist(known: Measure) -> None:
    """
    Each part of a measure names a field of its dataset; what adds up joins.
    """
    fields = DATASETS[known.dataset].by_name
    for part in known.parts:
        assert not part.field or part.field in fields
        assert all(condition.field in fields for condition in part.where)
    assert known.time in fields
    assert known.sentence.endswith(".")
    assert known.joins or not known.adds


def test_dimensions_name_fields_that_exist() -> None:
    """
    Each dimension is kept by at least one dataset, and its classes fit its edges.
    """
    for known in DIMENSIONS:
        assert any(known.field_in(dataset) for dataset in DATASETS), known.name
        assert not known.edges or len(known.classes) == len(known.edges) + 1
