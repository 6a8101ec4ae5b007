"""
Hourly capacity: what each node and its cards could have done, which utilisation divides by.

From the scheduler's states where they are asked for; elsewhere from the nodes' own samples. Hours
are re-made whole, so a run may be repeated; the last hours are, for documents that come late.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from leadline.formats import Document
from leadline.formats.gres import model as model_name
from leadline.formats.times import format_time, parse_time
from leadline.reports.nodes import Fleet, Host, fleet, partitions_of
from leadline.reports.timeline import Span, by_class
from leadline.store.contract import Store, in_batches
from leadline.store.plan import Aggregate, Bucket, Function, Group, Plan, Row
from leadline.store.scope import EVERYTHING

HOUR = timedelta(hours=1)
AGAIN = timedelta(hours=3)  # made once more, for what came late
CLOSED = timedelta(minutes=20)  # an hour is closed so long after its end
CHUNK = timedelta(days=1)
BATCH = 5000

Zone = Callable[[str], ZoneInfo]
Cell = tuple[str, str, str]  # cluster, host, hour
BY = (Group("cluster"), Group("host.name"), Group("@timestamp", Bucket.HOUR))
SAMPLED = tuple(
    Aggregate(name, function, name)
    for name, function in (
        ("core_seconds", Function.SUM),
        ("interval.seconds", Function.SUM),
        ("node.cores", Function.MAX),
        ("node.type", Function.MAX),
        ("memory.total.bytes", Function.MAX),
    )
)
CARDS = (
    Aggregate("gpu_seconds", Function.SUM, "gpu_seconds"),
    Aggregate("energy.joules", Function.SUM, "energy.joules"),
    Aggregate("gpu.total", Function.DISTINCT, "gpu.uuid"),
)


def keep_capacity(store: Store, now: datetime, zone: Zone) -> tuple[int, int]:
    """
    Hours brought up to date and documents written, up to the last closed hour.
    """
    end = (now - CLOSED).astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    begin = _begin(store)
    hours = written = 0
    while begin is not None and begin < end:
        until = min(end, begin + CHUNK)
        for batch in in_batches(documents(store, begin, until, now, zone), BATCH):
            outcome = store.write(batch, "replace")
            if outcome.kept or outcome.rejected:
                reason = outcome.reason or outcome.rejected[0][1]
                raise RuntimeError(f"capacity of {begin:%Y-%m-%d}: {reason}")
            written += outcome.accepted
        hours += round((until - begin) / HOUR)
        begin = until
    return hours, written


def _begin(store: Store) -> datetime | None:
    """
    A little before what is kept already; else where the oldest nodes are.
    """
    known = store.health().datasets
    if "capacity" in known and (newest := known["capacity"].newest):
        return parse_time(newest) - AGAIN
    oldest = [h.oldest for n, h in known.items() if n in ("node", "node_state") and h.oldest]
    if not oldest:
        return None
    return parse_time(min(oldest)).replace(minute=0, second=0, microsecond=0)


def documents(
    store: Store, start: datetime, end: datetime, now: datetime, zone: Zone
) -> Iterator[Document]:
    """
    The capacity of every hour from START to END, both whole hours.
    """
    found = fleet(store, EVERYTHING, start, end)
    sampled = _cells(store, Plan("node", SAMPLED, BY, (), start, end))
    cards: dict[Cell, list[Row]] = {}
    for row in store.ask(Plan("gpu", CARDS, (*BY, Group("gpu.model")), (), start, end), EVERYTHING):
        cards.setdefault(_cell(row), []).append(row)
    ruled = {cluster for cluster, _ in found.changes}
    hosts = {*found.changes, *((c, h) for c, h, _ in sampled if c not in ruled)}
    hours = [start + HOUR * n for n in range(round((end - start) / HOUR))]
    version = int(now.timestamp() * 1000)
    for host in sorted(hosts):
        timeline = found.timeline(host) if host in found.changes else None
        for hour in hours:
            cell = (*host, format_time(hour))
            own = sampled.get(cell)
            if timeline is None and own is None:
                continue
            local = hour.astimezone(zone(host[0]))
            common: Document = {
                "dataset": "capacity",
                "@timestamp": cell[2],
                "cluster": host[0],
                "host.name": host[1],
                "record.version": version,
                "local.day": local.date().isoformat(),
                "local.hour": local.hour,
                "local.weekday": local.isoweekday(),
                **_times(timeline, own, hour),
            }
            for made in _of_hour(found, host, own, cards.get(cell, [])):
                yield _with_capacity({**common, **made})


def _times(timeline: list[Span] | None, own: Row | None, hour: datetime) -> Document:
    covered = min(3600.0, _number(own, "interval.seconds") or 0.0)
    if timeline is None:
        seconds = {"up": covered, "down": 0.0, "drained": 0.0, "unknown": 3600.0 - covered}
    else:
        begin = hour.timestamp()
        seconds = {str(n): v for n, v in by_class(_clipped(timeline, begin, begin + 3600)).items()}
    return {
        **{f"seconds.{name}": round(value, 3) for name, value in seconds.items()},
        "covered.seconds": round(covered, 3),
    }


def _clipped(timeline: Iterable[Span], start: float, end: float) -> Iterator[Span]:
    for span in timeline:
        first, last = max(span.start, start), min(span.end, end)
        if first < last:
            yield Span(first, last, span.state, span.time)


def _of_hour(found: Fleet, host: Host, own: Row | None, cards: list[Row]) -> Iterator[Document]:
    """
    The node itself, and its cards by model.
    """
    last: Document = found.latest(host) if host in found.changes else {}
    partitions = partitions_of(last)
    shared = {
        "partition": partitions[0] if partitions else None,
        "node.type": last.get("node.type") or (own or {}).get("node.type"),
    }
    yield {
        **shared,
        "node.cores": last.get("node.cores") or _number(own, "node.cores"),
        "memory.total.bytes": last.get("memory.total.bytes") or _number(own, "memory.total.bytes"),
        "core_seconds": _number(own, "core_seconds"),
    }
    fitted = last.get("gpu.by_model")
    models = {n: c["total"] for n, c in fitted.items()} if isinstance(fitted, dict) else {}
    busy: dict[str, Row] = {}
    for row in cards:
        name = model_name(str(row["gpu.model"])) if row["gpu.model"] else "unknown"
        if name not in models and len(models) == 1:
            name = next(iter(models))  # the driver and the scheduler call them differently
        busy[str(name)] = row
    for name in sorted({*models, *busy}):
        measured = busy.get(name)
        yield {
            **shared,
            "gpu.model": name,
            "gpu.total": models.get(name) or _number(measured, "gpu.total"),
            "gpu_seconds": _number(measured, "gpu_seconds"),
            "energy.joules": _number(measured, "energy.joules"),
        }


def _with_capacity(document: Document) -> Document:
    up = float(str(document["seconds.up"]))
    for count, name in (("node.cores", "core_seconds"), ("gpu.total", "gpu_seconds")):
        if document.get(count) is not None:
            document[f"{name}_capacity"] = round(float(str(document[count])) * up, 3)
    return {name: value for name, value in document.items() if value is not None}


def _cells(store: Store, plan: Plan) -> dict[Cell, Row]:
    return {_cell(row): row for row in store.ask(plan, EVERYTHING)}


def _cell(row: Row) -> Cell:
    return str(row["cluster"]), str(row["host.name"]), str(row["@timestamp"])


def _number(row: Row | None, name: str) -> float | None:
    value = row.get(name) if row is not None else None
    return float(str(value)) if value is not None else None
