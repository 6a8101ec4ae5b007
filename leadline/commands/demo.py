"""
The demo: a simulated month, ending now, taken in through the same chain as everything else.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence

from leadline.errors import LeadlineError
from leadline.settings.common import PathSettings

CLUSTER = "demo"
NODES, DAYS, EVERY = 40, 30, "15m"


def load(paths: PathSettings, leadline: Sequence[str], say: Callable[[str], None]) -> None:
    """
    Simulate, then enrich. Done once: a second call finds the mark of the first and does nothing.
    """
    folder = paths.data / "demo"
    mark = folder / "loaded"
    if mark.exists():
        say(f"demo: loaded already on {mark.read_text().strip()}; its truth is in {folder}")
        return
    started = time.monotonic()
    say(f"demo: simulating {DAYS} days of {NODES} nodes …")
    run(
        *(*leadline, "simulate", "--out", str(folder), "--seed", "7", "--cluster-name", CLUSTER),
        *("--nodes", str(NODES), "--days", str(DAYS), "--every", EVERY),
    )
    simulated = time.monotonic()
    files = sorted(str(path) for path in folder.glob("*.ndjson*"))
    say(f"demo: simulated in {simulated - started:.0f} s; taking it in …")
    summary = run(*leadline, "enrich", *files)
    mark.write_text(time.strftime("%Y-%m-%d %H:%M") + "\n")
    say(f"demo: {summary}; {time.monotonic() - started:.0f} s in all. Truth: {folder}/truth.json")


def run(*command: str) -> str:
    """
    Run one leadline command to its end; its last line, or its error as ours.
    """
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise LeadlineError(done.stderr.strip().splitlines()[-1] if done.stderr else "failed")
    lines = done.stdout.strip().splitlines()
    return lines[-1] if lines else "done"
