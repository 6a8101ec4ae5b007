"""
/metrics: what Prometheus and Grafana want to know, without anybody's name in it.

Only counts and figures of machines go out, so they are asked for with everything in view.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from flask import Response, current_app, make_response

from leadline.errors import StoreError
from leadline.formats.exposition import TYPE, Metric, Sample, exposed
from leadline.formats.runs import ENDED
from leadline.formats.times import format_time, parse_time
from leadline.reports.cards import card_rows
from leadline.reports.nodes import fleet, node_rows
from leadline.store.plan import Aggregate, Condition, Function, Group, Op, Plan, Row
from leadline.store.scope import EVERYTHING
from leadline.web.asking import desk
from leadline.web.pages.fleet import failing

HOUR = timedelta(hours=1)
DAY = timedelta(hours=26)  # a full set of states comes each day

NODE = ("cluster", "node")
CARD = (*NODE, "uuid", "model")
QUEUE = ("cluster", "partition", "state")

METRICS: dict[str, Metric] = {
    "leadline_up": Metric("1 while the store answers"),
    "leadline_build_info": Metric("1, for its label", ("version",)),
    "leadline_documents": Metric("Documents kept", ("dataset",)),
    "leadline_stored_bytes": Metric("Bytes kept", ("dataset",)),
    "leadline_newest_age_seconds": Metric("Age of the newest document", ("dataset",)),
    "leadline_node_cores": Metric("Cores of a node that sent samples within the last hour", NODE),
    "leadline_node_cores_busy": Metric("Cores busy, the mean over the last hour", NODE),
    "leadline_node_memory_bytes": Metric("Memory of a node", NODE),
    "leadline_node_memory_used_bytes": Metric("Memory used, the most within the last hour", NODE),
    "leadline_node_load": Metric("Load of a minute, the most within the last hour", NODE),
    "leadline_node_state": Metric(
        "1 for the state the scheduler tells now, base and every flag", (*NODE, "state", "reason")
    ),
    "leadline_nodes": Metric("Nodes by the state the scheduler tells", ("cluster", "state")),
    "leadline_gpus": Metric(
        "Cards by model: allocated, idle or unusable", ("cluster", "model", "state")
    ),
    "leadline_gpu_busy_ratio": Metric("Share of a card busy, the mean over the last hour", CARD),
    "leadline_gpu_memory_used_bytes": Metric("Memory of a card used, the most of an hour", CARD),
    "leadline_gpu_temperature_celsius": Metric("Temperature of a card, the most of an hour", CARD),
    "leadline_gpu_power_watts": Metric("Power of a card, the most within the last hour", CARD),
    "leadline_jobs": Metric("Jobs that live now, by the state the scheduler tells", QUEUE),
    "leadline_jobs_ended": Metric("Jobs that ended within the last hour, by how", QUEUE),
    "leadline_shipper_documents": Metric(
        "Documents of the last hour: read, sent, dropped_by_rule, dropped_by_bound",
        ("cluster", "what"),
    ),
    "leadline_shipper_pending": Metric("Documents waiting on a node, the most of an hour", NODE),
    "leadline_shipper_lag_seconds": Metric("Age of the oldest document waiting on a node", NODE),
}

BUSY = (
    Aggregate("busy", Function.SUM, "core_seconds"),
    Aggregate("span", Function.SUM, "interval.seconds"),
    Aggregate("leadline_node_cores", Function.MAX, "node.cores"),
    Aggregate("leadline_node_memory_bytes", Function.MAX, "memory.total.bytes"),
    Aggregate("leadline_node_memory_used_bytes", Function.MAX, "memory.used.bytes"),
    Aggregate("leadline_node_load", Function.MAX, "load.1m"),
    Aggregate("leadline_shipper_pending", Function.MAX, "shipper.pending"),
    Aggregate("leadline_shipper_lag_seconds", Function.MAX, "shipper.lag.seconds"),
)
CARDS = (
    Aggregate("busy", Function.SUM, "gpu_seconds"),
    Aggregate("span", Function.SUM, "interval.seconds"),
    Aggregate("leadline_gpu_memory_used_bytes", Function.MAX, "gpu.memory.bytes"),
    Aggregate("leadline_gpu_temperature_celsius", Function.MAX, "temperature.celsius"),
    Aggregate("leadline_gpu_power_watts", Function.MAX, "power.watts"),
)
SHIPPED = tuple(
    Aggregate(what, Function.SUM, f"shipper.{what}")
    for what in ("read", "sent", "dropped_by_rule", "dropped_by_bound")
)
COUNTED = (Aggregate("n", Function.COUNT),)


def show() -> Response:
    now = desk().now
    try:
        text = desk().once(("metrics", now), lambda: exposed(METRICS, _samples(now)))
    except StoreError:
        text = exposed(METRICS, [*_own(), ("leadline_up", (), 0.0)])
    response = make_response(text)
    response.headers["Content-Type"] = TYPE
    return response


def _samples(now: datetime) -> Iterator[Sample]:
    yield from _kept(now)
    node, card = ("cluster", "host.name"), ("cluster", "host.name", "gpu.uuid", "gpu.model")
    yield from _measured(_rows("node", BUSY, node, now), node, "leadline_node_cores_busy")
    yield from _measured(_rows("gpu", CARDS, card, now), card, "leadline_gpu_busy_ratio")
    yield from _states(now)
    yield from _jobs(now)
    for row in _rows("node", SHIPPED, ("cluster",), now):
        for known in SHIPPED:
            if isinstance(count := row[known.name], int | float):
                yield "leadline_shipper_documents", (_text(row, "cluster"), known.name), count


def _own() -> Iterator[Sample]:
    yield "leadline_build_info", (str(current_app.config["VERSION"]),), 1


def _kept(now: datetime) -> Iterator[Sample]:
    health = desk().health()
    yield "leadline_up", (), float(health.ok)
    yield from _own()
    for dataset, known in health.datasets.items():
        yield "leadline_documents", (dataset,), known.documents
        yield "leadline_stored_bytes", (dataset,), known.bytes
        if known.newest:
            age = (now - parse_time(known.newest)).total_seconds()
            yield "leadline_newest_age_seconds", (dataset,), max(0.0, age)


def _ask(plan: Plan) -> list[Row]:
    return desk().open().ask(plan, EVERYTHING)


def _rows(
    dataset: str, wanted: tuple[Aggregate, ...], by: tuple[str, ...], now: datetime
) -> list[Row]:
    groups = tuple(Group(name) for name in by)
    return _ask(Plan(dataset, wanted, by=groups, start=now - HOUR, end=now))


def _measured(rows: Iterable[Row], by: tuple[str, ...], share: str) -> Iterator[Sample]:
    """
    What was not measured is left out, never 0.
    """
    for row in rows:
        labels = tuple(_text(row, name) for name in by)
        busy, span = row["busy"], row["span"]
        if isinstance(busy, int | float) and isinstance(span, int | float) and span:
            yield share, labels, busy / span
        for name in METRICS.keys() & row.keys():
            if isinstance(value := row[name], int | float):
                yield name, labels, value


def _states(now: datetime) -> Iterator[Sample]:
    seen = fleet(desk().open(), EVERYTHING, now - HOUR, now)
    count: Counter[tuple[str, str]] = Counter()
    for row in node_rows(seen):
        cluster, state = str(row["cluster"]), str(row["state"])
        count[cluster, state] += 1
        labels = (cluster, str(row["node"]), state, str(row["reason"] or ""))
        yield "leadline_node_state", labels, 1
    for (cluster, state), nodes in count.items():
        yield "leadline_nodes", (cluster, state), nodes
    for row in card_rows(seen, failing(now)):
        for state in ("allocated", "idle", "unusable"):
            yield "leadline_gpus", (str(row["cluster"]), str(row["model"]), state), row[state]


def _jobs(now: datetime) -> Iterator[Sample]:
    """
    Who asks the scheduler tells of every state; elsewhere the accounting knows those that run.
    """
    living = _living(now)
    told = {cluster for cluster, _, _ in living}
    by = tuple(Group(name) for name in ("cluster", "partition", "job.state"))
    running = (Condition("job.end", Op.MISSING), Condition("job.start", Op.EXISTS))
    for row in _ask(Plan("job", COUNTED, by=by, where=running)):
        if _text(row, "cluster") not in told:
            living[_text(row, "cluster"), _text(row, "partition"), _text(row, "job.state")] += int(
                str(row["n"])
            )
    for labels, jobs in living.items():
        yield "leadline_jobs", labels, jobs
    ended = (
        Condition("job.end", Op.AT_LEAST, (format_time(now - HOUR),)),
        Condition("job.end", Op.BELOW, (format_time(now),)),
    )
    for row in _ask(Plan("job", COUNTED, by=by, where=ended)):
        labels = (_text(row, "cluster"), _text(row, "partition"), _text(row, "job.state"))
        yield "leadline_jobs_ended", labels, int(str(row["n"]))


def _living(now: datetime) -> Counter[tuple[str, str, str]]:
    """
    Jobs by their last state, those that have not ended.
    """
    last = (Aggregate("last", Function.MAX, "@timestamp"),)
    by = tuple(Group(name) for name in ("cluster", "partition", "job.run", "state.name"))
    rows = _ask(Plan("job_state", last, by=by, start=now - DAY, end=now))
    newest: dict[str, Row] = {}
    for row in rows:
        known = newest.get(_text(row, "job.run"))
        if known is None or str(known["last"]) < str(row["last"]):
            newest[_text(row, "job.run")] = row
    return Counter(
        (_text(row, "cluster"), _text(row, "partition"), _text(row, "state.name"))
        for row in newest.values()
        if row["state.name"] not in ENDED
    )


def _text(row: Row, name: str) -> str:
    value = row[name]
    return "" if value is None else str(value)
