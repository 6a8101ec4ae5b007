"""
The lake against its limit: DuckDB alone writing the same rows to one sorted Parquet file, and
asking that file the same questions.

Samples are made in SQL as shippers send them: 1,000 nodes, 20 processes each, every minute, CPU
in ticks of 10 ms, memory in pages, some 17,000 distinct command lines.
"""

import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[1])

import duckdb

from bench.report import Report, arguments
from leadline.store.lake import LakeStore
from leadline.store.lake.schema import SQL_TYPES, fields_of, literal, quote
from leadline.store.lake.write import read, write_rows
from leadline.store.plan import Aggregate, Bucket, Condition, Function, Group, Op, Plan
from leadline.store.scope import EVERYTHING

HOSTS, PROCESSES = 1000, 20
SLICE = 50  # minutes, a million samples
BATCH = 5000

MADE = """
SELECT epoch_ms((1795219200 + m * 60) * 1000 + h % 700 + 30000) AS "@timestamp",
  'process' AS dataset, 'fox' AS cluster, printf('c%d-%d', h // 40, h % 40) AS "host.name",
  hash(h)::VARCHAR AS "boot.id", m * 60 + h * 11 AS "sample.uptime", 60.0 AS "interval.seconds",
  epoch_ms((1795219200 + m * 60 + 30) * 1000 + h % 700 + 30000) AS "sample.time",
  epoch_ms((1795219200 + m * 60 + 33) * 1000 + (hash(m, h // 25) % 900)::BIGINT)
    AS "event.ingested",
  printf('%d-%d', 1000 + k % 60000, k % 99999999) AS "process.entity_id",
  (1000 + k % 60000)::BIGINT AS "process.pid", printf('u%03d', k % 211) AS "user.name",
  (5000 + k % 211)::VARCHAR AS "user.id", printf('g%02d', k % 17) AS "user.group",
  printf('project%02d', k % 37) AS project, 'normal' AS partition,
  printf('fox/%d@%d', k % 400000, 1795219200 - k % 86400) AS "job.run",
  printf('fox/%d', k % 400000) AS "job.id", (k % 400000)::VARCHAR AS "job.local_id",
  printf('program%02d', k % 61) AS "program.name", printf('field%d', k % 5) AS "program.level1",
  printf('programs.csv:%d', k % 61) AS "program.rule", [printf('tag%d', k % 7)] AS "program.tags",
  printf('program%02d', k % 61) AS "process.name",
  printf('/cluster/software/program%02d/bin/program%02d -i input_%d.dat --steps %d -o out',
         k % 61, k % 61, k % 17000, k % 61 * 1000) AS "process.command_line",
  printf('program%02d -i input_#.dat --steps #', k % 61) AS "command.shape",
  CASE WHEN k % 10 < 6 THEN 'R' ELSE 'S' END AS "process.state",
  (1 + k % 8) AS "process.thread.count",
  CASE WHEN k % 10 < 6 THEN 59.9 + n % 12 / 100.0 ELSE n % 40 / 100.0 END AS core_seconds,
  (200000000 + k % 3000000000) // 4096 * 4096 + n % 64 * 4096 AS "memory.rss.bytes",
  CASE WHEN k % 4 = 0 THEN n % 40 * 4096 ELSE 0 END AS "io.read.bytes", 0 AS "io.write.bytes",
  '0.1.0' AS "agent.version", 1 AS "schema.version", 'r1' AS "rules.version",
  (m // 60 % 24) AS "local.hour", 6 AS "local.weekday",
  DATE '2026-11-21' + (m // 1440)::INT AS "local.day"
FROM (SELECT m, h, (hash(h, p, (m + p * 7) // 180) >> 4)::BIGINT AS k,
  (hash(m, h, p) >> 4)::BIGINT AS n
  FROM range({first}, {last}) t(m), range({hosts}) u(h), range({processes}) v(p))
"""
QUESTIONS = {
    "user_by_day": Plan(
        "process",
        (Aggregate("s", Function.SUM, "core_seconds"),),
        by=(Group("user.name"), Group("local.day", Bucket.DAY)),
    ),
    "top_programs": Plan(
        "process", (Aggregate("s", Function.SUM, "core_seconds"),), by=(Group("program.name"),)
    ),
    "users_by_tag": Plan(
        "process",
        (Aggregate("u", Function.DISTINCT, "user.name"), Aggregate("n", Function.COUNT)),
        by=(Group("program.tags"),),
        where=(Condition("partition", Op.IN, ("normal",)),),
    ),
}
LIMITS = {
    "user_by_day": 'SELECT "user.name", "local.day", sum(core_seconds) FROM {0} GROUP BY ALL',
    "top_programs": 'SELECT "program.name", sum(core_seconds) FROM {0} GROUP BY ALL',
    "users_by_tag": 'SELECT tag, count(DISTINCT "user.name"), count(*) FROM {0},'
    " unnest(\"program.tags\") u(tag) WHERE partition = 'normal' GROUP BY ALL",
}


def typed(con: duckdb.DuckDBPyConnection, first: int, last: int) -> str:
    """
    The samples of some minutes with every column of the dataset.
    """
    made = MADE.format(first=first, last=last, hosts=HOSTS, processes=PROCESSES)
    have = {row[0] for row in con.execute(f"DESCRIBE {made}").fetchall()}
    columns = (
        f"{quote(n) if n in have else 'NULL'}::{SQL_TYPES[f.type]} AS {quote(n)}"
        for n, f in fields_of("process").items()
    )
    return f"SELECT {', '.join(columns)} FROM ({made})"


def seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def best(work: Callable[[], object], times: int = 5) -> float:
    return min(seconds(work) for _ in range(times))


def live(report: Report, folder: Path) -> None:
    """
    Batches as the worker brings them: encoded documents, checked for repeats, on disk.
    """
    con = duckdb.connect()
    con.execute("SET TimeZone = 'UTC'")
    lines = folder / "batch.ndjson"
    minutes = 20
    con.execute(f"COPY ({typed(con, 0, minutes)}) TO {literal(str(lines))} (FORMAT json)")
    data = lines.read_bytes().splitlines(keepends=True)
    batches = [b"".join(data[at : at + BATCH]) for at in range(0, len(data), BATCH)]
    lake = LakeStore(folder / "live")
    lake.write_lines("process", batches[0], "create")
    spent = seconds(lambda: [lake.write_lines("process", b, "create") for b in batches[1:]])
    report.add("append_per_s", (len(data) - BATCH) / spent, "samples/s")
    report.add("append_batch_ms", spent / (len(batches) - 1) * 1000, "ms per 5,000")
    again = seconds(lambda: [lake.write_lines("process", b, "create") for b in batches])
    report.add("repeat_batch_ms", again / len(batches) * 1000, "ms per 5,000")
    stored = lake.health().datasets["process"].documents
    assert stored == len(data), f"{stored} of {len(data)} stored"
    lake.close()


def grown(report: Report, folder: Path, millions: int) -> None:
    """
    So many million samples in slices, merged, asked; beside it the same rows in plain Parquet.
    """
    lake = LakeStore(folder / f"lake{millions}")
    con = lake._connection()
    table = lake.table("process")
    spent = 0.0
    for number in range(millions):
        rows = typed(con, number * SLICE, (number + 1) * SLICE)
        con.execute(f"CREATE OR REPLACE TEMP TABLE made AS {rows}")
        spent += seconds(lambda: write_rows(con, table, "made", "create"))
    report.add(f"bulk_per_s_{millions}m", millions * 1e6 / spent, "samples/s")
    report.add(f"compact_s_{millions}m", seconds(lake.compact), "s")
    size = lake.health().datasets["process"].bytes
    report.add(f"bytes_per_sample_{millions}m", size / millions / 1e6, "bytes", "<= 15")

    paths = [table.path(file) for file in table.files()]
    plain = folder / f"plain{millions}.parquet"
    order = ", ".join(quote(name) for name in table.dataset.sort)
    copy = f"COPY (SELECT * FROM {read(paths)} ORDER BY {order}) TO {literal(str(plain))}"
    report.add(
        f"plain_copy_s_{millions}m",
        seconds(lambda: con.execute(f"{copy} (FORMAT parquet, COMPRESSION zstd)")),
        "s",
    )
    report.add(f"plain_bytes_{millions}m", plain.stat().st_size / millions / 1e6, "bytes")
    for name, plan in QUESTIONS.items():
        sql = LIMITS[name].format(f"read_parquet({literal(str(plain))})")
        ours = best(lambda plan=plan: lake.ask(plan, EVERYTHING))  # type: ignore[misc]
        limit = best(lambda sql=sql: con.execute(sql).fetchall())  # type: ignore[misc]
        report.add(f"ask_{name}_ms_{millions}m", ours * 1000, "ms")
        report.add(f"ask_{name}_vs_plain_{millions}m", ours / limit, "times", "<= 1.5")
    search = best(lambda: lake.search("program07 input_1*", EVERYTHING), 3)
    report.add(f"search_ms_{millions}m", search * 1000, "ms")
    plain.unlink()
    lake.close()
    shutil.rmtree(lake.folder)


def main() -> None:
    args = arguments(__doc__ or "")
    report = Report("lake: append, repeats, merging, size, questions")
    folder = Path(tempfile.mkdtemp(prefix="leadline-bench-lake-"))
    try:
        live(report, folder)
        for millions in (1,) if args.quick else (1, 10, 50):
            grown(report, folder, millions)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    report.add("rss_mb", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "MiB")
    report.finish(args)


if __name__ == "__main__":
    main()
