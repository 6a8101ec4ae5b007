"""The period before: compared with what is like it, and only where it was looked at."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from leadline.store.memory import MemoryStore
from leadline.web import create_app
from tests.web.conftest import NOW, node, process, site_of


def sentence(days: int, period: str, **more: str) -> str:
    """
    What the usage page says of PERIOD when every hour of so many DAYS used the same.
    """
    store = MemoryStore()
    hours = [NOW - timedelta(minutes=30, hours=hour) for hour in range(24 * days)]
    store.write(
        [document for at in hours for document in (process(at, 0), node(at, "c1-0"))], "create"
    )
    client = create_app(site_of(store)).test_client()
    page = client.get("/usage", query_string={"by": "user", "period": period, **more}).text
    return re.sub(r"<[^>]+>", " ", page)


@pytest.mark.parametrize("period", ["this week", "this month", "today"])
def test_what_is_not_over_is_compared_with_as_much(period: str) -> None:
    """
    On a Saturday noon this week used as much as last week until Saturday noon.
    """
    assert "as much as in the same part of the span before" in sentence(60, period)


def test_column_of_changes_says_the_same() -> None:
    """
    Against the same part of October: nothing more, nothing less.
    """
    page = sentence(60, "this month", compare="1")
    assert "against the same part of 2026-10" in page
    assert "new" not in page.split("against")[1].split("total")[0]


def test_what_began_within_the_span_before_is_not_compared() -> None:
    """
    Where only its last days are kept, all would have grown.
    """
    assert "than in the" not in sentence(24, "this month")
    assert "against" not in sentence(24, "this month", compare="1")
