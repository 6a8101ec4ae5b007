"""
A recorded process table (bench/record.py) as a machine that the shipper looks at twice.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from leadline.formats import Document
from shipper.settings import CollectSettings, ProcessSettings
from shipper.snapshot import Snapshots
from shipper.system import System

RECORDED = Path(__file__).with_name("data") / "node.ndjson.gz"
BOOTED = 1_790_000_000.0  # Unix time
BOOT_ID = b"3f0e1c2a-77aa-4c1e-9a51-0c8f6b1d2e3f"


class Recorded(System):
    """
    `at` is the look that it shows.
    """

    def __init__(self, path: Path = RECORDED) -> None:
        super().__init__()
        head, *lines = map(json.loads, gzip.decompress(path.read_bytes()).splitlines())
        self._uptimes: list[float] = head["uptimes"]
        self._looks: list[dict[int, dict[str, Any]]] = [{}, {}]
        for line in lines:
            self._looks[line["look"]][line["pid"]] = line
        self.at = 0

    def pids(self) -> list[int]:
        return list(self._looks[self.at])

    def hold(self, pid: int, name: str) -> int:
        return -1  # there is nothing to hold: the files are read anew

    def read(self, path: str, limit: int = 1 << 22) -> bytes | None:
        if path == "/proc/sys/kernel/random/boot_id":
            return BOOT_ID
        if path == "/proc/stat":
            return b"btime %d\n" % BOOTED
        pid, _, name = path.removeprefix("/proc/").partition("/")
        if pid == "self":
            return b"1 (x) R"
        found = self._looks[self.at].get(int(pid)) if pid.isdigit() else None
        if found is None:
            return None
        if name == "cmdline":
            return str(found["command"]).replace(" ", "\0").encode() + b"\0"
        if name == "environ":
            return "\0".join(f"{k}={v}" for k, v in found["environ"].items()).encode()
        if name == "cgroup":
            return b"0::/system.slice\n"
        if name == "status":
            return f"Uid:\t{found['uid']}\t{found['uid']}\n".encode()
        return str(found.get(name, "")).encode() or None

    def link(self, path: str) -> str | None:
        found = self._looks[self.at].get(int(path.split("/")[2]))
        return (found or {}).get("exe") or None

    def owner(self, pid: int) -> int | None:
        found = self._looks[self.at].get(pid)
        return None if found is None else int(found["uid"])

    def user_name(self, uid: int) -> str | None:
        return f"user{uid % 997}" if uid else "root"

    def uptime(self) -> float:
        return self._uptimes[self.at]

    def wall(self) -> float:
        return BOOTED + self.uptime()


def recorded_node(roll_up: bool = True) -> tuple[list[Document], int]:
    """
    The process documents of the second look, and how many processes they stand for.
    """
    machine = Recorded()
    settings = CollectSettings(
        host="c12-34",
        cluster="fox",
        collectors=("process",),
        process=ProcessSettings(roll_up=roll_up),
    )
    snapshots = Snapshots(settings, machine)
    try:
        snapshots.take()
        machine.at = 1
        documents = [d for d in snapshots.take() if d["dataset"] == "process"]
    finally:
        snapshots.close()
    return documents, sum(int(str(d.get("process.count", 1))) for d in documents)
