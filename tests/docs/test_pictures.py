"""
The pictures of the documentation can be taken anew, and each one shown is one that is taken.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.docs.pictures import PAGES, take

DOCS = Path(__file__).parents[2] / "docs"
SHOWN = re.compile(r"!\[[^]]+\]\(images/([\w-]+)\.png\)")
BLANK = 12_000  # bytes; a page of this size without anything on it is smaller


@pytest.mark.browser
def test_pictures_can_be_taken(tmp_path: Path) -> None:
    """
    A week of a simulated cluster, through the chain into a lake, and every page of it in Chromium.
    """
    folder = Path(os.environ.get("LEADLINE_TEST_ARTEFACTS", tmp_path)) / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    take(folder)
    small = {path.name for path in folder.glob("*.png") if path.stat().st_size < BLANK}
    assert small == set()
    assert {path.stem for path in folder.glob("*.png")} == set(PAGES)


def test_every_picture_shown_is_one_of_these() -> None:
    """
    No page shows a picture that nobody makes, and none is made that nobody shows.
    """
    shown = {
        name
        for page in ("index.md", "guide.md", "profiling.md")
        for name in SHOWN.findall((DOCS / page).read_text(encoding="utf-8"))
    }
    assert shown == set(PAGES)
