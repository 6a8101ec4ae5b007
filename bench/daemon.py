"""
What the daemon itself holds: `leadline ship` with a file as its sink, looking at a crowd of
processes that sleep, for some ticks.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

SHIP = "from leadline.commands import main; main()"
PATIENCE = 180.0  # seconds a machine under load may take


def sleepers(count: int) -> list[subprocess.Popen[bytes]]:
    """
    Processes with a command line of their own that use nothing.
    """
    words = ["sh", "-c", "read line; :"]
    return [
        subprocess.Popen([*words, f"sleeper-{n}", f"--part={n * 7919}"], stdin=subprocess.PIPE)
        for n in range(count)
    ]


def resident(ticks: int = 3, interval: float = 2.0) -> dict[str, float]:
    """
    The most a daemon had resident in TICKS ticks, and what it has after the last, in bytes.
    """
    with TemporaryDirectory(prefix="leadline-bench-") as folder:
        child = subprocess.Popen(
            [sys.executable, "-c", SHIP, *words(Path(folder), interval), "ship"],
            env={**os.environ, "LEADLINE_CONFIG": folder},
        )
        try:
            wait_for_ticks(Path(folder), child, ticks)
            return memory(child.pid)
        finally:
            child.terminate()
            child.wait()


def words(folder: Path, interval: float) -> list[str]:
    values = {
        "paths.data": folder,
        "ship.interval": f"{interval}s",
        "ship.sink": "file",
        "ship.path": folder / "out.ndjson",
    }
    return [word for name, value in values.items() for word in ("--set", f"{name}={value}")]


def wait_for_ticks(folder: Path, child: subprocess.Popen[bytes], ticks: int) -> None:
    """
    A tick ends with a new status, and its documents are sent; one more file time is one more tick.
    """
    status = folder / "state" / "shipper" / "status.json"
    until = time.monotonic() + PATIENCE
    seen: set[str] = set()
    while len(seen) < ticks:
        if child.poll() is not None or time.monotonic() > until:
            raise SystemExit("leadline ship: ended, or made no ticks")
        time.sleep(0.1)
        with suppress(OSError, json.JSONDecodeError):
            seen.add(json.loads(status.read_bytes())["time"])


def memory(pid: int) -> dict[str, float]:
    found = {}
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        name, _, rest = line.partition(":")
        if name in ("VmRSS", "VmHWM"):
            found[name] = int(rest.split()[0]) * 1024.0
    return found


if __name__ == "__main__":
    crowd = sleepers(int(sys.argv[1]))
    try:
        print(resident())
    finally:
        for one in crowd:
            one.kill()
        for one in crowd:
            one.communicate()
