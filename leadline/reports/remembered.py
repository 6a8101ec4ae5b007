"""
Findings as the store remembers them: one event each, from when it began until it was gone.

Detectors look through a window and forget. Their findings keep the time when they were first seen,
and of a cluster from which nothing comes any more they stay: silence is no cure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from leadline.errors import StoreError
from leadline.formats import Document
from leadline.formats.times import format_time
from leadline.reports.finding import COUNT, Case, Finding, groups
from leadline.store.contract import Store
from leadline.store.plan import Condition, Op, Plan
from leadline.store.scope import EVERYTHING, Scope

KIND = "finding"
LONGEST = timedelta(days=366)  # what began longer ago is taken for new
FRESH = timedelta(hours=1)  # a cluster heard within this time is heard

Key = tuple[str, str, str]  # cluster, kind, about what


@dataclass(frozen=True, slots=True)
class Change:
    began: int
    lasting: int
    over: int


def about(one: Finding) -> str:
    return f"{one.object} / {one.user}" if one.user else one.object


def key(one: Finding) -> Key:
    return one.cluster, one.kind, about(one)


def lasting(store: Store, scope: Scope, now: datetime) -> dict[Key, Document]:
    """
    The findings that were not gone when last looked.
    """
    where = (Condition("event.kind", Op.IN, (KIND,)), Condition("event.end", Op.MISSING))
    found: dict[Key, Document] = {}
    for batch in store.scan("event", scope, where=where, start=now - LONGEST, end=now):
        for event in batch:
            name = str(event["cluster"]), str(event["rule.name"]), str(event["event.object"])
            found[name] = event
    return found


def with_memory(found: Sequence[Finding], case: Case, kinds: Sequence[str]) -> list[Finding]:
    """
    FOUND, each since it was first seen; and what lasts on clusters that are not heard now.
    """
    known = lasting(case.store, case.scope, case.now)
    if not known:
        return list(found)
    told = [_since(one, known.pop(key(one), None)) for one in found]
    silent = {name[0] for name in known} - heard(case.store, case.now)
    for condition in case.where:
        if condition.field == "cluster":
            silent &= {str(value) for value in condition.values}
    told += [
        _from(event)
        for (cluster, kind, _), event in known.items()
        if cluster in silent and (not kinds or kind in kinds)
    ]
    return told


def heard(store: Store, now: datetime) -> set[str]:
    rows = store.ask(Plan("node", (COUNT,), groups("cluster"), (), now - FRESH, now), EVERYTHING)
    return {str(row["cluster"]) for row in rows}


def remember(store: Store, found: Sequence[Finding], now: datetime) -> Change:
    """
    Write down what was FOUND now, and that what is not among it, on clusters heard, is gone.
    """
    known = lasting(store, EVERYTHING, now)
    events = {}
    for one in found:
        before = known.pop(key(one), None)
        events[key(one)] = _event(one, before, now)
    alive = heard(store, now)
    gone = [
        {**event, "event.end": format_time(now), "record.version": _version(now)}
        for (cluster, _, _), event in known.items()
        if cluster in alive
    ]
    outcome = store.write([*events.values(), *gone], "replace")
    if outcome.kept or outcome.rejected:
        raise StoreError(f"findings: {outcome.reason or outcome.rejected[0][1]}")
    began = sum(1 for event in events.values() if event["event.count"] == 1)
    return Change(began, len(events) - began, len(gone))


def _since(one: Finding, event: Mapping[str, object] | None) -> Finding:
    if event is None or (one.since is not None and one.since <= str(event["event.start"])):
        return one
    return replace(one, since=str(event["event.start"]))


def _from(event: Document) -> Finding:
    user = event.get("user.name")
    name = str(event["event.object"])
    return Finding(
        kind=str(event["rule.name"]),
        cluster=str(event["cluster"]),
        object=name.removesuffix(f" / {user}") if user else name,
        user=None if user is None else str(user),
        since=str(event["event.start"]),
        evidence=f"{event.get('message', '')} (then nothing was heard from the cluster)",
        severity="red" if event.get("event.severity") == "critical" else "note",
    )


def _event(one: Finding, before: Document | None, now: datetime) -> Document:
    """
    Under the same key as BEFORE, so that it is replaced.
    """
    since = str(before["event.start"]) if before else one.since or format_time(now)
    seen = before.get("event.count") if before else 0
    return {
        "dataset": "event",
        "@timestamp": since,
        "cluster": one.cluster,
        "rule.name": one.kind,
        "event.object": about(one),
        "event.kind": KIND,
        "event.severity": "critical" if one.severity == "red" else "warning",
        "event.start": since,
        "event.count": (seen if isinstance(seen, int) else 0) + 1,
        "message": one.evidence,
        "record.version": _version(now),
        **({"event.value": one.hours} if one.hours is not None else {}),
        **({"user.name": one.user} if one.user else {}),
    }


def _version(now: datetime) -> int:
    return int(now.timestamp() * 1000)
