"""
How fast pages are: eight readers on a real server, while a worker writes.

The store holds a year of 100 nodes (52 million samples, as bench/query.py makes them) and a month
of a simulated fleet with jobs, nodes and cards, taken in through the whole chain and rolled up. A
server is started on a copy of it, and readers ask for every page in turn while more samples are
taken in. Beside it, as the limit of what this machine's HTTP can do, the style sheet.

Times of pages depend on what else the machine does; seconds of the server's processors do not.
Quick: a small fleet, and no year.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psutil

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[1])

from bench.query import UTC_ZONE, YEAR, year
from bench.report import Report, arguments
from leadline.chores.capacity import keep_capacity
from leadline.chores.lease import done
from leadline.chores.rollup import roll_up
from leadline.query.rollups import LATE as SETTLED
from leadline.store.lake import LakeStore

READERS = 8
PAGES = (
    "/",
    "/usage",
    "/usage?by=user&measure=gpu_hours_busy",
    "/usage?by=host&period=last+7+days",
    "/usage?by=program&picture=pie",
    "/usage?by=host&picture=heat&period=last+7+days",
    "/programs",
    "/users",
    "/projects",
    "/jobs",
    "/nodes",
    "/findings",
    "/allocations",
    "/usage?by=weekday&and=hour_of_day&period=last+7+days",
    "/findings",
    "/search?words=mdrun",
    "/data",
)
LIMIT = ("/static/leadline.css",)
AS_OF = re.compile(rb"as of (\d\d):(\d\d):(\d\d)")
SCRIPTS = ("leadline", "charts", "complete", "refresh")
FLEET = "fleet"
LATE = ("--cluster", "late", "--nodes", "10", "--days", "2")  # what is written meanwhile
LEADLINE = (sys.executable, "-m", "leadline.commands")


def main() -> None:
    args = arguments(
        "Pages under load, while a worker writes.",
        ("--store", "folder of the lake, kept: made when it is not there; written to is a copy"),
        ("--processes", "processes that serve (1)"),
    )
    with tempfile.TemporaryDirectory(prefix="leadline-bench-web-") as name:
        folder = Path(name)
        lake = Path(args.store) if args.store else folder / "lake"
        prepare(folder, lake, quick=args.quick)
        run("simulate", "--out", str(folder / "late"), *LATE)
        files = sorted((folder / "late").glob("*.ndjson*"))
        with copied(lake) as copy:
            run("--store", f"lake:{copy}", "enrich", str(files[-1]))  # or nothing would be now
            serve(args, copy, files)


def serve(args: Namespace, lake: Path, late: list[Path]) -> None:
    port = free_port()
    set_processes = ("--set", f"web.processes={args.processes or 1}")
    listen = ("--listen", f"127.0.0.1:{port}")
    server = subprocess.Popen(
        [*LEADLINE, "--store", f"lake:{lake}", *set_processes, "serve", *listen],
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{address}/healthz")
        report = Report(f"web: {samples(address):,} documents, {READERS} readers")
        measure(report, address, lake, late, 6.0 if args.quick else 30.0, server.pid)
    finally:
        server.terminate()
        server.wait(20)
    report.finish(args)


def prepare(folder: Path, lake: Path, *, quick: bool) -> None:
    """
    The store with everything in it that is not there yet, rolled up.
    """
    store = LakeStore(lake)
    if not quick:
        year(store, YEAR)
    if not store.table("job").files():
        fill(folder, lake, *((12, 8) if quick else (40, 30)))
    if not store.table("capacity").files():
        now = datetime.now(UTC)
        roll_up(store, now, lambda cluster: UTC_ZONE)
        keep_capacity(store, now, lambda cluster: UTC_ZONE, None)
        for chore in ("rollup", "capacity"):  # as the next run will mark it
            done(store, chore, now + SETTLED, now + SETTLED, 1)
        store.compact()
    store.close()


@contextmanager
def copied(lake: Path) -> Iterator[Path]:
    """
    A copy beside the lake, of links: files of a lake are never changed, only added and deleted.
    """
    copy = Path(tempfile.mkdtemp(prefix=f"{lake.name}.", dir=lake.parent))
    try:
        shutil.copytree(lake, copy, copy_function=os.link, dirs_exist_ok=True)
        yield copy
    finally:
        shutil.rmtree(copy, ignore_errors=True)


def measure(
    report: Report, address: str, lake: Path, late: list[Path], seconds: float, server: int
) -> None:
    before = spent(server)
    cold = {page: timed(f"{address}{page}")[0] for page in PAGES}
    report.add("page_cold_mean_cpu_ms", 1000 * (spent(server) - before) / len(PAGES), "ms")
    slowest = max(cold, key=lambda page: cold[page])
    report.add("page_cold_max_ms", 1000 * cold[slowest], f"ms {slowest}")
    for page in PAGES:
        timed(f"{address}{page}")
    before = spent(server)
    with Writer(lake, late) as writer:
        found = load(address, PAGES, seconds)
    cost = (spent(server) - before) / len(found)
    warm = [shown.took for shown in found]
    by_page = {p: percentile([s.took for s in found if s.page == p], 95) for p in PAGES}
    slowest = max(by_page, key=lambda page: by_page[page])
    report.add("page_p95_slowest_ms", 1000 * by_page[slowest], f"ms {slowest}")
    report.add("page_p50_ms", 1000 * percentile(warm, 50), "ms")
    report.add("page_p95_ms", 1000 * percentile(warm, 95), "ms", "<= 500")
    report.add("page_mean_cpu_ms", 1000 * cost, "ms")
    report.add("pages_per_second", len(warm) / seconds, "1/s")
    report.add("written_meanwhile", writer.files, "files")
    report.add("page_age_p95_s", percentile([shown.age for shown in found], 95), "s")
    report.add("page_max_kb", max(shown.size for shown in found) / 1000, "kB", "<= 100")
    scripts = sum(len(timed(f"{address}/static/{name}.js")[1]) for name in SCRIPTS)
    report.add("scripts_kb", scripts / 1000, "kB", "<= 1000")
    limit = [shown.took for shown in load(address, LIMIT, seconds / 3)]
    report.add("style_sheet_p95_ms", 1000 * percentile(limit, 95), "ms")


class Writer:
    """
    Takes in samples of another cluster, file after file, until the readers are done.
    """

    def __init__(self, lake: Path, late: list[Path]) -> None:
        self.files = 0
        self._words = [*LEADLINE, "--store", f"lake:{lake}", "enrich"]
        self._late = late
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write)

    def __enter__(self) -> Writer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _write(self) -> None:
        while not self._stop.is_set():
            file = self._late[self.files % len(self._late)]
            subprocess.run([*self._words, str(file)], check=True, stdout=subprocess.DEVNULL)
            self.files += 1


def spent(server: int) -> float:
    """
    Seconds of processor that the server and its processes have used.
    """
    known = psutil.Process(server)
    times = [one.cpu_times() for one in (known, *known.children(recursive=True))]
    return sum(time.user + time.system for time in times)


def samples(address: str) -> int:
    """
    How many documents the store holds, as the pages tell it.
    """
    with urllib.request.urlopen(f"{address}/metrics", timeout=120) as answer:
        lines = answer.read().decode().splitlines()
    return sum(int(float(x.split()[-1])) for x in lines if x.startswith("leadline_documents{"))


def fill(folder: Path, lake: Path, nodes: int, days: int) -> None:
    sizes = ("--cluster", FLEET, "--nodes", str(nodes), "--days", str(days))
    run("simulate", "--out", str(folder / "fleet"), "--seed", "7", *sizes)
    files = sorted(str(path) for path in (folder / "fleet").glob("*.ndjson.gz"))
    run("--store", f"lake:{lake}", "enrich", *files)


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


def timed(address: str) -> tuple[float, bytes]:
    start = time.perf_counter()
    with urllib.request.urlopen(address, timeout=30) as answer:
        page: bytes = answer.read()
    return time.perf_counter() - start, page


@dataclass(frozen=True, slots=True)
class Shown:
    page: str
    took: float
    size: int
    age: float  # seconds since the moment it says it is of


def load(address: str, pages: tuple[str, ...], seconds: float) -> list[Shown]:
    """
    What READERS were shown who asked for PAGES in turn, all at once.
    """
    end = time.perf_counter() + seconds
    found: list[Shown] = []

    def read(place: int) -> None:
        while time.perf_counter() < end:
            name = pages[place % len(pages)]
            took, page = timed(address + name)
            found.append(Shown(name, took, len(page), age_of(page)))
            place += 1

    readers = [threading.Thread(target=read, args=(number,)) for number in range(READERS)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    return found


def age_of(page: bytes) -> float:
    """
    By the clock on the wall, which has no dates; 0 where a page does not say.
    """
    if (told := AS_OF.search(page)) is None:
        return 0.0
    hours, minutes, seconds = map(int, told.groups())
    now = datetime.now()
    passed = (now.hour - hours) * 3600 + (now.minute - minutes) * 60 + now.second - seconds
    return passed % 86400


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values) or [0.0]
    return ordered[min(len(ordered) - 1, int(len(ordered) * share / 100))]


if __name__ == "__main__":
    main()
