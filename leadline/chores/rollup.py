"""
Hourly usage from raw samples, re-made whole for every hour that took in something new.

The dirty mark of an hour is in its documents: `event.ingested`. A run looks for (cluster, host,
hour) with samples taken in since the run before it began, reads all raw of those and writes their
documents anew; what is there from before and not made again is made void. Nothing is ever added
to a figure, so a run may be repeated, interrupted or doubled. An hour whose raw samples have gone
stays as it is: what comes in for it later has expired.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from leadline.chores.context import known_now, with_runs
from leadline.formats import DATASETS, Document
from leadline.formats.times import format_time, parse_time
from leadline.query.classes import CLASS, COUNT, told_class
from leadline.query.rollups import HOUR, LATE, OBJECT, RULE, holds, month_of
from leadline.store.contract import Store, in_batches
from leadline.store.plan import Aggregate, Bucket, Condition, Function, Group, Op, Plan, Row
from leadline.store.scope import EVERYTHING

Unit = tuple[str, str, str]  # cluster, host, hour
Zone = Callable[[str], ZoneInfo]

KEY = tuple(name for name in DATASETS["usage"].key if name != "@timestamp")
TIME = Group("@timestamp", Bucket.HOUR)
BATCH = 5000

ATTRIBUTES = (
    *("user.group", "program.version", "program.level1", "program.level2", "program.level3"),
    *("job.local_id", "project", "partition", "rules.version"),
)
SUMS = (
    *("core_seconds", "core_seconds_user", "core_seconds_system", "gpu_seconds"),
    *("gpu_held_seconds", "io.read.bytes", "io.write.bytes"),
)
AGGREGATES = (
    *(Aggregate(name, Function.MAX, name) for name in ATTRIBUTES),
    *(Aggregate(name, Function.SUM, name) for name in SUMS),
    Aggregate("sample.count", Function.COUNT),
    Aggregate("merged", Function.SUM, "process.count"),
    Aggregate("alone", Function.COUNT, where=(Condition("process.count", Op.MISSING),)),
    Aggregate("memory.rss.max", Function.MAX, "memory.rss.bytes"),
    Aggregate("memory.rss.sum", Function.SUM, "memory.rss.bytes"),
    Aggregate("memory.rss.count", Function.COUNT, "memory.rss.bytes"),
    Aggregate("gpu.memory.max", Function.MAX, "gpu.memory.bytes"),
)
WHOLE = ("sample.count", "memory.rss.count", "io.read.bytes", "io.write.bytes")
BYTES = ("memory.rss.max", "memory.rss.sum", "gpu.memory.max")


@dataclass(frozen=True, slots=True)
class Made:
    units: int
    written: int
    void: int
    expired: int  # hours that took in something after their raw samples had gone


def roll_up(store: Store, now: datetime, zone: Zone) -> Made:
    """
    Bring usage up to date with everything taken in until now.
    """
    units = {**dict.fromkeys(known_now(store, now), 0), **dirty(store, last_begun(store))}
    late = _late(store, units, now)
    made = [_day(store, day, members, late, now, zone) for day, members in _by_day(units)]
    return Made(
        len(units),
        sum(m.written for m in made),
        sum(m.void for m in made),
        sum(m.expired for m in made),
    )


def last_begun(store: Store, chore: str = OBJECT) -> datetime | None:
    """
    When the last complete run of a chore began.
    """
    where = (
        Condition("rule.name", Op.IN, (RULE,)),
        Condition("event.object", Op.IN, (chore,)),
        Condition("event.end", Op.EXISTS),
    )
    begun = Aggregate("begun", Function.MAX, "event.start")
    (row,) = store.ask(Plan("event", (begun,), where=where), EVERYTHING)
    return None if row["begun"] is None else parse_time(str(row["begun"]))


def dirty(store: Store, since: datetime | None) -> dict[Unit, int]:
    """
    Hours of nodes that took in samples after SINCE, or a little before it, and how many.
    """
    where: tuple[Condition, ...] = ()
    if since is not None:
        where = (Condition("event.ingested", Op.AT_LEAST, (format_time(since - LATE),)),)
    by = (Group("cluster"), Group("host.name"), TIME)
    rows = store.ask(Plan("process", (Aggregate("n", Function.COUNT),), by, where), EVERYTHING)
    return {_row_unit(row): int(row["n"] or 0) for row in rows}


def _late(store: Store, units: Mapping[Unit, int], now: datetime) -> dict[Unit, int]:
    """
    Those of months, before the running one, whose raw samples are not all there any more.
    """
    months = {month_of(parse_time(hour)) for _, _, hour in units} - {month_of(now)}
    partly = {
        format_time(month)[:7]
        for month in months
        if not holds(store, month, month_of(month + timedelta(days=32)))
    }
    return {unit: count for unit, count in units.items() if unit[2][:7] in partly}


def _by_day(units: Iterable[Unit]) -> list[tuple[date, set[Unit]]]:
    days: dict[date, set[Unit]] = {}
    for unit in units:
        days.setdefault(parse_time(unit[2]).date(), set()).add(unit)
    return sorted(days.items())


def _day(
    store: Store,
    day: date,
    units: set[Unit],
    late: Mapping[Unit, int],
    now: datetime,
    zone: Zone,
) -> Made:
    hours = sorted(parse_time(hour) for _, _, hour in units)
    start, end = hours[0], hours[-1] + HOUR
    by = (*(Group(name) for name in KEY), TIME)
    hosts = tuple(sorted({host for _, host, _ in units}))
    where = (Condition("host.name", Op.IN, hosts),) if len(hosts) <= 500 else ()
    plan = Plan("process", AGGREGATES, by, where, start, end)
    sets, classes = _sets(store, plan), _classes(store, plan)
    version = int(now.timestamp() * 1000)
    rows = store.ask(plan, EVERYTHING)
    told = zip(rows, with_runs(store, rows, start, end), strict=True)
    fresh = _distinct(
        _document(row, sets, version, zone) | classes.get(_groups(plan, raw), {})
        for raw, row in told
        if _row_unit(row) in units
    )
    existing = [known for known in _existing(store, plan) if _unit(known) in units]
    gone = _gone(fresh, existing, late)
    documents = [document for document in fresh if _unit(document) not in gone]
    made = {_key(document) for document in documents}
    stale = [
        {**known, "record.version": version, "sample.count": 0}
        for known in existing
        if _unit(known) not in gone and _key(known) not in made
    ]
    written = 0
    for batch in in_batches([*documents, *stale], BATCH):
        outcome = store.write(batch, "replace")
        written += outcome.accepted
        if outcome.kept or outcome.rejected:
            reason = outcome.reason or outcome.rejected[0][1]
            raise RuntimeError(f"usage of {day}: {reason}")
    return Made(len(units), written, len(stale), len(gone))


def _gone(
    fresh: Iterable[Document], existing: Iterable[Document], late: Mapping[Unit, int]
) -> set[Unit]:
    """
    Units of which raw holds fewer samples, without what came late, than were counted before.
    """
    held = {_unit(document) for document in existing}
    samples = Counter({unit: -count for unit, count in late.items() if unit in held})
    for sign, documents in ((1, fresh), (-1, existing)):
        for document in documents:
            samples[_unit(document)] += sign * int(str(document["sample.count"]))
    return {unit for unit, count in samples.items() if count < 0}


def _distinct(documents: Iterable[Document]) -> list[Document]:
    """
    Documents with keys of their own. Where an hour's samples are of one run, and some came before
    the scheduler's word of it, the shape is made to tell them apart.
    """
    found: dict[tuple[object, ...], Document] = {}
    ordered = sorted(documents, key=lambda d: [str(d.get(name)) for name in KEY])
    for document in ordered:
        shape, count = str(document.get("command.shape", document.get("process.name", "?"))), 1
        while _key(document) in found:
            count += 1
            document = {**document, "command.shape": f"{shape} ({count})"}
        found[_key(document)] = document
    return list(found.values())


def _existing(store: Store, plan: Plan) -> list[Document]:
    local = ("local.day", "local.hour", "local.weekday")
    names = ("dataset", "@timestamp", *KEY, *local, "sample.count")
    batches = store.scan(
        "usage",
        EVERYTHING,
        where=(*plan.where, Condition("sample.count", Op.AT_LEAST, (1,))),
        start=plan.start,
        end=plan.end,
        fields=names,
    )
    return [{**known, "dataset": "usage"} for batch in batches for known in batch]


def _key(document: Document) -> tuple[object, ...]:
    return tuple(document.get(name) for name in ("@timestamp", *KEY))


def _row_unit(row: Row) -> Unit:
    return str(row["cluster"]), str(row["host.name"]), str(row[TIME.field])


def _unit(document: Document) -> Unit:
    return str(document["cluster"]), str(document["host.name"]), str(document["@timestamp"])


def _sets(store: Store, plan: Plan) -> dict[tuple[str, object], list[str]]:
    """
    Tags by rule and metagroups by user: sets go with what gave them.
    """
    found: dict[tuple[str, object], set[str]] = {}
    pairs = (("program.rule", "program.tags"), ("user.name", "user.metagroup"))
    for owner, name in pairs:
        counted = (Aggregate("n", Function.COUNT),)
        by = (Group(owner), Group(name))
        asked = Plan("process", counted, by, plan.where, plan.start, plan.end)
        for row in store.ask(asked, EVERYTHING):
            if row[name] is not None:
                found.setdefault((name, row[owner]), set()).add(str(row[name]))
    return {key: sorted(values) for key, values in found.items()}


def _classes(store: Store, plan: Plan) -> dict[tuple[object, ...], Document]:
    """
    How the memory of the samples of each row is distributed.
    """
    found: dict[tuple[object, ...], list[str]] = {}
    asked = replace(plan, aggregates=(COUNT,), by=(*plan.by, CLASS))
    for row in store.ask(asked, EVERYTHING):
        if (number := row[CLASS.field]) is not None:
            told = told_class(int(number), int(row["n"] or 0))
            found.setdefault(_groups(plan, row), []).append(told)
    return {key: {"memory.classes": sorted(several)} for key, several in found.items()}


def _groups(plan: Plan, row: Row) -> tuple[object, ...]:
    return tuple(row[group.field] for group in plan.by)


def _document(
    row: Row, sets: dict[tuple[str, object], list[str]], version: int, zone: Zone
) -> Document:
    hour = parse_time(str(row[TIME.field]))
    local = hour.astimezone(zone(str(row["cluster"])))
    values: dict[str, object] = {
        "dataset": "usage",
        **{name: row[name] for name in (*KEY, *ATTRIBUTES, *SUMS)},
        "@timestamp": format_time(hour),
        "record.version": version,
        "local.day": local.date().isoformat(),
        "local.hour": local.hour,
        "local.weekday": local.isoweekday(),
        "program.tags": sets.get(("program.tags", row["program.rule"])),
        "user.metagroup": sets.get(("user.metagroup", row["user.name"])),
        "process.count": int(row["merged"] or 0) + int(row["alone"] or 0),
    }
    if row["user.id"] is None and row["user.name"] is not None:
        values["user.id"] = f"name:{row['user.name']}"  # a source that knows names only
    for name in (*WHOLE, *BYTES):
        value = row[name]
        values[name] = None if value is None else int(value)
    return {name: value for name, value in values.items() if value is not None}
