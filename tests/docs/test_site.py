"""
The documentation as a site: every link leads somewhere, every page is in the menu.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def build(config: Path, site: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(config)]
    return subprocess.run(
        [*command, "-d", str(site)], capture_output=True, text=True, check=False, cwd=ROOT
    )


def test_it_builds_without_a_warning(tmp_path: Path) -> None:
    """
    No link within the pages is dead, no picture is missing, no page is forgotten.
    """
    done = build(ROOT / "mkdocs.yml", tmp_path / "site")
    assert done.returncode == 0, done.stderr
    assert "Quick start" in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")


def test_a_dead_link_is_noticed(tmp_path: Path) -> None:
    """
    The check fails where it should.
    """
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("[gone](gone.md)\n", encoding="utf-8")
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[0]
    (tmp_path / "mkdocs.yml").write_text(settings, encoding="utf-8")
    done = build(tmp_path / "mkdocs.yml", tmp_path / "site")
    assert done.returncode != 0
    assert "gone.md" in done.stderr


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_a_page_begins_with_its_title(page: Path) -> None:
    """
    One title a page, at its top: the menu and the search show it.
    """
    lines = page.read_text(encoding="utf-8").splitlines()
    first = next(line for line in lines if line and not line.startswith("<!--"))
    assert first.startswith("# ")
