"""
Record the process table of a machine at work, to be looked at again by bench/shipper.py.

    python bench/record.py FILE [--settle 12] [--seconds 30] [--rename FROM=TO …] -- COMMAND …

COMMAND is started, and what it and its children are at two moments is written, as the kernel shows
it. Secrets are taken out of command lines as on any node, folders are renamed as told; of the
environment only what names a job is kept. Host, user names and other processes are not recorded.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[1])

from leadline.formats.redact import redact
from shipper.jobs import variables
from shipper.system import System

Record = dict[str, Any]


def descendants(system: System, root: int) -> set[int]:
    parents: dict[int, int] = {}
    for pid in system.pids():
        raw = system.read(f"/proc/{pid}/stat") or b""
        if field := raw[raw.rfind(b")") + 2 :].split():
            parents[pid] = int(field[1])
    found, grown = {root}, True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        found |= more
        grown = bool(more)
    return found


def look(system: System, root: int, rename: dict[str, str]) -> dict[str, Record]:
    """
    The processes below ROOT, by pid and start.
    """
    found: dict[str, Record] = {}
    for pid in sorted(descendants(system, root) - {root}):
        folder = f"/proc/{pid}"
        stat = (system.read(f"{folder}/stat") or b"").decode("utf-8", "backslashreplace")
        if not stat:
            continue  # gone meanwhile
        command = (system.read(f"{folder}/cmdline") or b"").rstrip(b"\0").replace(b"\0", b" ")
        kept = variables(system.read(f"{folder}/environ"))
        start = stat[stat.rfind(")") + 2 :].split()[19]
        found[f"{pid}-{start}"] = {
            "pid": pid,
            "uid": system.owner(pid),
            "stat": stat,
            "io": (system.read(f"{folder}/io") or b"").decode(),
            "command": renamed(redact(command.decode("utf-8", "backslashreplace")), rename),
            "exe": renamed(system.link(f"{folder}/exe") or "", rename),
            "environ": {name: value for name, value in kept.items() if name == "SLURM_JOB_ID"},
        }
    return found


def renamed(text: str, rename: dict[str, str]) -> str:
    for old, new in rename.items():
        text = text.replace(old, new)
    return text


def record(
    command: list[str], settle: float, seconds: float, rename: dict[str, str]
) -> list[Record]:
    """
    A line about the looks, then one for each process in each of them.
    """
    system = System()
    child = subprocess.Popen(command, start_new_session=True)
    looks, uptimes = [], []
    try:
        for pause in (settle, seconds):
            time.sleep(pause)
            looks.append(look(system, child.pid, rename))
            uptimes.append(round(system.uptime(), 2))
        below = descendants(system, child.pid)
    finally:
        child.send_signal(signal.SIGINT)
        try:
            child.wait(5)
        except subprocess.TimeoutExpired:  # started in the background it may ignore it
            child.kill()
            child.wait()
    for pid in below - {child.pid}:
        try:
            os.kill(pid, signal.SIGKILL)  # only what the command itself has started
        except ProcessLookupError:
            continue
    head = {"uptimes": uptimes, "processes": [len(one) for one in looks]}
    lines = [{"look": number, **one} for number, at in enumerate(looks) for one in at.values()]
    return [head, *lines]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--settle", type=float, default=12, help="seconds before the first look")
    parser.add_argument("--seconds", type=float, default=30, help="between the looks")
    parser.add_argument("--rename", action="append", default=[], metavar="FROM=TO")
    parser.add_argument("command", nargs="+")
    told = parser.parse_args()
    rename = dict(text.split("=", 1) for text in told.rename)
    lines = record(told.command, told.settle, told.seconds, rename)
    text = "".join(json.dumps(line, sort_keys=True) + "\n" for line in lines)
    told.file.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{told.file}: {lines[0]['processes']} processes, {told.file.stat().st_size} bytes")


if __name__ == "__main__":
    main()
