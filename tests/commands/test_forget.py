"""
`leadline forget` over a lake, spools, dead letters and a ledger: counts, asks, goes on after kill.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner, Result

from enrich.deadletters import DeadLetters, dead_letter
from leadline.alerts.ledger import Ledger
from leadline.commands import cli
from leadline.spool import Spool
from leadline.store.lake import LakeStore
from leadline.store.scope import EVERYTHING
from tests.query.conftest import sample

HERS = {"user.name": "alice", "user.id": "1001"}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """
    30 samples of hers and 10 of bob's, in several files of the lake and everywhere else.
    """
    store = LakeStore(tmp_path / "lake")
    for start in range(0, 40, 8):
        documents = [
            sample(n, **(HERS if n % 4 else {"user.name": "bob"})) for n in range(start, start + 8)
        ]
        store.write(documents, "create")
    store.close()
    with Spool(tmp_path / "worker" / "spool") as spool:
        spool.reader("store").close()
        spool.append([orjson.dumps(sample(90, **HERS)), orjson.dumps(sample(91))])
    broken = b'{"user.name": "alice", "dataset": "proc'
    letters = [dead_letter(broken, "broken", "receiver"), dead_letter(b"{}", "odd", "receiver")]
    DeadLetters(tmp_path / "deadletters").add(letters)
    refused = tmp_path / "state" / "shipper" / "refused.ndjson"
    refused.parent.mkdir(parents=True)
    refused.write_text(
        json.dumps({"time": "t", "reason": "r", "document": json.dumps(HERS)}) + "\n"
    )
    ledger = Ledger(tmp_path / "state" / "alerts")
    ledger.do("INSERT INTO alerts (rule, user, text) VALUES ('hog', 'alice', 'alice hogs')")
    ledger.close()
    return tmp_path


def leadline(site: Path, *words: str, typed: str | None = None) -> Result:
    return CliRunner().invoke(cli, ["--set", f"paths.data={site}", "forget", *words], input=typed)


def told(site: Path, *words: str) -> dict[str, int]:
    done = leadline(site, "alice", *words, "--format", "json")
    assert not done.exception or isinstance(done.exception, SystemExit), done.exception
    return {row["place"]: row["count"] for row in json.loads(done.stdout) if row["count"]}


def users(site: Path) -> list[object]:
    store = LakeStore(site / "lake")
    found = [d.get("user.name") for b in store.scan("process", EVERYTHING) for d in b]
    store.close()
    return found


EVERYWHERE = {
    "the worker's spool": 1,
    "dead letters": 1,
    "what workers refused of this shipper": 1,
    "alerts and their messages": 1,
    "store: process": 30,
}


def test_a_dry_run_tells_how_much_is_where(site: Path) -> None:
    """
    Place by place, and nothing is changed.
    """
    assert EVERYWHERE == told(site, "--dry-run")
    assert EVERYWHERE == told(site, "--dry-run")


def test_erased_she_is_nowhere(site: Path) -> None:
    """
    Everybody else is where she was; done again there is nothing to do.
    """
    assert EVERYWHERE == told(site, "--yes")
    assert ["bob"] * 10 == users(site)
    assert {} == told(site, "--dry-run")
    assert "Nothing is kept" in leadline(site, "alice", "--yes").output
    assert 1 == len(list(DeadLetters(site / "deadletters").read()))


def test_a_pseudonym_takes_her_place(site: Path) -> None:
    """
    The same one everywhere, by a key made here for the owner alone.
    """
    told(site, "--pseudonym", "--yes")
    key = site / "state" / "pseudonym.key"
    assert 0 == key.stat().st_mode & 0o077
    (alias,) = set(users(site)) - {"bob"}
    assert 30 == users(site).count(alias)
    texts = [letter.input for letter in DeadLetters(site / "deadletters").read()]
    assert any(str(alias) in text for text in texts)
    assert {} == told(site, "--dry-run")


def test_without_a_terminal_nobody_is_asked_and_nothing_done(site: Path) -> None:
    """
    A script says --yes.
    """
    done = leadline(site, "alice")
    assert "--yes" in str(done.exception)
    assert EVERYWHERE == told(site, "--dry-run")


def test_only_one_place(site: Path) -> None:
    """
    On a node that has no store.
    """
    assert {"the worker's spool": 1} == told(site, "--only", "spool", "--yes")


def test_a_running_daemon_keeps_its_spool(site: Path) -> None:
    """
    What waits in it is counted, said to be left, and the end is not success.
    """
    with Spool(site / "worker" / "spool"):
        done = leadline(site, "alice", "--yes")
        assert 3 == done.exit_code
        assert "left  the worker's spool" in done.output


def test_killed_on_the_way_the_same_command_goes_on(site: Path) -> None:
    """
    kill -9 at moments all over the run; in the end she is nowhere and the others are whole.
    """
    words = [sys.executable, "-m", "leadline.commands", "--set", f"paths.data={site}"]
    words += ["forget", "alice", "--yes"]
    for delay in (0.45, 0.6, 0.75, 0.9, 1.05):
        child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(delay)
        if child.poll() is None:
            os.kill(child.pid, signal.SIGKILL)
        child.wait()
    leadline(site, "alice", "--yes")
    assert {} == told(site, "--dry-run")
    assert ["bob"] * 10 == users(site)


def test_a_pseudonym_is_nobody_to_forget(site: Path) -> None:
    """
    A slip that would delete somebody's history.
    """
    assert "name a user" in str(leadline(site, "uabcdefghij234567", "--yes").exception)
