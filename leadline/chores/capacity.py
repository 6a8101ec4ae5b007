"""
Hourly capacity: what each node and its cards could have done, which utilisation divides by.

From the scheduler's states where it is asked; elsewhere from the nodes' own samples and from the
inventory in the settings. Hours are re-made whole, so a run may be repeated; what an earlier run
wrote and this one does not is made void.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from leadline.chores.rollup import last_begun
from leadline.chores.touched import COUNT, spans_to_make
from leadline.formats import Document
from leadline.formats.gres import model as model_name
from leadline.formats.nodestate import REMOVED
from leadline.formats.times import format_time, parse_time
from leadline.query.rollups import HOUR
from leadline.reports.inventory import Fitted, Inventory, together, told_by
from leadline.reports.nodes import REMEMBERED, Fleet, Host, fleet
from leadline.reports.timeline import Span, by_class
from leadline.store.contract import Store, in_batches
from leadline.store.plan import Aggregate, Bucket, Condition, Function, Group, Op, Plan, Row
from leadline.store.scope import EVERYTHING

NAME = "capacity"
CLOSED = timedelta(minutes=20)  # an hour is closed so long after its end
BATCH = 5000

Zone = Callable[[str], ZoneInfo]
Cell = tuple[str, str, str]  # cluster, host, hour
BY = (Group("cluster"), Group("host.name"), Group("@timestamp", Bucket.HOUR))
KEY = ("@timestamp", "cluster", "host.name", "gpu.model")


def _watched(name: str) -> Aggregate:
    """
    Seconds of samples that tell NAME: one that lacks it does not say that nothing was used.
    """
    told = (Condition(name, Op.EXISTS),)
    return Aggregate(f"{name}.watched", Function.SUM, "interval.seconds", where=told)


SAMPLED = (
    Aggregate("core_seconds", Function.SUM, "core_seconds"),
    _watched("core_seconds"),
    Aggregate("interval.seconds", Function.SUM, "interval.seconds"),
    Aggregate("node.cores", Function.MAX, "node.cores"),
    Aggregate("node.type", Function.MAX, "node.type"),
    Aggregate("memory.total.bytes", Function.MAX, "memory.total.bytes"),
    Aggregate("memory.used.bytes", Function.SUM, "memory.used.bytes"),
    Aggregate("memory.looks", Function.COUNT, "memory.used.bytes"),
)
CARDS = (
    Aggregate("gpu_seconds", Function.SUM, "gpu_seconds"),
    _watched("gpu_seconds"),
    Aggregate("energy.joules", Function.SUM, "energy.joules"),
    Aggregate("gpu.total", Function.DISTINCT, "gpu.uuid"),
)


def keep_capacity(
    store: Store, now: datetime, zone: Zone, inventory: Inventory | None = None
) -> tuple[int, int]:
    """
    Hours brought up to date and documents written, up to the last closed hour.
    """
    end = (now - CLOSED).astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    version = int(now.timestamp() * 1000)
    hours = written = 0
    for begin, until in spans_to_make(store, last_begun(store, NAME), end):
        made = list(documents(store, begin, until, zone, inventory or {}))
        made += _void(store, begin, until, made)
        versioned = ({**document, "record.version": version} for document in made)
        for batch in in_batches(versioned, BATCH):
            outcome = store.write(batch, "replace")
            if outcome.kept or outcome.rejected:
                reason = outcome.reason or outcome.rejected[0][1]
                raise RuntimeError(f"capacity of {begin:%Y-%m-%d}: {reason}")
            written += outcome.accepted
        hours += round((until - begin) / HOUR)
    return hours, written


def _void(
    store: Store, begin: datetime, until: datetime, made: Iterable[Document]
) -> list[Document]:
    """
    Documents of an earlier run that are not made any more, without their figures.
    """
    keys = {tuple(document.get(name) for name in KEY) for document in made}
    local = ("local.day", "local.hour", "local.weekday")
    batches = store.scan(
        "capacity", EVERYTHING, start=begin, end=until, fields=("dataset", *KEY, *local)
    )
    nothing = dict.fromkeys((f"seconds.{n}" for n in ("up", "down", "drained", "unknown")), 0.0)
    return [
        {**known, "dataset": "capacity", **nothing, "covered.seconds": 0.0}
        for batch in batches
        for known in batch
        if tuple(known.get(name) for name in KEY) not in keys
    ]


def documents(
    store: Store, start: datetime, end: datetime, zone: Zone, inventory: Inventory
) -> Iterator[Document]:
    """
    The capacity of every hour from START to END, both whole hours.
    """
    found = fleet(store, EVERYTHING, start, end)
    sampled = _cells(store, Plan("node", SAMPLED, BY, (), start, end))
    cards: dict[Cell, list[Row]] = {}
    for row in store.ask(Plan("gpu", CARDS, (*BY, Group("gpu.model")), (), start, end), EVERYTHING):
        cards.setdefault(_cell(row), []).append(row)
    hours = [start + HOUR * n for n in range(round((end - start) / HOUR))]
    scheduled = {host: _Told(found, host) for host in found.changes}
    ruled = _ruled(store, hours)
    for host in sorted({*scheduled, *((c, h) for c, h, _ in sampled), *inventory}):
        for hour in hours:
            cell = (*host, format_time(hour))
            own, listed = sampled.get(cell), inventory.get(host)
            by_rule = (host[0], hour) in ruled  # elsewhere a node's samples tell that it is there
            told = scheduled.get(host) if by_rule else None
            state = told.at(hour + HOUR) if told is not None else None
            if state is None and (by_rule or own is None) and listed is None:
                continue
            local = hour.astimezone(zone(host[0]))
            common: Document = {
                "dataset": "capacity",
                "@timestamp": cell[2],
                "cluster": host[0],
                "host.name": host[1],
                "local.day": local.date().isoformat(),
                "local.hour": local.hour,
                "local.weekday": local.isoweekday(),
                **_times(told.timeline if told is not None else None, own, hour),
            }
            has = together(told_by(state) if state else None, _told_by_row(own), listed=listed)
            for made in _of_hour(has, own, cards.get(cell, [])):
                yield _with_capacity({**common, **made})


def _ruled(store: Store, hours: list[datetime]) -> set[tuple[str, datetime]]:
    """
    Clusters of which a scheduler told something in an hour or lately before it.
    """
    by = (Group("cluster"), Group("@timestamp", Bucket.HOUR))
    plan = Plan("node_state", (COUNT,), by, (), hours[0] - REMEMBERED, hours[-1] + HOUR)
    told: dict[str, list[datetime]] = {}
    for row in store.ask(plan, EVERYTHING):
        told.setdefault(str(row["cluster"]), []).append(parse_time(str(row["@timestamp"])))
    return {
        (cluster, hour)
        for cluster, times in told.items()
        for hour in hours
        if any(hour - REMEMBERED < time <= hour for time in times)
    }


class _Told:
    """
    What the scheduler told of one node, by time.
    """

    def __init__(self, found: Fleet, host: Host) -> None:
        self.timeline = found.timeline(host)
        self._documents = found.changes[host]
        self._times = [parse_time(str(d["@timestamp"])) for d in self._documents]

    def at(self, end: datetime) -> Document | None:
        """
        The last before END; None where the node was not there yet, or no more, or is forgotten.
        """
        place = bisect_left(self._times, end)
        if place == 0:
            return None
        last = self._documents[place - 1]
        if last["state.name"] != REMOVED:
            return last if self._times[place - 1] + REMEMBERED >= end else None
        before = self._documents[place - 2] if place > 1 else None
        return before if self._times[place - 1] > end - HOUR else None


def _times(timeline: list[Span] | None, own: Row | None, hour: datetime) -> Document:
    covered = min(3600.0, _number(own, "interval.seconds") or 0.0)
    if timeline is None:
        seconds = {"up": covered, "down": 0.0, "drained": 0.0, "unknown": 3600.0 - covered}
    else:
        begin = hour.timestamp()
        seconds = {str(n): v for n, v in by_class(_clipped(timeline, begin, begin + 3600)).items()}
    if not any(value for name, value in seconds.items() if name != "unknown"):
        seconds = {"unknown": seconds["unknown"]}  # not known to be up is not known to be down
    return {
        **{f"seconds.{name}": round(value, 3) for name, value in seconds.items()},
        "covered.seconds": round(covered, 3),
    }


def _clipped(timeline: Iterable[Span], start: float, end: float) -> Iterator[Span]:
    for span in timeline:
        first, last = max(span.start, start), min(span.end, end)
        if first < last:
            yield Span(first, last, span.state, span.time)


def _of_hour(has: Fitted, own: Row | None, cards: list[Row]) -> Iterator[Document]:
    """
    The node itself, and its cards by model.
    """
    shared = {"partitions": sorted(has.partitions) or None, "node.type": has.type}
    yield {
        **shared,
        "node.cores": has.cores,
        "memory.total.bytes": has.memory,
        "core_seconds": _number(own, "core_seconds"),
        "core_seconds_watched": _times_of(has.cores, _number(own, "core_seconds.watched")),
        "memory.used": _mean(own, "memory.used.bytes", "memory.looks"),
    }
    busy = _by_model(has.cards, cards)
    for name in sorted({*has.cards, *busy}):
        seen = busy.get(name, [])
        total = has.cards.get(name) or _sum(seen, "gpu.total")
        each = _sum(seen, "gpu_seconds.watched")
        yield {
            **shared,
            "gpu.model": name,
            "gpu.total": total,
            "gpu_seconds": _sum(seen, "gpu_seconds"),
            "gpu_seconds_watched": _times_of(total, each / total if each and total else None),
            "energy.joules": _sum(seen, "energy.joules"),
        }


def _by_model(fitted: Mapping[str, int], cards: list[Row]) -> dict[str, list[Row]]:
    """
    Measured cards under the model's name of the inventory, where it can only be that one.
    """
    found: dict[str, list[Row]] = {}
    for row in cards:
        name = str(model_name(str(row["gpu.model"])) if row["gpu.model"] else "unknown")
        if name not in fitted and len(fitted) == 1:
            name = next(iter(fitted))  # the driver and the scheduler call them differently
        found.setdefault(name, []).append(row)
    return found


def _with_capacity(document: Document) -> Document:
    """
    Counts times seconds: what could be used, what was not there to use.
    """
    covered = float(str(document["covered.seconds"]))
    if "seconds.up" in document:
        up, *outs = (float(str(document[f"seconds.{n}"])) for n in ("up", "down", "drained"))
        lost = max(0.0, sum(outs) - max(0.0, covered - up))  # sampled while it works and drains
        for count, name in (("node.cores", "core_seconds"), ("gpu.total", "gpu_seconds")):
            if document.get(count) is not None:
                fitted = float(str(document[count]))
                document[f"{name}_capacity"] = round(fitted * up, 3)
                document[f"{name}_lost"] = round(fitted * lost, 3)
    used, fitted_bytes = document.pop("memory.used", None), document.get("memory.total.bytes")
    if used is not None and fitted_bytes is not None:
        document["memory.byte_seconds"] = float(str(used)) * covered
        document["memory.byte_seconds_watched"] = float(str(fitted_bytes)) * covered
    return {name: value for name, value in document.items() if value is not None}


def _times_of(count: float | None, seconds: float | None) -> float | None:
    """
    COUNT cores or cards over the SECONDS of an hour that samples tell of.
    """
    return None if count is None or seconds is None else round(count * min(3600.0, seconds), 3)


def _mean(row: Row | None, total: str, count: str) -> float | None:
    looks = _number(row, count)
    return (_number(row, total) or 0.0) / looks if looks else None


def _told_by_row(own: Row | None) -> Fitted | None:
    return None if own is None else told_by(dict(own))


def _cells(store: Store, plan: Plan) -> dict[Cell, Row]:
    return {_cell(row): row for row in store.ask(plan, EVERYTHING)}


def _cell(row: Row) -> Cell:
    return str(row["cluster"]), str(row["host.name"]), str(row["@timestamp"])


def _sum(rows: Iterable[Row], name: str) -> float | None:
    values = [value for row in rows if (value := _number(row, name)) is not None]
    return sum(values) if values else None


def _number(row: Row | None, name: str) -> float | None:
    value = row.get(name) if row is not None else None
    return float(str(value)) if value is not None else None
