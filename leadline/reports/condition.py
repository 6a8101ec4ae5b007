"""
How the gathering itself is: alerts that fire, what shippers and their collectors complain of, and
when each shipper was last heard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from leadline.formats import Document
from leadline.formats.times import parse_time
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Condition, Function, Group, Op, Plan, Row, Scalar
from leadline.store.scope import Scope

Rows = list[dict[str, Scalar | None]]
Ask = Callable[[Plan], list[Row]]

FIRING = timedelta(days=90)  # back: older ones were taken for gone
COMPLAINTS = timedelta(days=1)
MOST = 500
SHIPPERS = "shipper."  # what the rules of their notices begin with
HOST = ("cluster", "host.name", "agent.version")
HEARD = (
    Aggregate("last", Function.MAX, "@timestamp"),
    Aggregate("lag", Function.MAX, "shipper.lag.seconds"),
    Aggregate("pending", Function.MAX, "shipper.pending"),
    Aggregate("dropped", Function.SUM, "shipper.dropped_by_bound"),
    Aggregate("interval", Function.MAX, "interval.seconds"),
)


@dataclass(frozen=True, slots=True)
class Site:
    alerts: Rows  # that fire, the worst first
    notices: Rows  # of the last day, the latest of each kind
    shippers: Rows


def condition(store: Store, scope: Scope, totals: Ask, now: datetime) -> Site:
    """
    Alerts and notices as SCOPE may see them; shippers are nodes as wholes, which carry no name.
    """
    alerts: Rows = []
    notices: Rows = []
    if not scope.totals_only:
        alerts = fire(store, scope, now)
        notices = _latest(_events(store, scope, "notice", now - COMPLAINTS, now))
    plan = Plan("node", HEARD, tuple(map(Group, HOST)), start=now - COMPLAINTS, end=now)
    return Site(alerts, notices, _shippers(totals(plan), now))


def fire(store: Store, scope: Scope, now: datetime) -> Rows:
    """
    The alerts that fire, as the machine that does them has told the store.
    """
    found = [_alert(one) for one in _events(store, scope, "alert", now - FIRING, now)]
    worst = ("critical", "warning", "info")
    return sorted(found, key=lambda row: (worst.index(str(row["severity"])), str(row["since"])))


def _events(
    store: Store, scope: Scope, kind: str, start: datetime, end: datetime
) -> Iterable[Document]:
    where = [Condition("event.kind", Op.IN, (kind,))]
    if kind == "alert":
        where.append(Condition("event.end", Op.MISSING))
    else:
        where.append(Condition("rule.name", Op.PREFIX, (SHIPPERS,)))
    order = ("-@timestamp",)
    for batch in store.scan(
        "event", scope, where=where, start=start, end=end, order=order, limit=MOST
    ):
        yield from batch


def _alert(event: Document) -> dict[str, Scalar | None]:
    return {
        "severity": str(event.get("event.severity", "info")),
        "cluster": _text(event, "cluster"),
        "rule": _text(event, "rule.name"),
        "object": _text(event, "event.object"),
        "since": _text(event, "event.start"),
        "text": _text(event, "message"),
    }


def _latest(events: Iterable[Document]) -> Rows:
    """
    One row for each shipper and kind of complaint, with how often it was heard.
    """
    found: dict[tuple[object, object], dict[str, Scalar | None]] = {}
    for event in events:
        key = event.get("event.object"), event.get("rule.name")
        row = found.setdefault(
            key,
            {
                "cluster": _text(event, "cluster"),
                "host": _text(event, "event.object"),
                "about": str(event.get("rule.name", "")).removeprefix(SHIPPERS),
                "last": _text(event, "@timestamp"),
                "times": 0,
                "text": _text(event, "message"),
            },
        )
        row["times"] = int(str(row["times"])) + 1
    return list(found.values())


def _shippers(rows: list[Row], now: datetime) -> Rows:
    """
    The newest version of each host says how it is; what any of them dropped is summed.
    """
    found: dict[tuple[Scalar | None, Scalar | None], dict[str, Scalar | None]] = {}
    for row in sorted(rows, key=lambda row: str(row["last"])):
        key = row["cluster"], row["host.name"]
        before = found.get(key, {}).get("dropped") or 0
        quiet = (now - parse_time(str(row["last"]))).total_seconds()
        found[key] = {
            "cluster": row["cluster"],
            "host": row["host.name"],
            "seen": row["last"],
            "silent": quiet > max(900.0, 3 * float(row["interval"] or 0)),
            "lag": row["lag"],
            "pending": row["pending"],
            "dropped": int(before) + int(row["dropped"] or 0),
            "version": row["agent.version"],
        }
    return [found[key] for key in sorted(found, key=str)]


def _text(event: Document, name: str) -> str | None:
    value = event.get(name)
    return None if value is None else str(value)
