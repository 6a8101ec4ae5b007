"""Names that anybody can give a process are drawn, whatever is in them."""

from __future__ import annotations

import subprocess
import sys

import pytest

# In a process of its own: what the engine cannot draw ends the process it runs in.
DRAW = """
import sys
from leadline.render.charts import draw_svg, ranking
name = sys.stdin.buffer.read().decode()
svg = draw_svg(ranking([{"name": name, "value": 3}, {"name": "b", "value": 1}], "hours"), "title")
sys.exit(0 if "<svg" in svg else 3)
"""


@pytest.mark.parametrize(
    "name",
    ["a\0b", "\x1b[31m\r\n\t\b\f", "\U0001f4a5\u0301\u200b" * 20, "\u202eabc\u2066", 'a\\u0000"\\'],
    ids=["nul", "controls", "beyond the first plane", "turned around", "backslashes"],
)
def test_wicked_names_do_not_end_the_server(name: str) -> None:
    """
    A NUL, an escape, half an emoji where a name is cut: a picture all the same.
    """
    done = subprocess.run(
        [sys.executable, "-c", DRAW], input=name.encode(), capture_output=True, timeout=60
    )
    assert done.returncode == 0, done.stderr[-500:]
