"""Lists of jobs, findings and command lines say what they rest on, as answers do."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

PERIOD = "last+7+days"
LISTS = ("jobs?", "findings?", "search?words=gmx&")


@pytest.mark.parametrize("asked", LISTS)
def test_a_list_rests_on_the_same_samples(client: FlaskClient, asked: str) -> None:
    """
    Coverage and freshness are the answer's own of the period, in the API and on the page.
    """
    usage = client.get(f"/api/v1/usage?period={PERIOD}").get_json()
    found = client.get(f"/api/v1/{asked}period={PERIOD}").get_json()
    for name in ("coverage", "nodes", "silent", "newest", "dropped", "provisional"):
        assert usage[name] == found[name], name
    assert found["coverage"] is not None
    page = client.get(f"/{asked}period={PERIOD}").get_data(as_text=True)
    assert "% of node hours have samples" in page
    assert "Newest sample" in page


@pytest.mark.parametrize(
    ("language", "told"),
    [("en", "not kept before 14 November 2026."), ("fr", "avant le 14 novembre 2026.")],
)
def test_days_in_notes_are_said_as_days(client: FlaskClient, language: str, told: str) -> None:
    """
    Since when samples are kept is told as every other day is.
    """
    assert told in client.get(f"/usage?period=this+year&lang={language}").text
