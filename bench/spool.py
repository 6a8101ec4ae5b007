"""
What the spool costs over its limit: os.write + fdatasync of the very same bytes, and whether a
reader, commits included, catches up faster than the disk could ever be written.

Both sides take turns batch by batch, so that a disk that is busy now is busy for both.
"""

import os
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[1])

from bench.report import Report, arguments
from leadline.spool import Spool

LINE = (
    b'{"@timestamp":"2026-03-02T10:15:00Z","dataset":"process","host.name":"n%04d","process.pid":%d,'
    b'"process.name":"python3","process.command_line":"python3 train.py --layers 12 --seed %d",'
    b'"user.name":"alice","core_seconds":%d.25,"memory.rss.bytes":%d,"job.local_id":"1234567"}'
)


def documents(count: int) -> list[bytes]:
    return [LINE % (n % 512, n, n * 7919, n % 900, n * 4096) for n in range(count)]


def raw_append(handle: int, data: bytes) -> float:
    begun = time.perf_counter()
    os.write(handle, data)
    os.fdatasync(handle)
    return time.perf_counter() - begun


def spool_append(spool: Spool, lines: list[bytes]) -> float:
    begun = time.perf_counter()
    spool.append(lines)
    return time.perf_counter() - begun


def spool_read(spool: Spool, name: str) -> float:
    """
    Seconds to read everything, the position committed after each batch.
    """
    reader = spool.reader(name)
    begun = time.perf_counter()
    while (batch := reader.read(max_lines=5000)).count:
        reader.commit(batch.position)
    return time.perf_counter() - begun


def measure(report: Report, folder: Path, per_batch: int, batches: int) -> None:
    lines = documents(per_batch)
    data = b"\n".join(lines) + b"\n"
    raw_path = folder / f"raw{per_batch}"
    handle = os.open(raw_path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    with Spool(folder / f"spool{per_batch}", max_bytes=1 << 34) as spool:
        pairs = [(raw_append(handle, data), spool_append(spool, lines)) for _ in range(batches)]
        raw, ours = (median(side) for side in zip(*pairs, strict=True))
        suffix = f"_{per_batch}"
        report.add(f"append_vs_raw{suffix}", raw / ours, "ratio", ">= 0.5")
        report.add(f"append_rate{suffix}", per_batch / ours, "documents/s")
        reading = median(spool_read(spool, f"r{turn}") for turn in range(5)) / batches
    os.close(handle)
    report.add(f"read_vs_raw_append{suffix}", raw / reading, "ratio")
    report.add(f"read_rate{suffix}", per_batch / reading, "documents/s", ">= 200000")


def measure_crowd(report: Report, folder: Path, threads: int, per_thread: int) -> None:
    """
    Many senders at once, as at a worker: they share syncs, one alone waits for each.
    """
    lines = documents(100)
    with Spool(folder / "crowd", max_bytes=1 << 34) as spool:

        def work() -> None:
            for _ in range(per_thread):
                spool.append(lines)

        begun = time.perf_counter()
        for _ in range(threads):
            work()
        alone = time.perf_counter() - begun
        crowd = [threading.Thread(target=work) for _ in range(threads)]
        begun = time.perf_counter()
        for one in crowd:
            one.start()
        for one in crowd:
            one.join()
        together = time.perf_counter() - begun
    report.add(f"append_{threads}_threads_vs_one", alone / together, "ratio", ">= 1")
    report.add(f"batches_{threads}_threads", threads * per_thread / together, "batches/s")


def main() -> None:
    args = arguments(__doc__ or "")
    report = Report("spool: append + fsync and read + commit, against write + fdatasync")
    folder = Path(tempfile.mkdtemp(prefix="bench-spool-"))
    try:
        for per_batch, batches in ((100, 300), (5000, 60)):
            measure(report, folder, per_batch, batches * (5 if args.quick else 20))
        measure_crowd(report, folder, 16, 50 if args.quick else 500)
    finally:
        shutil.rmtree(folder)
    report.finish(args)


if __name__ == "__main__":
    main()
