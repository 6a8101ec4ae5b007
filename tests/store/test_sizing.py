"""
The page on scale says what the calculator says.
"""

from __future__ import annotations

from pathlib import Path

from leadline.store.sizing import Site, plan_size

PAGE = Path(__file__).resolve().parents[2] / "docs" / "scale.md"


def test_the_example_on_the_page_is_what_the_command_prints() -> None:
    """
    Figures in the docs do not drift from the code.
    """
    site = Site(1000, 60, 15, 0, 5000, 90 * 86400, 1)
    assert "\n".join(plan_size(site).lines()) in PAGE.read_text(encoding="utf-8")
