"""
The examples for nodes: what people copy must work as it stands.
"""

import re
import subprocess
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_type_hints

import pytest
import yaml
from click.testing import CliRunner

from leadline.commands import cli
from leadline.commands.sections import schema
from leadline.settings import load
from shipper.senders.settings import ShipSettings
from tests.needs import program

DOCS = Path(__file__).resolve().parents[2] / "docs"
EXAMPLES = DOCS / "examples" / "ship"


def test_settings_of_the_example_are_accepted() -> None:
    """
    The node's leadline.yaml passes the same check as any other settings file.
    """
    found = load(schema(), file=EXAMPLES / "leadline.yaml").get("ship", ShipSettings)
    assert len(found.endpoints) == 2
    assert found.queue.disk.max_size == 512 << 20


@pytest.mark.parametrize("name", ["leadline-ship.service", "leadline-ship-once.service"])
def test_units_are_accepted_by_systemd(name: str, tmp_path: Path) -> None:
    """
    systemd has nothing to say about the units but that leadline is not installed there.
    """
    program("systemd-analyze", package="systemd")
    for path in EXAMPLES.glob("leadline-ship*"):
        text = path.read_text().replace("/opt/leadline/bin/leadline", "/bin/true")
        (tmp_path / path.name).write_text(text)
    names = [name] + ([name.replace(".service", ".timer")] if "once" in name else [])
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *(str(tmp_path / one) for one in names)],
        capture_output=True,
        text=True,
    )
    said = [line for line in done.stderr.splitlines() if "leadline" in line]
    assert said == [], done.stderr


@pytest.mark.parametrize("name", ["leadline-ship.service", "leadline-ship-once.service"])
def test_units_may_do_little_but_look(name: str) -> None:
    """
    By systemd's own count little is left open beside what measuring needs; cards stay within reach.
    """
    tool = program("systemd-analyze", package="systemd")
    words = [tool, "security", "--offline=true", str(EXAMPLES / name)]
    said = subprocess.run(words, capture_output=True, text=True).stdout
    exposed = re.search(r"Overall exposure level for \S+: ([\d.]+)", said)
    assert exposed is not None, said
    assert float(exposed[1]) <= 3.1
    text = (EXAMPLES / name).read_text()
    assert not re.search(r"^(PrivateDevices|ProtectClock|ProtectProc)=", text, re.MULTILINE)


def test_the_timer_rings_every_minute() -> None:
    """
    A minute apart, on the minute, as the resident shipper looks; and the unit it starts is there.
    """
    text = (EXAMPLES / "leadline-ship-once.timer").read_text()
    assert "OnCalendar=*:*:00\n" in text
    assert (EXAMPLES / "leadline-ship-once.service").exists()
    program("systemd-analyze", package="systemd")
    said = subprocess.run(
        ["systemd-analyze", "calendar", "--iterations=3", "*:*:00"], capture_output=True, text=True
    ).stdout
    seconds = re.findall(r"\d\d:\d\d:(\d\d) UTC$", said, re.M)
    assert set(seconds) == {"00"}, said


def test_the_units_commands_are_commands() -> None:
    """
    What unit, timer and crontab start is understood by this version's command line.
    """
    found = []
    for path in EXAMPLES.glob("leadline*"):
        found += re.findall(r"/opt/leadline/bin/leadline (.+)$", path.read_text(), re.M)
    assert len(found) == 3
    for words in found:
        said = CliRunner().invoke(cli, [*words.split(), "--help"])
        assert said.exit_code == 0, said.output
        assert "Sample this machine at every interval" in said.output
        assert CliRunner().invoke(cli, [*words.split(), "--twice", "--help"]).exit_code == 2


def test_playbook_names_files_that_exist() -> None:
    """
    Every file the playbook copies lies beside it; every notified handler is there.
    """
    (play,) = yaml.safe_load((EXAMPLES / "nodes.playbook.yaml").read_text())
    copied = [
        task["ansible.builtin.copy"] for task in play["tasks"] if "ansible.builtin.copy" in task
    ]
    sources = [copy["src"] for copy in copied if "src" in copy]
    assert sources
    assert [name for name in sources if not (EXAMPLES / name).exists()] == []
    handlers = {handler["name"] for handler in play["handlers"]}
    assert {task["notify"] for task in play["tasks"] if "notify" in task} == handlers


def setting_names(kind: Any, prefix: str = "") -> list[str]:
    """
    Every setting with its dots.
    """
    hints = get_type_hints(kind)
    names: list[str] = []
    for field in fields(kind):
        inner = hints[field.name]
        name = prefix + field.name
        names += setting_names(inner, f"{name}.") if is_dataclass(inner) else [name]
    return names


def test_every_setting_is_documented() -> None:
    """
    No setting without its line, and no line for a setting that is not there.
    """
    told = set(re.findall(r"`([a-z_.]+)`", (DOCS / "ship.md").read_text()))
    disk = set(re.findall(r"^\| `([a-z_]+)`", (DOCS / "spool.md").read_text(), re.M))
    known = setting_names(ShipSettings)
    queue = [name for name in known if name.startswith("queue.disk.")]
    assert [name for name in known if name not in told and name not in queue] == []
    assert {name.removeprefix("queue.disk.") for name in queue} == disk
