"""
Reading Grid Engine's accounting into the lake against one pass of the real qacct over the file.

The file is made by varying records of a real 8.1.9: 1 GiB and more than three million of them,
64 MiB with --quick. Beside it stands what DuckDB takes to turn the same text into one Parquet file,
nothing understood. On a busy machine the CPU seconds tell more than the clock. Without qacct on
the PATH (Debian: gridengine-client) there is no comparison with it.
"""

import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

import duckdb

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[1])

from bench.report import Report, arguments
from enrich.backfill.files import Source
from enrich.backfill.options import Options
from enrich.backfill.seen import Seen
from enrich.backfill.sge import SgeReader
from enrich.backfill.sge_lines import FIELDS
from enrich.backfill.sge_sql import read_slice
from enrich.backfill.sink import LakeSink
from enrich.backfill.tally import Rejects, Tally
from leadline.store.lake import LakeStore
from leadline.store.lake.schema import literal
from leadline.store.plan import Aggregate, Bucket, Function, Group, Plan
from leadline.store.scope import EVERYTHING

ROOT = Path(__file__).parents[1]
REAL = ROOT / "tests/enrich/backfill/cases/sge/8.1.9_real_jobs/input"
BEGIN = 1577836800
QUEUES = ("main.q", "short.q", "gpu.q", "long.q")
NAMES = ("train.sh", "blast", "relion", "STDIN", "QRLOGIN", "gatk")
CELL = """admin_user none
default_domain none
ignore_fqdn true
spooling_method classic
spooling_lib libspoolc
spooling_params {0};{0}
binary_path /usr/lib/gridengine
qmaster_spool_dir {0}
security_mode none
listener_threads 2
worker_threads 2
scheduler_threads 1
jvm_threads 0
"""
AGGREGATES = (
    Aggregate("jobs", Function.COUNT),
    Aggregate("wall", Function.SUM, "job.wall.seconds"),
    Aggregate("used", Function.SUM, "job.core_seconds.used"),
    Aggregate("wait", Function.SUM, "job.wait.seconds"),
    Aggregate("memory", Function.SUM, "job.memory.peak.bytes"),
)
KEYS = ("user.name", "user.group", "project", "partition", "job.cores")


def records(seed: int, first_job: int) -> list[bytes]:
    """
    Ten thousand records, twenty seconds apart.
    """
    real = [line.split(":") for line in REAL.read_text().splitlines() if line.count(":") == 44]
    real = [fields for fields in real if fields[41] == "NONE"]
    chance = random.Random(seed)  # the same file each time
    made = []
    for number in range(10_000):
        fields = list(chance.choice(real))
        user, slots = chance.randrange(200), chance.choice((1, 1, 1, 2, 4, 8, 16))
        submit = BEGIN + (first_job + number) * 20
        wall = int(chance.expovariate(1 / 3600))
        fields[0], fields[1] = chance.choice(QUEUES), f"node{chance.randrange(500):03d}.cluster"
        fields[2], fields[3], fields[4] = f"grp{user % 10}", f"user{user:03d}", chance.choice(NAMES)
        fields[5], fields[8] = str(1_000_000 + first_job + number), str(submit)
        if fields[9] != "0":
            fields[9], fields[10], fields[13] = str(submit + 30), str(submit + 30 + wall), str(wall)
        fields[31], fields[34] = f"prj{chance.randrange(20):02d}", str(slots)
        if slots > 1:
            fields[33], fields[39] = "smp", f"-pe smp {slots}"
        fields[36] = fields[14] = f"{wall * slots * chance.random():.6f}"
        fields[42] = f"{chance.random() * 1e11:.6f}"
        made.append(":".join(fields).encode() + b"\n")
    return made


def make_file(path: Path, size: int) -> int:
    count = 0
    with path.open("wb") as file:
        file.write(b"# Version: 8.1.9\n# \n")
        while file.tell() < size:
            file.write(b"".join(made := records(count, count)))
            count += len(made)
    return count


@dataclass(frozen=True, slots=True)
class Spent:
    wall: float
    cpu: float  # user and system, of all threads and finished children


def timed(work: Callable[[], object]) -> float:
    return spent(work).wall


def spent(work: Callable[[], object]) -> Spent:
    before, begun = _cpu(), time.perf_counter()
    work()
    return Spent(time.perf_counter() - begun, _cpu() - before)


def _cpu() -> float:
    ours = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in ours)


def convert(folder: Path, path: Path) -> Spent:
    """
    The least that anybody does who stores the file: 45 columns of text, compressed alike.
    """
    con = duckdb.connect()
    con.execute("SET memory_limit = '900 MiB'")
    target = literal(str(folder / "bare.parquet"))
    found = spent(
        lambda: con.execute(
            f"COPY (FROM {read_slice(str(path), FIELDS)}) TO {target}"
            " (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, PARQUET_VERSION v2)"
        )
    )
    con.close()
    (folder / "bare.parquet").unlink()
    return found


def qacct(folder: Path, path: Path) -> Spent | None:
    """
    What one `qacct -o` pass takes, the best of two; None where there is no qacct.
    """
    if shutil.which("qacct") is None:
        return None
    common = folder / "root" / "default" / "common"
    common.mkdir(parents=True, exist_ok=True)
    (common / "act_qmaster").write_text("localhost\n")
    (common / "bootstrap").write_text(CELL.format(common))
    environment = {**os.environ, "SGE_ROOT": str(folder / "root")}
    command = ["qacct", "-o", "-f", str(path)]

    def once() -> None:
        subprocess.run(command, env=environment, check=True, capture_output=True)

    return min((spent(once) for _ in range(2)), key=lambda one: one.wall)


def import_file(store: LakeStore, path: Path, seen: Path) -> Tally:
    options = Options(cluster="fox", zone=ZoneInfo("Europe/Oslo"))
    reader = SgeReader(LakeSink(store), options, Rejects(None), store.staging)
    with Source(str(path)) as source:
        reader.read(source, Seen(seen))
    reader.close()
    return reader.tally


def peak_memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def questions() -> dict[str, Plan]:
    asked = {f"by {key}": Plan("job", AGGREGATES, by=(Group(key),)) for key in KEYS}
    asked["by month"] = Plan("job", AGGREGATES, by=(Group("local.day", Bucket.MONTH),))
    asked["mixture of five"] = Plan("job", AGGREGATES, by=tuple(Group(key) for key in KEYS))
    return asked


def main() -> None:
    args = arguments(__doc__ or "")
    report = Report("backfill: a Grid Engine accounting file into the lake")
    folder = Path(tempfile.mkdtemp(prefix="leadline-bench-backfill-"))
    try:
        measure(report, folder, (64 << 20) if args.quick else (1 << 30))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    report.finish(args)


def measure(report: Report, folder: Path, size: int) -> None:
    path, seen = folder / "accounting", folder / "seen.json"
    count = make_file(path, size)
    store = LakeStore(folder / "lake", memory=900 << 20)
    limit = qacct(folder, path)
    first = spent(lambda: import_file(store, path, seen))
    report.add("records_per_s", count / first.wall, "records/s")
    report.add("import_s", first.wall, "s")
    report.add("import_cpu_s", first.cpu, "s")
    report.add("rss_mb", peak_memory(), "MiB", "<= 1536")
    again = timed(lambda: import_file(store, path, seen))
    with path.open("ab") as file:
        file.write(b"".join(records(count, count)[: max(count // 100, 1)]))
    appended = timed(lambda: import_file(store, path, seen))
    if limit is not None:
        report.add("qacct_s", limit.wall, "s")
        report.add("import_vs_qacct", first.wall / limit.wall, "times", "<= 2")
        report.add("import_cpu_vs_qacct", first.cpu / limit.cpu, "times")
        report.add("again_vs_qacct", again / limit.wall, "times", "<= 0.1")
        report.add("append_vs_qacct", appended / limit.wall, "times", "<= 0.2")
    bare = convert(folder, path)
    report.add("bare_s", bare.wall, "s")
    report.add("bare_cpu_s", bare.cpu, "s")
    report.add("import_vs_bare", first.wall / bare.wall, "times")
    report.add("import_cpu_vs_bare", first.cpu / bare.cpu, "times")
    report.add("compact_s", timed(store.compact), "s")
    health = store.health().datasets
    report.add("bytes_per_job", health["job"].bytes / health["job"].documents, "bytes")
    asked = {}
    for name, plan in questions().items():
        asked[name] = min(timed(lambda plan=plan: store.ask(plan, EVERYTHING)) for _ in range(3))  # type: ignore[misc]
    mixture = asked.pop("mixture of five")
    report.add("slowest_question_s", max(asked.values()), "s", "<= 0.5")
    report.add("slowest_mixture_s", mixture, "s", "<= 2")
    store.close()


if __name__ == "__main__":
    main()
