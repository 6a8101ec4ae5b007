"""The server's systemd units: systemd takes them, they start our commands, and may do little."""

from __future__ import annotations

import configparser
import re
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from leadline.commands import cli
from tests.deploy.servers import ROOT
from tests.needs import program

UNITS = sorted((ROOT / "deploy" / "systemd").glob("*.service"))
MOST_EXPOSED = 1.7  # of 10; without any of the restrictions it is 9.2


def read(path: Path) -> configparser.ConfigParser:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(path)
    return unit


def test_there_is_a_unit_for_each_part_of_the_server() -> None:
    """
    Pages, worker and chores; the administrator's page names each of them and no other.
    """
    names = {path.stem for path in UNITS}
    assert names == {"leadline-web", "leadline-enrich", "leadline-chores"}
    for page in ("admin.md", "deploy.md", "install.md"):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        named = set(re.findall(r"\bleadline-(?:web|serve|worker|enrich|chores)\b", text))
        assert named <= names, page


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_unit_starts_a_command_that_exists(path: Path) -> None:
    """
    This version's command line understands what the unit starts, which is one of the daemons.
    """
    words = read(path)["Service"]["ExecStart"].split()
    assert words[:3] == [
        "/opt/leadline/bin/leadline", "--config", "/etc/leadline/leadline.yaml",
    ]  # fmt: skip
    assert words[3:] in (["serve"], ["enrich"], ["chores"])
    assert CliRunner().invoke(cli, [*words[3:], "--help"]).exit_code == 0
    assert CliRunner().invoke(cli, [*words[3:], "--twice", "--help"]).exit_code == 2


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_systemd_takes_the_unit(path: Path, tmp_path: Path) -> None:
    """
    systemd has nothing to say about it, once the command is there.
    """
    tool = program("systemd-analyze", package="systemd")
    copy = tmp_path / path.name
    copy.write_text(path.read_text().replace("/opt/leadline/bin/leadline", "/bin/true"))
    words = [tool, "verify", "--man=no", "--recursive-errors=no", str(copy)]
    said = subprocess.run(words, capture_output=True, text=True)
    assert [line for line in said.stderr.splitlines() if "leadline" in line] == []


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_unit_may_do_little(path: Path) -> None:
    """
    By systemd's own count hardly anything is left open; it writes below one folder, as nobody
    special.
    """
    service = read(path)["Service"]
    assert service["User"] == service["Group"] == "leadline"
    assert set(service["ReadWritePaths"].split()) <= {"/var/lib/leadline", "/run/leadline"}
    tool = program("systemd-analyze", package="systemd")
    words = [tool, "security", "--offline=yes", "--no-pager", str(path)]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    level = re.search(r"Overall exposure level for .*: ([\d.]+)", told)
    assert level, told
    assert float(level[1]) <= MOST_EXPOSED, told
