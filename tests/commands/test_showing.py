"""
A sign of life on terminals, and silence everywhere else.
"""

from __future__ import annotations

import io
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from leadline.commands import cli, showing
from leadline.commands.showing import waiting
from leadline.errors import LeadlineError
from leadline.store.lake import LakeStore
from tests.query.conftest import sample


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_moves_and_is_wiped() -> None:
    """
    Work that takes longer than patience is shown with its seconds; nothing of it stays.
    """
    out = Terminal()
    with waiting("asking", out, patience=0.01):
        time.sleep(0.6)
    text = out.getvalue()
    assert "asking " in text
    assert text.count("\r") > 2
    assert text.endswith(" \r")


def test_quick_work_and_pipes_show_nothing() -> None:
    """
    Below the patience nothing is drawn, and into a file never.
    """
    quick, pipe = Terminal(), io.StringIO()
    with waiting("asking", quick):
        pass
    with waiting("asking", pipe, patience=0.0):
        time.sleep(0.3)
    assert ("", "") == (quick.getvalue(), pipe.getvalue())


def test_errors_pass_through() -> None:
    """
    What the work raises is raised, and the bar is gone first.
    """
    out = Terminal()

    def broken() -> None:
        with waiting("asking", out, patience=0.0):
            time.sleep(0.3)
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        broken()
    assert out.getvalue().endswith(" \r")


@pytest.mark.parametrize(
    "words",
    [
        "usage --by user --period all",
        "search vasp --period all",
        "jobs --period all",
        "jobs --pending",
        "jobs --waiting",
        "job fox/7",
        "job fox/7 --scale",
        "job fox/7 --states",
        "findings",
        "report monthly --text",
        "allocations",
        "nodes",
        "nodes --never-used",
        "programs unmatched",
        "programs apply --since 1d --dry-run",
    ],
)
def test_whatever_asks_the_store_shows_that_it_works(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """
    With no patience at all, each of them draws its bar on the terminal, and none in its answer.
    """
    lake, terminal, answer = LakeStore(tmp_path / "lake"), Terminal(), io.StringIO()
    lake.write([sample(1, **{"job.id": "fox/7", "process.command_line": "vasp"})], "create")
    lake.close()
    monkeypatch.setattr(showing, "PATIENCE", 0.0)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(sys, "stdout", answer)

    with suppress(LeadlineError):  # such as: no scheduler told of it
        cli.main(
            ["--store", f"lake:{tmp_path}/lake", *words.split()], "leadline", standalone_mode=False
        )

    assert "░" in terminal.getvalue()
    assert "░" not in answer.getvalue()
