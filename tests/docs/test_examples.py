"""
Every command line that the documentation shows can be typed: its command and options exist.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from leadline.commands import cli

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINE = re.compile(r"^(?:[\w./]*/)?(?:\.venv/bin/)?leadline (?P<rest>[^|>&;\n]*)", re.MULTILINE)
INLINE = re.compile(r"`(?:sudo )?leadline (?P<rest>[^`|]+)")
FENCE = re.compile(r"^```[a-z]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


def shown(text: str) -> Iterator[list[str]]:
    """
    The words after `leadline`, of blocks and of inline code.
    """
    blocks = "\n".join(FENCE.findall(text))
    plain = FENCE.sub("", text)
    indented = "\n".join(line.strip() for line in plain.splitlines() if line.startswith("    "))
    for match in (*LINE.finditer(f"{blocks}\n{indented}"), *INLINE.finditer(plain)):
        words = re.sub(r"\s#.*", "", match["rest"]).replace("…", " ")
        try:
            yield shlex.split(words)
        except ValueError:  # an apostrophe: prose that begins with our name
            continue


def problem(words: list[str]) -> str | None:
    """
    Why these words cannot be typed, or None. Words in capitals stand for something else.
    """
    command: click.Command = cli
    before = ""
    for word in words:
        flags, takers = options(command)
        if word.startswith("-") and word != "-":
            name = word.split("=")[0]
            if name not in flags | takers and name[:2] not in takers:
                return f"no option {name}"
        elif isinstance(command, click.Group) and before not in takers:
            inner = command.get_command(click.Context(command), word)
            if inner is None and not word.isupper():
                return f"no command {word}"
            command = inner or command
        before = word
    return None


def options(command: click.Command) -> tuple[set[str], set[str]]:
    """
    Those that stand alone, and those that take a value.
    """
    flags, takers = {"--help", "-h"}, set()
    for parameter in command.params:
        alone = isinstance(parameter, click.Option) and parameter.is_flag
        (flags if alone else takers).update(parameter.opts, parameter.secondary_opts)
    return flags, takers


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_command_lines_can_be_typed(page: Path) -> None:
    """
    No page shows a command or an option that is not there.
    """
    wrong = [
        f"leadline {' '.join(words)}: {why}"
        for words in shown(page.read_text(encoding="utf-8"))
        if (why := problem(words))
    ]
    assert [] == wrong


def test_what_does_not_exist_is_caught() -> None:
    """
    The check knows a wrong command, a wrong option, and a wrong option of a command within one.
    """
    assert problem(["usages"]) == "no command usages"
    assert problem(["usage", "--bye", "user"]) == "no option --bye"
    assert problem(["programs", "lint", "--unmatched"]) == "no option --unmatched"
    assert problem(["--store", "lake:/tmp/x", "usage", "--by", "user"]) is None
    assert list(shown("```\nleadline usage --by user   # why\n```\n`leadline jobs`")) == [
        ["usage", "--by", "user"],
        ["jobs"],
    ]
