"""
How sure an answer is: the share of node time that was looked at, and when anyone last looked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from leadline.formats.times import format_time, parse_time
from leadline.query.compile import Source, conditions_of
from leadline.query.dimensions import dimension
from leadline.query.periods import Period
from leadline.query.question import Question
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Condition, Function, Group, Op, Plan
from leadline.store.scope import EVERYTHING

SILENT = 0.9  # a node below this share is named


@dataclass(frozen=True, slots=True)
class Coverage:
    """
    None: no heartbeats were kept, so nobody knows; that is not 0.
    """

    share: float | None = None
    newest: str | None = None  # the latest heartbeat or sample
    hosts: int = 0
    silent: tuple[tuple[str, float], ...] = ()  # nodes and the share of their time covered


def coverage(question: Question, period: Period, store: Store, now: datetime) -> Coverage:
    """
    From node documents: the seconds they speak for, of the seconds their nodes had.

    Asked in full whoever asks: how much was looked at is nobody's secret.
    """
    plan = Plan(
        "node",
        (
            Aggregate("seconds", Function.SUM, "interval.seconds"),
            Aggregate("first", Function.MIN, "@timestamp"),
            Aggregate("last", Function.MAX, "@timestamp"),
        ),
        by=(Group("cluster"), Group("host.name")),
        where=(Condition("job.id", Op.MISSING), *_where(question, store)),
        start=period.start,
        end=period.end,
    )
    rows = [row for row in store.ask(plan, EVERYTHING) if row["first"] and row["last"]]
    if not rows:
        return Coverage(newest=_newest_sample(period, store))
    newest = max(str(row["last"]) for row in rows)
    end = min(period.end or now, now, max(parse_time(newest), now - timedelta(hours=1)))
    begin = min(parse_time(str(row["first"])) for row in rows)
    start = period.start if period.start is not None and period.start < end else begin
    length = (end - start).total_seconds()
    if length <= 0 or all(row["seconds"] is None for row in rows):
        return Coverage(None, newest, len(rows))
    several = len({row["cluster"] for row in rows}) > 1
    shares = {
        f"{row['cluster']}/{row['host.name']}" if several else str(row["host.name"]): min(
            1.0, float(row["seconds"] or 0) / length
        )
        for row in rows
    }
    silent = sorted((share, host) for host, share in shares.items() if share < SILENT)
    return Coverage(
        sum(shares.values()) / len(shares),
        newest,
        len(rows),
        tuple((host, share) for share, host in silent),
    )


def _where(question: Question, store: Store) -> list[Condition]:
    """
    Only filters on which nodes are meant; whose processes are meant does not change who looked.
    """
    found: list[Condition] = []
    for known in question.where:
        if dimension(known.dimension).name in ("cluster", "host"):
            found += conditions_of(known, Plan("node", ()), store, EVERYTHING)
    return found


def _newest_sample(period: Period, store: Store) -> str | None:
    last = Aggregate("last", Function.MAX, "@timestamp")
    (row,) = store.ask(Plan("process", (last,), start=period.start, end=period.end), EVERYTHING)
    return None if row["last"] is None else format_time(parse_time(str(row["last"])))


def nobody_looked(sources: Sequence[Source], store: Store) -> list[str]:
    """
    A note on the node time that nobody knows anything about, where capacity is asked.
    """
    plan = next((source.plan for source in sources if source.plan.dataset == "capacity"), None)
    if plan is None:
        return []
    states = ("up", "down", "drained", "unknown")
    sums = tuple(Aggregate(name, Function.SUM, f"seconds.{name}") for name in states)
    (row,) = store.ask(replace(plan, aggregates=sums), EVERYTHING)
    seconds = {name: float(row[name] or 0) for name in states}
    if not seconds["unknown"]:
        return []
    share = 100 * seconds["unknown"] / sum(seconds.values())
    return [f"of {share:.1f} % of the node time nobody knows whether nodes were up"]
