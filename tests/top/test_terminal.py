"""
The command in a real pseudo-terminal: it draws, takes keys, and leaves the terminal as it was.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from click.testing import CliRunner

from leadline.commands import cli
from tests.top.conftest import Pages

OUT_OF_ALTERNATE = b"\x1b[?1049l"


class Terminal:
    """
    80×24, with all that was ever written to it.
    """

    def __init__(self, words: list[str]) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.child = subprocess.Popen(
            words, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            env={**os.environ, "TERM": "xterm-256color", "PYTHONPATH": str(Path.cwd())},
        )  # fmt: skip
        self.written = b""

    def wait_for(self, text: str, seconds: float = 30.0) -> None:
        end = time.monotonic() + seconds
        while text not in self.plain():
            assert time.monotonic() < end, f"no {text!r} in {self.plain()[-2000:]}"
            self.read(0.2)

    def read(self, seconds: float) -> None:
        ready, _, _ = select.select([self.master], [], [], seconds)
        if ready:
            self.written += os.read(self.master, 65536)

    def plain(self) -> str:
        text = self.written.decode(errors="replace")
        return re.sub(r"\x1b\[[0-9;?<>=:]*[ -/]*[@-~]|\x1b[PX^_\]].*?(?:\x07|\x1b\\)", "", text)

    def keys(self, text: str) -> None:
        os.write(self.master, text.encode())

    def end(self, seconds: float = 10.0) -> int:
        limit = time.monotonic() + seconds
        while self.child.poll() is None:
            assert time.monotonic() < limit, "it did not end"
            self.read(0.1)
        self.read(0.2)
        return self.child.returncode


@contextmanager
def running(pages: Pages, tmp_path: Path) -> Iterator[Terminal]:
    words = [sys.executable, "-m", "leadline.commands", "--set", f"paths.data={tmp_path}", "top"]
    words += ["--pages", pages.address, "--token-file", str(pages.token_file), "--every", "1"]
    terminal = Terminal(words)
    try:
        yield terminal
    finally:
        if terminal.child.poll() is None:
            os.killpg(terminal.child.pid, signal.SIGKILL)
            terminal.child.wait()
        os.close(terminal.master)
        os.close(terminal.slave)


def test_it_draws_takes_keys_and_ends_clean(pages: Pages, tmp_path: Path) -> None:
    """
    Rows, another list, q: exit 0, the screen given back, the terminal's modes as before.
    """
    with running(pages, tmp_path) as terminal:
        terminal.wait_for("alice")
        terminal.wait_for("GROMACS")
        terminal.keys("3")
        terminal.wait_for("FAILING")
        pages.stop()
        terminal.wait_for("does not answer")
        pages.start()
        terminal.keys("q")
        assert 0 == terminal.end()
        assert OUT_OF_ALTERNATE in terminal.written
        assert "Traceback" not in terminal.plain()
        assert terminal.before == termios.tcgetattr(terminal.slave)


def test_ctrl_c_ends_it_too(pages: Pages, tmp_path: Path) -> None:
    """
    As every program of a terminal, also while a server hangs.
    """
    with running(pages, tmp_path) as terminal:
        terminal.wait_for("alice")
        terminal.keys("\x03")
        assert 0 == terminal.end()
        assert terminal.before == termios.tcgetattr(terminal.slave)


def test_without_a_terminal_it_says_so(tmp_path: Path) -> None:
    """
    In a pipe there is nobody to press keys.
    """
    done = CliRunner().invoke(cli, ["--set", f"paths.data={tmp_path}", "top"])
    assert "needs a terminal" in str(done.exception)
