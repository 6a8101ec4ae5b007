"""`leadline up`: everything starts, this machine is on the page, and everything ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import HTTPCookieProcessor, build_opener

import psutil
import pytest

from leadline.commands.up import STOPPING, take_lock
from leadline.errors import LeadlineError
from leadline.settings.common import PathSettings

STARTED_WITHIN = 40.0
SEEN_WITHIN = 40.0  # five times less on an idle machine


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Up:
    """
    One `leadline up` on ports and a folder of its own.
    """

    def __init__(self, data: Path) -> None:
        self.data = data
        self.port, self.worker_port = free_port(), free_port()
        self.printed = ""  # the address that opens the pages once
        self.browser = build_opener(HTTPCookieProcessor())
        self.process = subprocess.Popen(
            self.command(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def command(self) -> list[str]:
        return [
            *(sys.executable, "-m", "leadline.commands", "--set", f"paths.data={self.data}"),
            *("up", "--port", str(self.port), "--worker-port", str(self.worker_port)),
            *("--interval", "2s"),
        ]

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def page(self, address: str = "") -> str:
        """
        As a browser that was given the printed address first.
        """
        with self.browser.open(address or self.address, timeout=20) as answer:
            text = answer.read().decode()
        assert isinstance(text, str)
        return text

    def wait(self) -> None:
        """
        Until the address is printed: from then on the page must answer.
        """
        assert self.process.stdout is not None
        end = time.monotonic() + STARTED_WITHIN
        while time.monotonic() < end:
            line = self.process.stdout.readline()
            if "leadline is up" in line:
                self.printed = line.split()[-1]
                return
            if self.process.poll() is not None:
                assert self.process.stderr is not None
                pytest.fail(self.process.stderr.read())
        pytest.fail("leadline up did not start in time")

    def end(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Up]:
    one = Up(tmp_path / "data")
    try:
        one.wait()
        yield one
    finally:
        one.end()


def test_this_machine_is_on_the_page_and_all_ends(up: Up) -> None:
    """
    Own processes appear within seconds; SIGTERM leaves no process behind.
    """
    host = socket.gethostname().split(".")[0].lower()
    end = time.monotonic() + SEEN_WITHIN
    up.page(up.printed)
    while host not in (page := up.page()) or "core hours used" not in page:
        assert time.monotonic() < end, page[-2000:]
        time.sleep(0.5)
    children = psutil.Process(up.process.pid).children(recursive=True)
    assert len(children) >= 3
    assert 0 == up.end()
    _, alive = psutil.wait_procs(children, timeout=10)
    assert [] == alive


def test_pages_open_by_the_printed_address_once(up: Up) -> None:
    """
    Nobody else on the machine gets in, not even with the address once it was used; `leadline
    address` prints another one.
    """
    for address in (up.address, f"{up.address}api/v1/usage"):
        with pytest.raises(HTTPError) as refused:
            up.page(address)
        assert 401 == refused.value.code
    assert "leadline" in up.page(up.printed)
    assert "leadline" in up.page()
    other = build_opener(HTTPCookieProcessor())
    with pytest.raises(HTTPError) as spent:
        other.open(up.printed, timeout=20)
    assert 401 == spent.value.code
    printed = run("--set", f"paths.data={up.data}", "address").stdout.strip()
    assert printed.startswith(up.address)
    assert 200 == other.open(printed, timeout=20).status
    secret = (up.data / "state" / "web.token").stat().st_mode
    assert 0 == secret & 0o077


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "leadline.commands", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_second_one_on_the_same_folder_is_refused(up: Up) -> None:
    """
    Two groups on one spool would send everything twice: one line says where the first one is.
    """
    done = run("--set", f"paths.data={up.data}", "up", "--port", str(free_port()))
    assert 1 == done.returncode
    assert up.address in done.stderr
    assert 1 == len(done.stderr.strip().splitlines())


def test_one_that_stops_is_not_up(tmp_path: Path) -> None:
    """
    Who starts again while the first still puts away what it holds is told to wait.
    """
    paths = PathSettings(data=tmp_path)
    with take_lock(paths) as lock:
        lock.write(STOPPING)
        lock.flush()
        with pytest.raises(LeadlineError, match="still stops"):
            take_lock(paths)
    take_lock(paths).close()


def test_taken_port_is_named_with_the_way_out(tmp_path: Path) -> None:
    """
    A port that another program holds: which one, and the option that chooses another.
    """
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        done = run("--set", f"paths.data={tmp_path}", "up", "--port", str(port))
    assert 1 == done.returncode
    assert f"port {port}" in done.stderr
    assert "--port NUMBER" in done.stderr
    assert 1 == len(done.stderr.strip().splitlines())


def test_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    """
    A data folder below a file: one line that names it, no traceback.
    """
    (tmp_path / "file").touch()
    done = run("--set", f"paths.data={tmp_path}/file/data", "up")
    assert 1 == done.returncode
    assert f"{tmp_path}/file" in done.stderr
    assert 1 == len(done.stderr.strip().splitlines())


@pytest.mark.parametrize(
    ("python", "words"),
    [("#!/bin/sh\nexit 1\n", "needs Python 3.11"), ("", "")],
    ids=["too old", "this one"],
)
def test_front_door_says_what_is_missing(tmp_path: Path, python: str, words: str) -> None:
    """
    bin/venv.sh refuses a Python that is too old in one line, and takes a good one.
    """
    root = Path(__file__).resolve().parents[2]
    folder = tmp_path / "bin"
    folder.mkdir()
    if python:
        for name in ("python3", "python3.11", "python3.12", "python3.13", "python3.14"):
            (folder / name).write_text(python)
            (folder / name).chmod(0o755)
    path = f"{folder}:/usr/bin:/bin" if python else os.environ["PATH"]
    done = subprocess.run(
        ["/bin/sh", "-c", f". {root}/bin/venv.sh; find_python"],
        env={"PATH": path},
        capture_output=True,
        text=True,
    )
    if words:
        assert 1 == done.returncode
        assert words in done.stderr
    else:
        assert 0 == done.returncode, done.stderr
        assert "python" in done.stdout
