"""
`leadline alerts`, and its page, which names every setting and rule.
"""

from __future__ import annotations

import json
import time
from dataclasses import fields
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from leadline.alerts.ledger import Ledger
from leadline.alerts.rules import read_rules
from leadline.alerts.settings import AlertSettings
from leadline.commands import cli
from leadline.errors import LeadlineError
from leadline.formats.times import from_epoch
from leadline.store.lake import LakeStore
from tests.reports.test_condition import alert

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "alerts.md").read_text(encoding="utf-8")


class Site:
    def __init__(self, folder: Path) -> None:
        self.folder, self.config = folder, folder / "leadline.yaml"
        self.config.write_text(
            f"paths: {{data: {folder}}}\n"
            f"alerts: {{send: yes, settle: 0}}\n"
            f"people: {{admins: {{by: file, address: {folder}/told}}}}\n"
        )

    def __call__(self, *words: str) -> Result:
        done = CliRunner().invoke(
            cli, ["--config", str(self.config), "--store", "memory", "alerts", *words]
        )
        assert done.exception is None or isinstance(done.exception, SystemExit | LeadlineError)
        return done


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_run_on_a_healthy_site_says_so(site: Site) -> None:
    """
    And `list` has nothing to show.
    """
    assert "0 open, 0 messages made, 0 sent\n" == site("run").output
    assert "Nothing fires.\n" == site("list").output
    assert "No messages yet.\n" == site("list", "--messages").output


def test_person_gets_a_test_message(site: Site) -> None:
    """
    By the way her alerts will take; a name nobody has is refused with those there are.
    """
    assert "file took a message for admins\n" == site("test", "admins").output
    assert "a test message" in json.loads((site.folder / "told").read_text())["subject"]
    assert "0 would fire" in site("test", "disk-full").output
    refused = str(site("test", "admin").exception)
    assert "neither a person (admins) nor a rule (gpu-temperature" in refused


def test_silence_begins_and_ends(site: Site) -> None:
    """
    A span nobody understands is refused.
    """
    assert "Nothing is silenced.\n" == site("silence").output
    begun = site("silence", "node-silent", "c1-*", "--reason", "rack 1 is moved").output
    assert "node-silent c1-*: silent until 2" in begun
    listed = site("silence").output
    assert "rack 1 is moved" in listed
    number = begun.split()[0]
    assert number in listed
    assert "1 silences ended\n" == site("silence", "--end", number[:6]).output
    assert "Nothing is silenced.\n" == site("silence").output
    assert "no silence begins with" in site("silence", "--end", number).output
    assert "--for: 'soon' is not understood" in str(site("silence", "x", "--for", "soon").exception)
    assert "--end ID" in str(site("silence", "x", "--for", "0").exception)


def test_users_leave_and_come_back(site: Site) -> None:
    """
    By command, without a change of the settings.
    """
    assert "Everybody is written to.\n" == site("opt-out").output
    assert "not written to any more" in site("opt-out", "alice").output
    assert "alice\n" == site("opt-out").output
    assert "is written to again" in site("opt-out", "alice", "--undo").output
    assert "Everybody is written to.\n" == site("opt-out").output


def test_another_machines_alerts_are_listed(tmp_path: Path) -> None:
    """
    Where this one has none of its own: the store knows.
    """
    store = LakeStore(tmp_path / "lake")
    moment = from_epoch(time.time() - 60)
    event = alert(0, "disk-full") | {"@timestamp": moment, "event.start": moment}
    assert 1 == store.write([event], "create").accepted
    store.close()
    words = ["--set", f"paths.data={tmp_path}", "alerts", "list"]
    done = CliRunner().invoke(cli, words)
    assert 3 == done.exit_code
    assert "disk-full!" in done.output


def test_rules_are_listed(site: Site) -> None:
    """
    Those in force, shipped and own.
    """
    rows = json.loads(site("list", "--rules", "--format", "json").output)
    assert [*read_rules()] == [row["rule"] for row in rows]


@pytest.mark.parametrize("name", [field.name for field in fields(AlertSettings)])
def test_every_setting_is_on_the_page(name: str) -> None:
    """
    Under the name it has in the file; `enabled` needs no words.
    """
    assert name == "enabled" or f"alerts.{name}" in PAGE or f"`alerts.{name}`" in PAGE


@pytest.mark.parametrize("name", read_rules())
def test_every_rule_is_on_the_page(name: str) -> None:
    """
    What watches has a name people can look up.
    """
    assert f"`{name}`" in PAGE


def test_refused_message_is_tried_again_when_asked(site: Site) -> None:
    """
    After its address was put right; `list --messages` ends with 3 until then.
    """
    ledger = Ledger(site.folder / "state" / "alerts")
    values = ("77", "admins", "message", "text", "info", 1, "refused")
    columns = "id, recipient, subject, body, severity, made, state"
    ledger.do(f"INSERT INTO outbox ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)", *values)
    ledger.close()
    assert 3 == site("list", "--messages").exit_code
    assert "1 messages are tried at the next turn\n" == site("retry").output
    assert "1 sent" in site("run").output
    assert 0 == site("list", "--messages").exit_code
