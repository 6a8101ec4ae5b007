"""
A sign of life on terminals, and silence everywhere else.
"""

from __future__ import annotations

import io
import time

import pytest

from leadline.commands.showing import waiting


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
