"""The reference page of the API says what its routes hold."""

from __future__ import annotations

from pathlib import Path

from leadline.web.reference import PAGE, api_page

ROOT = Path(__file__).resolve().parents[2]


def test_page_is_up_to_date() -> None:
    """
    `python -m leadline.web.reference` would change nothing.
    """
    assert api_page() == (ROOT / PAGE).read_text(encoding="utf-8")
