"""The server: a real process that is ready when it says so, and one clear line when it cannot."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path

import pytest

from leadline.errors import LeadlineError, StoreError
from leadline.store.memory import MemoryStore
from leadline.web import create_app
from leadline.web.server import address, bound, warm
from tests.web.conftest import site_of

LEADLINE = (sys.executable, "-m", "leadline.commands")


def test_serves_an_empty_lake(tmp_path: Path) -> None:
    """
    `leadline serve` on a new store answers with a page that says what to do, and ends on SIGTERM.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = ("--set", f"paths.data={tmp_path}", "--store", f"lake:{tmp_path}/lake", "serve")
    server = subprocess.Popen([*LEADLINE, *words, "--listen", f"127.0.0.1:{port}"])
    try:
        page = patient(f"http://127.0.0.1:{port}/")
        assert "No sample has come in yet." in page
    finally:
        server.terminate()
        assert server.wait(20) == 0


def patient(where: str) -> str:
    for _ in range(300):
        try:
            with urllib.request.urlopen(where, timeout=10) as answer:
                return str(answer.read().decode())
        except urllib.error.URLError:
            time.sleep(0.1)
    raise AssertionError(f"{where}: no answer within 30 s")


def test_taken_port_is_one_clear_line(tmp_path: Path) -> None:
    """
    A port somebody else has is named, with the way out.
    """
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        words = ("--store", f"lake:{tmp_path}/lake", "serve", "--listen", listen)
        done = subprocess.run([*LEADLINE, *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "choose another one with --listen" in done.stderr


@pytest.mark.parametrize("listen", ["8470", "host:", "host:x", ":80", "h:70000"])
def test_listen_wants_host_and_port(listen: str) -> None:
    """
    An address without host or port is refused by name.
    """
    with pytest.raises(LeadlineError, match="write 127"):
        address(listen)


def test_a_socket_is_named_by_its_whole_path() -> None:
    """
    unix:/PATH is taken as it is, a path that depends on where one stands is refused.
    """
    assert bound("unix:/run/leadline/web.sock") == "unix:/run/leadline/web.sock"
    assert bound("[::1]:8470") == "[::1]:8470"
    for wrong in ("unix:web.sock", "unix:", "unix"):
        with pytest.raises(LeadlineError, match="unix"):
            bound(wrong)


def test_pages_on_a_socket_are_asked_by_their_address(tmp_path: Path) -> None:
    """
    `leadline status` and its like cannot guess under which name a socket's pages are shown.
    """
    words = ("--set", f"paths.data={tmp_path}", "--set", "web.listen=unix:/run/leadline/web.sock")
    done = subprocess.run([*LEADLINE, *words, "status"], capture_output=True, text=True)
    assert "the pages listen on unix:/run/leadline/web.sock; --pages URL" in done.stdout


@pytest.mark.parametrize(
    "trouble", [StoreError("the lake is away"), RuntimeError("odd"), OSError()]
)
def test_what_goes_wrong_beforehand_is_logged_and_served(
    trouble: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    """
    Whatever the store raises while the server warms up: it is in the log, and the server answers.
    """

    def away() -> MemoryStore:
        raise trouble

    app = create_app(replace(site_of(MemoryStore()), open=away))
    warm(app)
    assert "could not be drawn beforehand" in caplog.text
    assert str(trouble) in caplog.text
    assert app.test_client().get("/static/leadline.css").status_code == 200
