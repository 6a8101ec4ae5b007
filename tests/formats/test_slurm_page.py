"""docs/slurm.md prints the truth table that the code has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from leadline.formats.nodestate import idle_or_drained, parse_state, time_class

PAGE = Path(__file__).resolve().parents[2] / "docs" / "slurm.md"


def lines() -> list[tuple[str, str, str]]:
    table = PAGE.read_text(encoding="utf-8").partition("| State | Nobody")[2]
    rows = re.findall(r"^\| ([A-Z_+, ]+) \| (\w+) \| (\w+) \|$", table, re.MULTILINE)
    return [(state, free, time) for states, free, time in rows for state in states.split(", ")]


@pytest.mark.parametrize(("state", "free", "time"), lines())
def test_page_says_what_the_code_does(state: str, free: str, time: str) -> None:
    """
    Each state of the page's table.
    """
    name, flags = parse_state(state)
    assert (free, time) == (idle_or_drained(name, flags), time_class(name, flags))


def test_page_has_a_table() -> None:
    """
    The lines above are found at all.
    """
    assert len(lines()) >= 10
