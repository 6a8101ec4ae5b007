"""What a node's state means: the truth table of docs/slurm.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from leadline.formats.nodestate import idle_or_drained, parse_state, time_class, written

TABLE = [
    # written as        nobody's card is  time counts as
    ("IDLE", "idle", "up"),
    ("MIXED", "idle", "up"),
    ("ALLOCATED", "idle", "up"),
    ("IDLE+PLANNED", "idle", "up"),
    ("IDLE+COMPLETING", "idle", "up"),
    ("IDLE+POWERED_DOWN", "idle", "up"),
    ("IDLE+CLOUD+POWERING_UP", "idle", "up"),
    ("IDLE+REBOOT_REQUESTED", "idle", "up"),
    ("IDLE+RESERVED", "reserved", "up"),
    ("MIXED+RESERVED", "reserved", "up"),
    ("IDLE+DRAIN", "drained", "drained"),
    ("IDLE+DRAIN+RESERVED", "drained", "drained"),
    ("MIXED+DRAIN", "drained", "up"),
    ("ALLOCATED+DRAIN", "drained", "up"),
    ("IDLE+COMPLETING+DRAIN", "drained", "up"),
    ("IDLE+MAINTENANCE", "drained", "drained"),
    ("IDLE+MAINT+RESERVED", "drained", "drained"),
    ("IDLE+REBOOT_ISSUED", "drained", "drained"),
    ("DRAINED", "drained", "drained"),
    ("DRAINING", "drained", "up"),
    ("DOWN", "down", "down"),
    ("DOWN+DRAIN", "down", "down"),
    ("DOWN+NOT_RESPONDING", "down", "down"),
    ("ALLOCATED+NOT_RESPONDING", "down", "down"),
    ("IDLE+DRAIN+INVALID_REG", "down", "down"),
    ("IDLE+FAIL", "down", "down"),
    ("ERROR", "down", "down"),
    ("FUTURE", "down", "down"),
    ("UNKNOWN", "unknown", "unknown"),
    ("UNKNOWN+DRAIN", "drained", "drained"),
    ("SLEEPWALKING", "unknown", "unknown"),
    ("REMOVED", "unknown", "unknown"),
]


@pytest.mark.parametrize(("state", "free", "time"), TABLE)
def test_idle_or_drained(state: str, free: str, time: str) -> None:
    """
    One line of the table each.
    """
    name, flags = parse_state(state)
    assert (free, time) == (idle_or_drained(name, flags), time_class(name, flags))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("idle", "IDLE"),
        ("down*", "DOWN+NOT_RESPONDING"),
        ("IDLE*+DRAIN", "IDLE+DRAIN+NOT_RESPONDING"),
        ("idle~", "IDLE+POWERED_DOWN"),
        ("mixed-", "MIXED+PLANNED"),
        ("MIXED+RESERVED+DRAIN", "MIXED+DRAIN+RESERVED"),
        ("drain$", "DRAIN+MAINT"),
        ("QUANTUM+ENTANGLED", "QUANTUM+ENTANGLED"),
        ("", "UNKNOWN"),
    ],
)
def test_every_spelling_is_read(text: str, expected: str) -> None:
    """
    Signs behind a state become flags; words that nobody knows stay.
    """
    assert expected == written(*parse_state(text))


def test_the_page_prints_the_same_table() -> None:
    """
    docs/slurm.md says of each state what these functions say.
    """
    page = (Path(__file__).parents[2] / "docs" / "slurm.md").read_text("utf-8")
    lines = page.partition("| State | Nobody's card is")[2].partition("\n\n")[0].splitlines()[2:]
    assert len(lines) > 8
    for line in lines:
        states, free, time = (cell.strip() for cell in line.strip("|").split("|"))
        for state in states.split(", "):
            name, flags = parse_state(state)
            assert (free, time) == (idle_or_drained(name, flags), time_class(name, flags)), state
