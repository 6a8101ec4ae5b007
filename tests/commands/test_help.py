"""Every command explains itself: one line in the list, an example in its help."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from leadline.commands import COMMANDS, cli

ROOT = Path(__file__).resolve().parents[2]


def named_commands() -> list[tuple[str, ...]]:
    """
    Every command and sub-command, as words after `leadline`.
    """
    found: list[tuple[str, ...]] = []
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        found.append((name,))
        if isinstance(command, click.Group):
            found += [(name, inner) for inner in command.commands]
    return found


@pytest.mark.parametrize("words", named_commands(), ids=" ".join)
def test_help_shows_an_example(words: tuple[str, ...]) -> None:
    """
    `leadline COMMAND --help` works and shows the command in use.
    """
    done = CliRunner().invoke(cli, [*words, "--help"], prog_name="leadline")
    assert 0 == done.exit_code, done.output
    assert "Example" in done.output
    assert f"leadline {' '.join(words)}" in done.output.partition("Example")[2]


def test_list_names_every_command() -> None:
    """
    `leadline --help` lists each command with its line, without importing any of them.
    """
    done = CliRunner().invoke(cli, ["--help"], prog_name="leadline")
    for name, (_, line) in COMMANDS.items():
        assert name in done.output
        assert line.split()[0] in done.output


def test_unknown_command_is_refused() -> None:
    """
    A mistyped command ends with 2 and says so.
    """
    done = CliRunner().invoke(cli, ["usgae"], prog_name="leadline")
    assert 2 == done.exit_code
    assert "usgae" in done.output
