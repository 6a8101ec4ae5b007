"""
Questions about a year of 100 nodes (50 million samples) on the lake, from raw samples and from
hourly usage, against DuckDB alone summing the very same Parquet files; search over 10 million; the
same questions on OpenSearch, of the year from hourly usage, and of a week from samples
(`--opensearch-days` for more: ten million, of 70 days, take a quarter of an hour to send).

Quick: a week, and no OpenSearch. Figures are named the same; their targets are for the year. The
year's usage is made in SQL, the same documents as the chore's (answers must be equal); the chore's
own speed is measured on a day.
"""

import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import zip_longest
from pathlib import Path
from zoneinfo import ZoneInfo

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[1])

from bench.lake import MADE
from bench.report import Report, arguments
from leadline.chores.lease import done
from leadline.chores.rollup import roll_up
from leadline.formats import DATASETS
from leadline.query import Answer, ask, parse_question
from leadline.reports.finding import Case
from leadline.reports.findings import findings
from leadline.reports.job import job_view
from leadline.store.contract import Store
from leadline.store.lake import LakeStore
from leadline.store.lake.schema import SQL_TYPES, quote
from leadline.store.lake.write import read, write_rows
from leadline.store.scope import EVERYTHING

HOSTS, PROCESSES, EVERY = 100, 15, 15  # minutes
YEAR = 365
UTC_ZONE = ZoneInfo("UTC")
SEARCHED = 10_000_000
SUMMED = ("core_seconds", "io.read.bytes", "io.write.bytes")
KEPT = (
    *("user.name", "user.id", "user.group", "project", "partition", "job.id", "job.run"),
    *("job.local_id", "program.name", "program.level1", "program.rule", "process.name"),
    "command.shape",
)
BY_USER = "core_hours_used by user during all top 10"
QUESTIONS = {
    "user": BY_USER,
    "program_per_day": "core_hours_used by program per day during all top 10",
    "mean_memory": "memory_mean, memory_max, users by program during all top 20",
    "job": "core_hours_used by job during all top 10",
}


def begin(days: int) -> datetime:
    """
    The midnight from which so many days reach to today's, so that pages have them as the latest.
    """
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return today - timedelta(days=days)


def made(start: datetime, first: int, last: int) -> str:
    """
    Samples of some minutes: two jobs at a time on each node, three hours each.
    """
    text = MADE.replace("range({first}, {last})", f"range({{first}}, {{last}}, {EVERY})")
    text = text.replace("hash(h, p, (m + p * 7) // 180)", "hash(h, p // 8, m // 180)")
    text = text.replace("1000 + k % 60000, k % 99999999", "1000 + p, k % 99999999")
    text = text.replace("(hash(m, h, p) >> 4)::BIGINT AS n", "(hash(m, h, p) >> 4)::BIGINT AS n, p")
    text = text.replace("1795219200", str(int(start.timestamp())))
    text = text.replace("DATE '2026-11-21'", f"DATE '{start:%F}'")
    text = text.replace(" 6 AS ", f" (m // 1440 + {start.weekday()}) % 7 + 1 AS ")
    return text.format(first=first, last=last, hosts=HOSTS, processes=PROCESSES)


def typed(lake: LakeStore, start: datetime, first: int, last: int) -> str:
    con = lake._connection()
    rows = made(start, first, last)
    have = {row[0] for row in con.execute(f"DESCRIBE {rows}").fetchall()}
    columns = (
        f"{quote(f.name) if f.name in have else 'NULL'}::{SQL_TYPES[f.type]} AS {quote(f.name)}"
        for f in DATASETS["process"].fields
    )
    return f"SELECT {', '.join(columns)} FROM ({rows})"


def fill(lake: LakeStore, start: datetime, days: int) -> int:
    con, table = lake._connection(), lake.table("process")
    con.execute("SET memory_limit = '1GB'; SET preserve_insertion_order = false")
    for day in range(0, days, 7):
        first, last = day * 1440, min(day + 7, days) * 1440
        con.execute(f"CREATE OR REPLACE TEMP TABLE made AS {typed(lake, start, first, last)}")
        write_rows(con, table, "made", "create")
        print(f"  {day + 7} of {days} days", file=sys.stderr, flush=True)
    con.execute("DROP TABLE made")
    lake.compact()
    return lake.health().datasets["process"].documents


def fold(lake: LakeStore, start: datetime, days: int) -> None:
    """
    Hourly usage as the chore makes it, a week at a time.
    """
    con, raw, table = lake._connection(), lake.table("process"), lake.table("usage")
    keys = ("cluster", "host.name", *KEPT)
    given = {
        **{key: quote(key) for key in keys},
        **{name: f"min({quote(name)})" for name in ("local.day", "local.hour", "local.weekday")},
        **{name: f"sum({quote(name)})" for name in SUMMED},
        **dict.fromkeys(("sample.count", "process.count"), "count(*)"),
        "@timestamp": "hour",
        "dataset": "'usage'",
        "program.tags": 'any_value("program.tags")',
        "memory.rss.max": 'max("memory.rss.bytes")',
        "memory.rss.sum": 'sum("memory.rss.bytes")',
        "memory.rss.count": 'count("memory.rss.bytes")',
        "record.version": "1",
    }
    columns = ", ".join(
        f"{given.get(f.name, 'NULL')}::{SQL_TYPES[f.type]} AS {quote(f.name)}"
        for f in DATASETS["usage"].fields
    )
    for week in range(0, days, 7):
        first = start + timedelta(days=week)
        last = min(first + timedelta(days=7), start + timedelta(days=days))
        paths = [raw.path(f) for f in raw.files() if f.last >= first and f.first < last]
        span = (
            f"\"@timestamp\" >= '{first:%F} 00:00:00Z' AND \"@timestamp\" < '{last:%F} 00:00:00Z'"
        )
        rows = (
            f"SELECT *, date_trunc('hour', \"@timestamp\") AS hour FROM {read(paths)} WHERE {span}"
        )
        con.execute(
            f"CREATE OR REPLACE TEMP TABLE made AS SELECT {columns} FROM ({rows})"
            f" GROUP BY hour, {', '.join(map(quote, keys))}"
        )
        write_rows(con, table, "made", "create")
    con.execute("DROP TABLE made")
    lake.compact()


def seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def warm(work: Callable[[], object], times: int = 3) -> tuple[float, float]:
    """
    The first call, and the best of those that follow.
    """
    return seconds(work), min(seconds(work) for _ in range(times))


def asked(store: Store, text: str, now: datetime, *, rolled: bool) -> Answer:
    question = parse_question(text)
    return ask(question, store, EVERYTHING, now, zone=UTC_ZONE, rolled=rolled)


def year(lake: LakeStore, days: int) -> datetime:
    """
    The samples and the usage of so many days, made unless they are there; the moment they end.
    """
    files = lake.table("process").files()
    if files:
        last = max(file.last for file in files)
        return last.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    start = begin(days)
    now = start + timedelta(days=days)
    fill(lake, start, days)
    fold(lake, start, days)
    done(lake, "rollup", now, now, 1)
    return now


def run(report: Report, lake: LakeStore, days: int) -> list[Answer]:
    now = year(lake, days)
    report.add("samples", lake.health().datasets["process"].documents, "")
    expected = from_raw(report, lake, now, days)
    search(report, lake)
    from_usage(report, lake, now, expected)
    views(report, "", lake, str(expected[-1].rows[0]["job"]), now)
    return expected


def questions(
    report: Report,
    prefix: str,
    store: Store,
    texts: Mapping[str, str],
    now: datetime,
    expected: Sequence[Answer],
    *,
    rolled: bool,
) -> float:
    """
    Every question as often as it takes to be warm, its answer as EXPECTED; the slowest.
    """
    slowest = 0.0
    for (name, text), was in zip_longest(texts.items(), expected):
        ask_it = partial(asked, store, text, now, rolled=rolled)
        cold, took = warm(ask_it)
        report.add(f"{prefix}_{name}_cold_s", cold, "s")
        report.add(f"{prefix}_{name}_s", took, "s")
        slowest = max(slowest, took)
        found = ask_it()
        assert rolled is ("usage" in found.datasets), text
        if was is not None:
            same(found, was)
    return slowest


def from_raw(report: Report, lake: LakeStore, now: datetime, days: int) -> list[Answer]:
    slowest = questions(report, "raw", lake, QUESTIONS, now, (), rolled=False)
    report.add("raw_year_s", slowest, "s", "<= 5")
    paths = [lake.table("process").path(file) for file in lake.table("process").files()]
    con = lake._connection()
    sql = f'SELECT "user.name", sum(core_seconds) FROM {read(paths)} GROUP BY ALL'
    _, limit = warm(lambda: con.execute(sql).fetchall())
    report.add("plain_duckdb_s", limit, "s")
    # A week is read in 10 ms: what a question costs besides would be all there is to see.
    target = "<= 1.5" if days > 90 else None
    _, by_user = warm(partial(asked, lake, BY_USER, now, rolled=False))
    report.add("raw_vs_duckdb", by_user / limit, "times", target)
    return [asked(lake, text, now, rolled=False) for text in QUESTIONS.values()]


def views(report: Report, prefix: str, store: Store, job: str, now: datetime) -> None:
    """
    One job, and what somebody should look at of the last day.
    """
    _, view = warm(lambda: job_view(store, EVERYTHING, job, now))
    report.add(f"{prefix}job_view_s", view, "s")
    case = Case(store, EVERYTHING, now - timedelta(days=1), now, now)
    report.add(f"{prefix}findings_day_s", warm(lambda: findings(case))[1], "s")


def search(report: Report, lake: LakeStore) -> None:
    """
    Over the first ten million samples: a word of few lines, and one of all.
    """
    count, end = 0, None
    for file in sorted(lake.table("process").files(), key=lambda file: file.first):
        if count < SEARCHED:
            count, end = count + file.rows, file.last + timedelta(milliseconds=1)
    report.add("searched", count, "")
    for name, text in (("few", "input_77.dat"), ("all", "program*")):
        _, took = warm(lambda text=text: lake.search(text, EVERYTHING, end=end))  # type: ignore[misc]
        report.add(f"search_{name}_s", took, "s", "<= 1")


def from_usage(report: Report, lake: LakeStore, now: datetime, expected: list[Answer]) -> None:
    report.add("usage_documents", lake.health().datasets["usage"].documents, "")
    later = now + timedelta(hours=1)
    slowest = questions(report, "rollup", lake, QUESTIONS, later, expected, rolled=True)
    report.add("rollup_year_s", slowest, "s", "<= 1")


def chore(report: Report, folder: Path) -> None:
    """
    How fast the chore itself makes usage: a day of it.
    """
    lake = LakeStore(folder / "day")
    start = begin(1)
    fill(lake, start, 1)
    begun = time.perf_counter()
    result = roll_up(lake, start + timedelta(days=1), lambda cluster: UTC_ZONE)
    report.add("rollup_node_hours_per_s", result.units / (time.perf_counter() - begun), "hours/s")
    lake.close()


def on_opensearch(
    report: Report, lake: LakeStore, folder: Path, expected: list[Answer], days: int
) -> None:
    """
    The same questions on a node of this machine: of the last DAYS from samples, of all the year
    from hourly usage.
    """
    from leadline.settings.common import RetentionSettings
    from leadline.store import open_store
    from leadline.store.opensearch.local import start_local
    from leadline.store.opensearch.settings import OpenSearchSettings

    now = year(lake, YEAR)
    start = now - timedelta(days=days)
    node = start_local(folder / "node", OpenSearchSettings(), RetentionSettings())
    try:
        store = open_store(f"opensearch={node.url}")
        report.add("opensearch_documents", copied(lake, store, "process", start), "")
        span = f"during {start:%F}..{now - timedelta(days=1):%F}"
        texts = {name: text.replace("during all", span) for name, text in QUESTIONS.items()}
        wanted = [asked(lake, text, now, rolled=False) for text in texts.values()]
        found = questions(report, "opensearch_raw", store, texts, now, wanted, rolled=False)
        report.add("opensearch_raw_s", found, "s", "<= 5")
        _, took = warm(lambda: store.search("program*", EVERYTHING))
        report.add("opensearch_search_all_s", took, "s")
        views(report, "opensearch_", store, str(wanted[-1].rows[0]["job"]), now)
        report.add("opensearch_usage_documents", copied(lake, store, "usage"), "")
        done(store, "rollup", now, now, 1)
        later = now + timedelta(hours=1)
        found = questions(
            report, "opensearch_rollup", store, QUESTIONS, later, expected, rolled=True
        )
        report.add("opensearch_rollup_year_s", found, "s", "<= 1")
        store.close()
    finally:
        node.stop()


def copied(lake: LakeStore, store: Store, dataset: str, start: datetime | None = None) -> int:
    """
    What the lake holds since START, in another store; how many documents that is.
    """
    count = 0
    for batch in lake.scan(dataset, EVERYTHING, start=start, order=()):
        outcome = store.write([{**document, "dataset": dataset} for document in batch], "create")
        assert not outcome.rejected, outcome.rejected[0][1]
        assert not outcome.kept, outcome.reason
        count += outcome.accepted
        if count % 500_000 < len(batch):
            print(f"  {count:,} of {dataset}", file=sys.stderr, flush=True)
    return count


def same(found: Answer, expected: Answer) -> None:
    name = found.question.measures[0]
    one, other = found.total[name], expected.total[name]
    assert one is not None
    assert other is not None
    assert abs(one - other) <= 1e-9 * abs(other), f"{found.question}: {one} is not {other}"


def main() -> None:
    args = arguments(
        __doc__ or "",
        ("--store", "folder of the lake, kept: made when it is not there, else asked as it is"),
        ("--opensearch-days", "how many days OpenSearch gets (7, of 144,000 documents each)"),
    )
    report = Report("query: a year of 100 nodes, raw and rolled up, against plain DuckDB")
    folder = Path(tempfile.mkdtemp(prefix="leadline-bench-query-"))
    try:
        lake = LakeStore(Path(args.store) if args.store else folder / "lake")
        expected = run(report, lake, 7 if args.quick else YEAR)
        chore(report, folder)
        if not args.quick:
            on_opensearch(report, lake, folder, expected, int(args.opensearch_days or 7))
        lake.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    report.add("rss_mb", peak, "MiB", "<= 2048")
    report.finish(args)


if __name__ == "__main__":
    main()
