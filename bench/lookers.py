"""
Ways to look at all processes, each in a process of its own: bench/shipper.py starts it and asks
for one look at a time.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path[0] = str(Path(__file__).parents[1])

PSUTIL_FIELDS = [
    "pid", "ppid", "username", "name", "cmdline", "exe", "status", "cpu_times", "num_threads",
    "memory_info", "io_counters", "create_time",
]  # fmt: skip

Look = Callable[[], list[dict[str, object]]]


def shipper() -> Look:
    from shipper.settings import CollectSettings
    from shipper.snapshot import Snapshots
    from shipper.system import System

    return Snapshots(CollectSettings(collectors=("process",)), System()).take


def psutil_loop() -> Look:
    import psutil

    return lambda: [process.info for process in psutil.process_iter(PSUTIL_FIELDS)]


def main() -> None:
    look = {"shipper": shipper, "psutil": psutil_loop}[sys.argv[1]]()
    for _ in sys.stdin:
        before = time.process_time()
        made = look()
        cpu = time.process_time() - before
        rss = peak_memory()
        told = {"cpu": cpu, "rss": rss, "count": len(made), "encode": 0.0}
        if sys.argv[1] == "shipper":
            before = time.process_time()
            encode(made)
            told["encode"] = time.process_time() - before
        print(json.dumps(told), flush=True)


def peak_memory() -> int:
    """
    Not ru_maxrss: that one is inherited from whoever started us.
    """
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def encode(documents: list[dict[str, object]]) -> int:
    """
    Bytes on the wire, batch by batch, as a sender would make them.
    """
    import orjson

    total = 0
    for start in range(0, len(documents), 500):
        batch = documents[start : start + 500]
        lines = b"".join(orjson.dumps(d, option=orjson.OPT_APPEND_NEWLINE) for d in batch)
        total += len(gzip.compress(lines, 5))
    return total


if __name__ == "__main__":
    main()
