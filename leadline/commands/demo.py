"""
The demo: a simulated month, ending now, taken in through the same chain as everything else.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Sequence

from leadline.errors import LeadlineError
from leadline.settings.common import PathSettings

CLUSTER = "demo"
# A day short of thirty: asked for the last 30 days, all of it is still in the answer tomorrow.
NODES, DAYS, EVERY = 40, 29, "15m"


def load(paths: PathSettings, leadline: Sequence[str], say: Callable[[str], None]) -> None:
    """
    Simulate, then enrich. Done once: a second call finds the mark of the first and does nothing.
    """
    folder = paths.demo
    mark = folder / "loaded"
    if mark.exists():
        say(f"demo: loaded already on {mark.read_text().strip()}; its truth is in {folder}")
        return
    started = time.monotonic()
    say(f"demo: simulating {DAYS} days of {NODES} nodes …")
    fleet = ("--cluster", CLUSTER, "--nodes", str(NODES), "--days", str(DAYS), "--every", EVERY)
    run((*leadline, "simulate", "--out", str(folder), "--seed", "7", *fleet))
    simulated = time.monotonic()
    jobs = sorted(str(path) for path in folder.glob("0-jobs*"))
    files = sorted({str(path) for path in folder.glob("*.ndjson*")} - set(jobs))
    say(f"demo: simulated in {simulated - started:.0f} s; taking it in …")
    hands = min(len(files), max(1, os.cpu_count() or 1), 4)
    if jobs:  # first: samples learn their project from them
        run((*leadline, "enrich", *jobs))
    run(*((*leadline, "enrich", *files[hand::hands]) for hand in range(hands)))
    mark.write_text(time.strftime("%Y-%m-%d %H:%M") + "\n")
    say(f"demo: taken in, {time.monotonic() - started:.0f} s in all; truth: {folder}/truth.json")


def run(*commands: Sequence[str]) -> None:
    """
    Run leadline commands side by side to their end; the error of one that failed is ours.
    """
    running = [
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for command in commands
    ]
    said = [process.communicate()[1].strip() for process in running]
    for process, text in zip(running, said, strict=True):
        if process.returncode:
            raise LeadlineError(text.splitlines()[-1] if text else "a part of it failed")
