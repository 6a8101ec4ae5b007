"""
How fast pages are: eight readers on a real server, while everything else on the machine runs.

A simulated fleet is taken in through the whole chain, `leadline serve` is started, and readers ask
for every page in turn. Beside it, as the limit of what this machine's HTTP can do, the style sheet.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[1])

from bench.report import Report, arguments

READERS = 8
PAGES = (
    "/",
    "/usage",
    "/usage?by=user&measure=gpu_hours_busy",
    "/usage?by=host&period=last+7+days",
    "/programs",
    "/users",
    "/jobs",
    "/nodes",
    "/search?words=mdrun",
    "/data",
)
LIMIT = ("/static/leadline.css",)
LEADLINE = (sys.executable, "-m", "leadline.commands")


def main() -> None:
    args = arguments("Pages under load, on a simulated fleet.")
    nodes, days, seconds = (12, 8, 6.0) if args.quick else (40, 30, 30.0)
    report = Report(f"web: {nodes} nodes, {days} days, {READERS} readers")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fill(folder, nodes, days)
        port = free_port()
        server = subprocess.Popen(
            [*LEADLINE, "--store", f"lake:{folder}/lake", "serve", "--listen", f"127.0.0.1:{port}"],
            stderr=subprocess.DEVNULL,
        )
        try:
            address = f"http://127.0.0.1:{port}"
            wait_for(f"{address}/healthz")
            cold = [timed(f"{address}{page}")[0] for page in PAGES]
            report.add("page_cold_max_ms", 1000 * max(cold), "ms")
            warm, size = load(address, PAGES, seconds)
            report.add("page_p50_ms", 1000 * percentile(warm, 50), "ms")
            report.add("page_p95_ms", 1000 * percentile(warm, 95), "ms", "<= 500")
            report.add("page_max_kb", size / 1000, "kB", "<= 100")
            limit, _ = load(address, LIMIT, seconds / 3)
            report.add("style_sheet_p95_ms", 1000 * percentile(limit, 95), "ms")
        finally:
            server.terminate()
            server.wait(20)
    report.finish(args)


def fill(folder: Path, nodes: int, days: int) -> None:
    sizes = ("--nodes", str(nodes), "--days", str(days))
    run("simulate", "--out", str(folder / "fleet"), "--seed", "7", *sizes)
    files = sorted(str(path) for path in (folder / "fleet").glob("*.ndjson.gz"))
    run("--store", f"lake:{folder}/lake", "enrich", *files)


def run(*words: str) -> None:
    subprocess.run([*LEADLINE, *words], check=True, stdout=subprocess.DEVNULL)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_for(address: str) -> None:
    for _ in range(300):
        try:
            timed(address)
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit(f"{address}: no answer within 30 s")


def timed(address: str) -> tuple[float, int]:
    start = time.perf_counter()
    with urllib.request.urlopen(address, timeout=30) as answer:
        size = len(answer.read())
    return time.perf_counter() - start, size


def load(address: str, pages: tuple[str, ...], seconds: float) -> tuple[list[float], int]:
    """
    How long each answer took while READERS ask at once, and the size of the largest.
    """
    end = time.perf_counter() + seconds
    found: list[tuple[float, int]] = []

    def read(first: int) -> None:
        place = first
        while time.perf_counter() < end:
            found.append(timed(address + pages[place % len(pages)]))
            place += 1

    readers = [threading.Thread(target=read, args=(number,)) for number in range(READERS)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    return [took for took, _ in found], max(size for _, size in found)


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share / 100))]


if __name__ == "__main__":
    main()
