"""
`leadline report` writes a file, or puts a letter into the outbox.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from leadline.commands import cli
from leadline.store.lake import LakeStore
from tests.query.conftest import sample


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    store = LakeStore(tmp_path / "lake")
    fields = {"user.name": "alice", "project": "chem-1"}
    assert 4 == store.write([sample(n, **fields) for n in range(4)], "create").accepted
    store.close()
    return tmp_path


def leadline(folder: Path, *words: str) -> Result:
    (folder / "settings.yaml").write_text(
        f"paths: {{data: {folder}}}\npeople:\n  head: {{by: file, address: {folder}/told}}\n"
    )
    common = ["--config", str(folder / "settings.yaml"), "report", *words]
    return CliRunner().invoke(cli, common, catch_exceptions=True)


def test_file_is_written(lake: Path) -> None:
    """
    One page of HTML where --out says.
    """
    words = ("monthly", "--for", "project=chem-1", "--period", "2026-11")
    done = leadline(lake, *words, "--out", str(lake / "r.html"))
    assert 0 == done.exit_code, done.output
    assert "used 4.0 core hours" in (lake / "r.html").read_text()


def test_text_is_for_a_terminal(lake: Path) -> None:
    """
    The same figures without a browser.
    """
    done = leadline(lake, "monthly", "--for", "user=alice", "--period", "2026-11", "--text")
    assert "User alice used 4.0 core hours in November 2026" in done.output


def test_pdf_on_a_terminal_is_refused(lake: Path) -> None:
    """
    Before anything is asked.
    """
    done = leadline(lake, "monthly", "--pdf")
    assert "--out FILE" in str(done.exception)


def test_by_hand_it_goes_through_the_outbox(lake: Path) -> None:
    """
    To people of the settings only; a dry run says that it is one.
    """
    assert "people of the settings are head" in str(
        leadline(lake, "monthly", "--send", "nobody").exception
    )
    done = leadline(lake, "weekly", "--period", "2026-11", "--send", "head")
    assert "for head, a dry run" in done.output
