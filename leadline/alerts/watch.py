"""
What each kind of rule sees in the store now.

A sighting says of one object that it is past the rule's condition, or that it is not. Of an object
without a sighting nothing is known and its alert stays as it was, unless the look was complete.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from leadline.alerts.rules import Rule
from leadline.errors import StoreError
from leadline.formats.nodestate import idle_or_drained, written
from leadline.formats.times import parse_time
from leadline.query import ask
from leadline.reports.finding import BY_HOUR, COUNT, FIRST, LAST, Case, amount, greatest
from leadline.reports.finding import groups as by
from leadline.reports.findings import findings
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Condition, Function, Op, Row
from leadline.store.scope import EVERYTHING

HOUR = 3600.0
FRESH = timedelta(hours=1)
WEEK = timedelta(days=7)
STATES = timedelta(days=2)  # full sets of states come daily


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    cluster: str
    object: str
    on: bool
    value: float | None = None
    words: str = ""
    user: str | None = None
    hours: float | None = None
    share: float | None = None  # of 1, unused


@dataclass(frozen=True, slots=True)
class Look:
    sightings: tuple[Sighting, ...]
    complete: bool = False  # what is not among them is over


def look(rule: Rule, store: Store, now: datetime) -> Look:
    return WATCHES[rule.watch](rule, store, now)


def _case(rule: Rule, store: Store, now: datetime, span: timedelta | None = None) -> Case:
    where = tuple(Condition(n, Op.IN, (v,)) for n, v in (rule.where or {}).items())
    return Case(store, EVERYTHING, now - (span or timedelta(seconds=rule.span)), now, now, where)


def _samples(rule: Rule, store: Store, now: datetime) -> Look:
    past = Aggregate("past", Function.COUNT, where=(rule.past,))
    wanted = [COUNT, past]
    if rule.numeric:
        least = rule.past.op is Op.BELOW
        worst = Function.MIN if least else Function.MAX
        wanted.append(Aggregate("worst", worst, rule.field))
    has = (Condition(rule.field, Op.EXISTS),)
    rows = _case(rule, store, now).ask(
        rule.dataset, by("cluster", *rule.objects), *wanted, where=has
    )
    found = []
    for row in rows:
        count, hits = amount(row, "n"), amount(row, "past")
        if 0 < hits < count:
            continue  # neither all nor none: it stays as it was
        value = amount(row, "worst") if rule.numeric else None
        found.append(
            Sighting(
                cluster=str(row["cluster"]), object=_object(rule, row), on=hits > 0, value=value
            )
        )
    return Look(tuple(found))


def _object(rule: Rule, row: Row) -> str:
    return " ".join(str(row[name]) for name in rule.objects if row[name] is not None)


def _measure(rule: Rule, store: Store, now: datetime) -> Look:
    """
    Over where it is not past its condition, or where there is nothing of it any more.
    """
    answer = ask(rule.question, store, EVERYTHING, now, zone=ZoneInfo("UTC"))
    (name,), (_, *dimensions) = answer.question.measures, answer.question.by
    found = []
    for row in answer.rows:
        value = row[name]
        if not isinstance(value, int | float):
            continue  # not measured is not 0
        names = [answer.label(one, row[one]) for one in dimensions]
        user = str(row["user"]) if row.get("user") is not None else None
        found.append(
            Sighting(
                cluster=str(row["cluster"]),
                object=" ".join(names) or name,
                on=rule.passes(float(value)),
                value=float(value),
                user=user,
            )
        )
    return Look(tuple(found), complete=_heard(rule, store, now))


def _heard(rule: Rule, store: Store, now: datetime) -> bool:
    """
    Whether samples come in at all: from silence nobody may conclude that all is well.
    """
    cluster = (rule.where or {}).get("cluster")
    where = (Condition("cluster", Op.IN, (cluster,)),) if cluster else ()
    case = Case(store, EVERYTHING, now - FRESH, now, now, where)
    (row,) = case.ask("node", (), COUNT, FIRST)
    return bool(row["n"])


def _filling(rule: Rule, store: Store, now: datetime) -> Look:
    """
    The line through the first and the last hour, drawn on until nothing is available.
    """
    rows = _case(rule, store, now).ask(
        "filesystem",
        (*by("cluster", "host.name", "filesystem.mount"), BY_HOUR),
        greatest("used", "filesystem.used.bytes"),
        Aggregate("left", Function.MIN, "filesystem.available.bytes"),
        LAST,
    )
    mounts: dict[tuple[str, str], list[tuple[datetime, float, float]]] = {}
    for row in rows:
        if row["used"] is not None and row["left"] is not None:
            key = str(row["cluster"]), f"{row['host.name']} {row['filesystem.mount']}"
            point = parse_time(str(row["last"])), amount(row, "used"), amount(row, "left")
            mounts.setdefault(key, []).append(point)
    found = []
    for (cluster, name), points in mounts.items():
        (begin, low, _), (end, high, left) = min(points), max(points)
        hours = (end - begin).total_seconds() / HOUR
        if hours < rule.span / HOUR / 2:
            continue  # too short a line to draw on
        until = left / ((high - low) / hours) if high > low else None
        on = until is not None and until < rule.hours
        found.append(Sighting(cluster=cluster, object=name, on=on, value=until))
    return Look(tuple(found))


def _silent(rule: Rule, store: Store, now: datetime) -> Look:
    case = _case(rule, store, now, WEEK)
    found = []
    for row in case.ask(
        "node", by("cluster", "host.name"), greatest("interval", "interval.seconds"), LAST
    ):
        quiet = (now - parse_time(str(row["last"]))).total_seconds()
        on = quiet > max(rule.span, 3 * amount(row, "interval"))
        cluster, host = str(row["cluster"]), str(row["host.name"])
        found.append(Sighting(cluster=cluster, object=host, on=on, value=quiet / 60))
    return Look(tuple(found))


def _node_state(rule: Rule, store: Store, now: datetime) -> Look:
    """
    By the latest state of each node; a node taken out on purpose (drained) is no alert.
    """
    latest: dict[tuple[str, str], tuple[bool, str]] = {}
    for batch in store.scan("node_state", EVERYTHING, start=now - STATES, end=now):
        for state in batch:
            flags = state.get("state.flags") or []
            assert isinstance(flags, list)
            name = str(state.get("state.name", ""))
            reason = f" ({state['state.reason']})" if state.get("state.reason") else ""
            down = idle_or_drained(name, flags) == "down"
            key = str(state["cluster"]), str(state["host.name"])
            latest[key] = down, f"{written(name, flags)}{reason}"
    return Look(
        tuple(
            Sighting(cluster=cluster, object=host, on=down, words=words)
            for (cluster, host), (down, words) in latest.items()
        )
    )


def _store(rule: Rule, store: Store, now: datetime) -> Look:
    try:
        health = store.health()
        ok, words = health.ok, "; ".join(health.problems) or "not well"
    except (StoreError, OSError) as error:
        ok, words = False, str(error).splitlines()[0]
    return Look((Sighting(cluster="", object="store", on=not ok, words=words),))


def _finding(rule: Rule, store: Store, now: datetime) -> Look:
    case = _case(rule, store, now)
    found = tuple(
        Sighting(
            cluster=one.cluster,
            object=one.object,
            on=True,
            words=one.evidence,
            user=one.user,
            hours=one.hours,
            share=one.share,
        )
        for one in findings(case, (rule.finding,))
    )
    return Look(found, complete=_heard(rule, store, now))


WATCHES: dict[str, Callable[[Rule, Store, datetime], Look]] = {
    "samples": _samples,
    "measure": _measure,
    "filling": _filling,
    "silent": _silent,
    "node state": _node_state,
    "store": _store,
    "finding": _finding,
}
