"""The truth's program names are those the shipped rules give."""

from __future__ import annotations

from enrich.rules import read_rules
from leadline.simulate import commands


def test_shipped_rules_name_every_simulated_command() -> None:
    """
    Two thousand command lines get their true names, and the nameless ones none.
    """
    rules = read_rules()
    wrong = [
        (line, program, named)
        for name, executable, line, program in commands(seed=11, count=2000)
        if (named := rules.match(name, executable, line).program) != program
    ]
    assert wrong == []


def test_commands_are_the_same_for_a_seed() -> None:
    """
    A seed gives the same list again, at the length asked for.
    """
    assert commands(4, 50) == commands(4, 50)
    assert commands(4, 50) != commands(5, 50)
    assert len(commands(4, 50)) == 50
