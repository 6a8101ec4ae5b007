"""
Ways to look at all processes, each in a process of its own: bench/shipper.py starts it and asks
for one look at a time.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

sys.path[0] = str(Path(__file__).parents[1])

PSUTIL_FIELDS = [
    "pid", "ppid", "username", "name", "cmdline", "exe", "status", "cpu_times", "num_threads",
    "memory_info", "io_counters", "create_time",
]  # fmt: skip

Look = Callable[[], Iterator[dict[str, object]]]


def shipper() -> Look:
    from shipper.settings import CollectSettings
    from shipper.snapshot import Snapshots
    from shipper.system import System

    return Snapshots(CollectSettings(collectors=("process",)), System()).stream


def psutil_loop() -> Look:
    import psutil

    return lambda: (process.info for process in psutil.process_iter(PSUTIL_FIELDS))


def main() -> None:
    look = {"shipper": shipper, "psutil": psutil_loop}[sys.argv[1]]()
    for _ in sys.stdin:
        before = time.process_time()
        encoding, count = 0.0, 0
        documents = look()
        while batch := list(islice(documents, 500)):
            count += len(batch)
            if sys.argv[1] == "shipper":
                begun = time.process_time()
                encode(batch)
                encoding += time.process_time() - begun
        cpu = time.process_time() - before - encoding
        told = {"cpu": cpu, "rss": peak_memory(), "count": count, "encode": encoding}
        print(json.dumps(told), flush=True)


def peak_memory() -> int:
    """
    Not ru_maxrss: that one is inherited from whoever started us.
    """
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def encode(batch: list[dict[str, object]]) -> int:
    """
    Bytes on the wire, as a sender would make them.
    """
    import orjson

    lines = b"".join(orjson.dumps(d, option=orjson.OPT_APPEND_NEWLINE) for d in batch)
    return len(gzip.compress(lines, 5))


if __name__ == "__main__":
    main()
