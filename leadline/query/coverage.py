"""
How sure an answer is: the share of node time that was looked at, when anyone last looked, what was
lost on the way, and since when there is anything at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from leadline.formats.counted import counted
from leadline.formats.times import format_time, parse_time
from leadline.query.compile import Source, conditions_of
from leadline.query.dimensions import dimension
from leadline.query.periods import Period
from leadline.query.question import Question
from leadline.query.rollups import HELD, HOUR, KEPT_CLASSES, capacity_until, hour_of, next_hour
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Condition, Function, Group, Op, Plan, Row
from leadline.store.scope import EVERYTHING

TITLES = {
    "process": "samples are",
    "process_gpu": "samples of cards are",
    "usage": "hourly usage is",
    "capacity": "capacity is",
    "job": "runs are",
    "job_slice": "hours of runs are",
}
UNCLASSED = (
    HELD,
    Condition("memory.rss.count", Op.AT_LEAST, (1,)),
    Condition(KEPT_CLASSES, Op.MISSING),
)
SILENT = 0.9  # a node below this share is named
NODES = (Condition("job.id", Op.MISSING),)  # not the part of a job
BY = (Group("cluster"), Group("host.name"))
ANY = Aggregate("n", Function.COUNT)
LATE = timedelta(hours=1)  # whoever comes later than that into a period may be new
_Key = tuple[str, str]
SAMPLED = (
    Aggregate("seconds", Function.SUM, "interval.seconds"),
    Aggregate("first", Function.MIN, "@timestamp"),
    Aggregate("last", Function.MAX, "@timestamp"),
)
HOURLY = (
    Aggregate("seconds", Function.SUM, "covered.seconds"),
    *(Aggregate(name, Function.SUM, f"seconds.{name}") for name in ("up", "down", "drained")),
    Aggregate("first", Function.MIN, "@timestamp"),
    Aggregate("last", Function.MAX, "@timestamp"),
)


@dataclass(frozen=True, slots=True)
class Coverage:
    """
    None: no heartbeats were kept, so nobody knows; that is not 0.
    """

    share: float | None = None
    newest: str | None = None  # the latest heartbeat or sample
    hosts: int = 0
    silent: tuple[tuple[str, float], ...] = ()  # nodes and the share of their time covered
    dropped: int = 0  # documents that nodes had to drop before they could be sent


@dataclass(slots=True)
class _Host:
    """
    What is known of one node's time within the period.
    """

    seconds: float = 0.0  # looked at
    measured: bool = False
    hourly: bool = False  # capacity knows of it
    lost: float = 0.0  # down or drained, and not looked at: nothing was there to see
    first: str | None = None
    last: str | None = None

    def add(self, row: Row) -> None:
        self.measured = self.measured or row["seconds"] is not None
        self.hourly = self.hourly or "up" in row
        seconds = float(row["seconds"] or 0)
        out = float(row.get("down") or 0) + float(row.get("drained") or 0)
        self.lost += max(0.0, out - max(0.0, seconds - float(row.get("up") or 0)))
        self.seconds += seconds
        if seconds or "up" not in row:  # an hour nobody heard of the node is no look at it
            self.last = max(str(row["last"]), self.last or "")
        if self.last or row.get("up"):  # up by the scheduler and never heard: not covered
            self.first = min(str(row["first"]), self.first or "~")

    def share(self, length: float) -> float | None:
        whole = length - self.lost
        return min(1.0, self.seconds / whole) if whole > 0 else None


def coverage(question: Question, period: Period, store: Store, now: datetime) -> Coverage:
    """
    The seconds that nodes were looked at, of the seconds they had: from hourly capacity as far as
    it is complete, from the nodes' own documents after it.

    Asked in full whoever asks: how much was looked at is nobody's secret.
    """
    hosts: dict[tuple[str, str], _Host] = {}
    for plan in _plans(question, period, store):
        for row in store.ask(plan, EVERYTHING):
            if row["first"] and row["last"]:
                key = (str(row["cluster"]), str(row["host.name"]))
                hosts.setdefault(key, _Host()).add(row)
    heard = {key: host for key, host in hosts.items() if host.first is not None}
    if not heard:
        return Coverage(newest=_newest_sample(question, period, store))
    newest = max((host.last for host in heard.values() if host.last), default=None)
    if newest is None:
        return Coverage(hosts=len(heard))
    newest = _to_the_moment(newest, question, store)
    dropped = _dropped(question, period, store)
    end = min(period.end or now, now, max(parse_time(newest), now - timedelta(hours=1)))
    begins = _begins(heard, period.start, store)
    if min(begins.values()) >= end or not any(host.measured for host in heard.values()):
        return Coverage(None, newest, len(heard), dropped=dropped)
    several = len({cluster for cluster, _ in heard}) > 1
    ruled = {cluster for (cluster, _), host in heard.items() if host.hourly}
    shares = {
        f"{cluster}/{name}" if several else name: share
        for (cluster, name), host in heard.items()
        if (host.hourly or cluster not in ruled)  # a login node has no hours, only its last ones
        and (share := host.share((end - begins[cluster, name]).total_seconds())) is not None
    }
    silent = sorted((share, host) for host, share in shares.items() if share < SILENT)
    return Coverage(
        sum(shares.values()) / len(shares) if shares else None,
        newest,
        len(heard),
        tuple((host, share) for share, host in silent),
        dropped,
    )


def _begins(
    heard: Mapping[_Key, _Host], start: datetime | None, store: Store
) -> dict[_Key, datetime]:
    """
    Since when each node is to be looked at: from the period's start, or from its own beginning if
    nothing was ever heard of it before.
    """
    firsts = {key: parse_time(str(host.first)) for key, host in heard.items()}
    if start is None:
        return firsts
    late = {key for key, first in firsts.items() if first >= start + LATE}
    if late:
        names = Condition("host.name", Op.IN, tuple(sorted({name for _, name in late})))
        until = capacity_until(store)
        plans = []
        if until is not None:
            plans.append(Plan("capacity", (ANY,), BY, (names,), end=min(until, start)))
        if until is None or until < start:
            plans.append(Plan("node", (ANY,), BY, (names,), until, start))
        for plan in plans:
            rows = store.ask(plan, EVERYTHING)
            late -= {(str(row["cluster"]), str(row["host.name"])) for row in rows}
    return {key: firsts[key] if key in late else start for key in heard}


def _plans(question: Question, period: Period, store: Store) -> Iterator[Plan]:
    until = capacity_until(store)
    first = None if period.start is None else next_hour(period.start)
    last = until if until is None or period.end is None else min(until, hour_of(period.end))
    where = (*NODES, *_where(question, store))
    if last is None or (first is not None and first >= last):
        yield Plan("node", SAMPLED, BY, where, period.start, period.end)
        return
    alone = Condition("gpu.model", Op.MISSING)
    yield Plan("capacity", HOURLY, BY, (alone, *_where(question, store)), first, last)
    if first != period.start:
        yield Plan("node", SAMPLED, BY, where, period.start, first)
    if last != period.end:
        yield Plan("node", SAMPLED, BY, where, last, period.end)


def _where(question: Question, store: Store) -> list[Condition]:
    """
    Only filters on which nodes are meant; whose processes are meant does not change who looked.
    """
    found: list[Condition] = []
    for known in question.where:
        if dimension(known.dimension).name in ("cluster", "host"):
            found += conditions_of(known, Plan("node", ()), store, EVERYTHING)
    return found


def _dropped(question: Question, period: Period, store: Store) -> int:
    lost = Aggregate("n", Function.SUM, "shipper.dropped_by_bound")
    where = tuple(_where(question, store))
    (row,) = store.ask(Plan("node", (lost,), (), where, period.start, period.end), EVERYTHING)
    return int(row["n"] or 0)


def _to_the_moment(newest: str, question: Question, store: Store) -> str:
    """
    When NEWEST is the hour of a capacity, its last sample; its end where samples are gone.
    """
    hour = parse_time(newest)
    if hour != hour_of(hour):
        return newest
    last = Aggregate("last", Function.MAX, "@timestamp")
    where = (*NODES, *_where(question, store))
    (row,) = store.ask(Plan("node", (last,), (), where, hour, hour + HOUR), EVERYTHING)
    return str(row["last"] or format_time(hour + HOUR - timedelta(seconds=1)))


def _newest_sample(question: Question, period: Period, store: Store) -> str | None:
    last = Aggregate("last", Function.MAX, "@timestamp")
    where = tuple(_where(question, store))
    (row,) = store.ask(Plan("process", (last,), (), where, period.start, period.end), EVERYTHING)
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
    if not any(seconds.values()):
        return ["no capacity of nodes is known here: `leadline chores` adds it up hour by hour"]
    if not seconds["unknown"]:
        return []
    share = 100 * seconds["unknown"] / sum(seconds.values())
    return [f"of {share:.1f} % of the node time nobody knows whether nodes were up"]


def unclassed(
    store: Store, start: datetime | None, end: datetime | None, zone: ZoneInfo
) -> list[str]:
    """
    A note where hourly usage is of a version that did not keep how memory is distributed.
    """
    last = Aggregate("last", Function.MAX, "@timestamp")
    (row,) = store.ask(Plan("usage", (last,), (), UNCLASSED, start, end), EVERYTHING)
    if row["last"] is None:
        return []
    day = parse_time(str(row["last"])).astimezone(zone).date()
    return [f"how memory is distributed was not kept until {day}"]


def not_kept(
    leaned_on: Mapping[str, datetime | None], period: Period, store: Store
) -> dict[str, str]:
    """
    By dataset that was leaned on, with the oldest of it: the day before which nothing of it is
    kept, where the period begins before that day. Raw samples go first; hourly usage goes back
    further.
    """
    found: dict[str, str] = {}
    for name, oldest in leaned_on.items():
        if oldest is None:
            continue
        if period.start is None:
            usage = oldest_of(store, "usage") if name == "process" else None
            if usage is None or hour_of(oldest) <= usage:
                continue
        found |= _late(period, name, oldest)
    return found


def _late(period: Period, name: str, oldest: datetime) -> dict[str, str]:
    day = oldest.astimezone(period.zone).date()
    begins = None if period.start is None else period.start.astimezone(period.zone).date()
    return {name: day.isoformat()} if begins is None or begins < day else {}


def oldest_of(store: Store, dataset: str) -> datetime | None:
    first = Aggregate("first", Function.MIN, "@timestamp")
    (row,) = store.ask(Plan(dataset, (first,)), EVERYTHING)
    return None if row["first"] is None else parse_time(str(row["first"]))


def lost(kept_from: Mapping[str, str], rejected: int | None, known: Coverage) -> list[str]:
    """
    What people are told of what is gone, and of what never came into the store.
    """
    notes = [f"{TITLES.get(name, name)} not kept before {day}" for name, day in kept_from.items()]
    if rejected:
        what = f"rejected of these days: {counted(rejected, 'document')}"
        notes.append(f"{what}: `leadline deadletters` tells why")
    if known.dropped:
        what = counted(known.dropped, "document")
        notes.append(f"dropped on nodes that could not send: {what}")
    return notes
