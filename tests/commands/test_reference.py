"""The reference pages are what the commands and settings say of themselves."""

from __future__ import annotations

import pytest

from leadline.commands.reference import ROOT, pages


@pytest.mark.parametrize("name", pages())
def test_page_is_up_to_date(name: str) -> None:
    """
    `python -m leadline.commands.reference` would change nothing.
    """
    kept = (ROOT / name).read_text(encoding="utf-8")
    assert kept.split() == pages()[name].split()  # releases of click wrap lines differently


def test_every_setting_has_a_meaning() -> None:
    """
    A setting without a sentence is one nobody dares to touch.
    """
    rows = [row for row in pages()["docs/reference/settings.md"].splitlines() if row[:3] == "| `"]
    bare = [row for row in rows if row.rstrip(" |").endswith(("–", "`"))]
    assert len(rows) > 80
    assert [] == bare
