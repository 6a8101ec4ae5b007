"""The reference pages of the web say what its tables hold."""

from __future__ import annotations

from pathlib import Path

from leadline.web.reference import files

ROOT = Path(__file__).resolve().parents[2]


def test_pages_are_up_to_date() -> None:
    """
    `python -m leadline.web.reference` would change nothing.
    """
    assert files() == {page: (ROOT / page).read_text(encoding="utf-8") for page in files()}
