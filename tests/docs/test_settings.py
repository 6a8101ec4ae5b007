"""
Every piece of a settings file that the documentation shows is taken by the loader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from leadline.commands.sections import Schema
from leadline.errors import SettingsError
from leadline.settings import load

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILES = [
    *sorted((ROOT / "docs" / "examples").rglob("leadline*.yaml")),
    ROOT / "deploy/leadline.yaml",
]


def pieces(page: Path) -> Iterator[str]:
    """
    Blocks of YAML whose first word is a section; others are rules, or another program's.
    """
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        tree = yaml.safe_load(block)
        if isinstance(tree, dict) and set(tree) & set(Schema()):
            yield block


SHOWN = [(page, block) for page in PAGES for block in pieces(page)]
WRITTEN = [(path, path.read_text(encoding="utf-8")) for path in FILES]


@pytest.mark.parametrize(
    ("page", "block"), SHOWN + WRITTEN, ids=lambda known: getattr(known, "name", "")
)
def test_settings_are_taken(page: Path, block: str, tmp_path: Path) -> None:
    """
    No page shows a setting that is not there, or a value it cannot have.
    """
    file = tmp_path / "leadline.yaml"
    file.write_text(block, encoding="utf-8")
    sections = load(Schema(), file=file).sections
    assert all(sections[name] is not None for name in yaml.safe_load(block)), page


def test_what_does_not_exist_is_refused(tmp_path: Path) -> None:
    """
    A setting of another name is told, so that the test above can fail.
    """
    file = tmp_path / "leadline.yaml"
    file.write_text("retention:\n  raw: 90d\n", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"retention\.raw"):
        load(Schema(), file=file)
    assert len(SHOWN) > 20
