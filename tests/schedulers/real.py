"""
What a real Slurm and a real Grid Engine have in common: how their commands are run, and a life from
start to stop in a folder that users of jobs may enter.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

from tests.needs import lacking


class Scheduler(Protocol):
    def start(self) -> None: ...

    def stop(self) -> None: ...


S = TypeVar("S", bound=Scheduler)


@contextmanager
def started(make: Callable[[Path], S], missing: str | None) -> Iterator[S]:
    """
    One that runs, in a folder of its own; MISSING says why there can be none.
    """
    if missing is not None:
        lacking(missing)
    folder = Path(tempfile.mkdtemp(prefix="leadline-scheduler-"))
    real = make(folder)
    try:
        real.start()
        yield real
    finally:
        real.stop()
        shutil.rmtree(folder, ignore_errors=True)


def run(
    environment: Mapping[str, str], command: tuple[str, ...], *, check: bool, user: str | None
) -> str:
    """
    What COMMAND prints, as USER if one is named.
    """
    words = ["runuser", "-u", user, "--", *command] if user else list(command)
    done = subprocess.run(
        words,
        env=environment,
        cwd="/tmp",
        capture_output=True,
        timeout=30,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    if check and done.returncode:
        said = (done.stdout + done.stderr).decode("utf-8", "replace")[-500:]
        raise AssertionError(f"{' '.join(words)}: {said}")
    return done.stdout.decode("utf-8", "replace")
