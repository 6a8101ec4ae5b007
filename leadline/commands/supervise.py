"""
Several leadline processes as one: started together, restarted when they fall, stopped together.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

RESTART_WAIT = 1.0  # seconds before a fallen process is started again; doubles up to the most
RESTART_WAIT_MOST = 30.0
STEADY = 60.0  # a process that ran this long starts anew with the first wait
STOP_WAIT = 10.0


@dataclass(slots=True)
class Part:
    """
    One process of the group.
    """

    name: str
    arguments: Sequence[str]  # of `leadline`
    log: Path
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    wait: float = RESTART_WAIT
    again_at: float = 0.0
    falls: int = 0


@dataclass(slots=True)
class Group:
    parts: list[Part]
    say: Callable[[str], None]
    stopping: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        for part in self.parts:
            self._start(part)

    def _start(self, part: Part) -> None:
        part.log.parent.mkdir(parents=True, exist_ok=True)
        with part.log.open("ab") as log:
            part.process = subprocess.Popen(
                [sys.executable, "-m", "leadline.commands", *part.arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )
        part.started = time.monotonic()

    def watch(self) -> None:
        """
        Restart what falls until stop() is called.
        """
        while not self.stopping.wait(0.3):
            for part in self.parts:
                self._look_after(part, time.monotonic())

    def _look_after(self, part: Part, now: float) -> None:
        if part.process is None:
            if now >= part.again_at:
                self._start(part)
            return
        code = part.process.poll()
        if code is None:
            if now - part.started > STEADY:
                part.wait = RESTART_WAIT
            return
        part.process = None
        part.falls += 1
        part.again_at = now + part.wait
        self.say(
            f"{part.name} ended with code {code}; again in {part.wait:.0f} s. "
            f"Its last words: {last_words(part.log)}"
        )
        part.wait = min(part.wait * 2, RESTART_WAIT_MOST)

    def stop(self) -> None:
        """
        Ask every process to end, then end what did not.
        """
        self.stopping.set()
        running = [part.process for part in self.parts if part.process is not None]
        for process in running:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        end = time.monotonic() + STOP_WAIT
        for process in running:
            try:
                process.wait(max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def last_words(log: Path, most: int = 300) -> str:
    """
    The last line of a log, for a message.
    """
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 4096))
            lines = file.read().decode("utf-8", "replace").strip().splitlines()
    except OSError:
        return f"(cannot read {log})"
    return lines[-1][:most] if lines else "(none)"
