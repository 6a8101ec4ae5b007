"""
/metrics: what Prometheus and Grafana want to know, without anybody's name in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from flask import Response, make_response

from leadline.formats.times import parse_time
from leadline.store.plan import Aggregate, Condition, Function, Group, Op, Plan, Row
from leadline.web.asking import desk

HOUR = timedelta(hours=1)
NODE = ("cluster", "host.name")
CARD = (*NODE, "gpu.uuid", "gpu.model")
BUSY = (
    Aggregate("busy", Function.SUM, "core_seconds"),
    Aggregate("span", Function.SUM, "interval.seconds"),
    Aggregate("cores", Function.MAX, "node.cores"),
    Aggregate("memory", Function.MAX, "memory.used.bytes"),
)
CARDS = (
    Aggregate("busy", Function.SUM, "gpu_seconds"),
    Aggregate("span", Function.SUM, "interval.seconds"),
    Aggregate("hot", Function.MAX, "temperature.celsius"),
)

# Every metric: its name, and what it tells. All are gauges.
METRICS = {
    "leadline_up": "1 while the store answers",
    "leadline_documents": "Documents kept, by dataset",
    "leadline_stored_bytes": "Bytes kept, by dataset",
    "leadline_newest_age_seconds": "Age of the newest document, by dataset",
    "leadline_node_cores": "Cores of a node that sent samples within the last hour",
    "leadline_node_cores_busy": "Cores busy, the mean over the last hour",
    "leadline_node_memory_used_bytes": "Memory used, the most within the last hour",
    "leadline_gpu_busy_ratio": "Share of a card that is busy, the mean over the last hour",
    "leadline_gpu_temperature_celsius": "Temperature of a card, the most within the last hour",
    "leadline_jobs": "Jobs that run now, by partition",
}

Sample = tuple[str, dict[str, str], float]


def show() -> Response:
    found: dict[str, list[str]] = {name: [] for name in METRICS}
    for name, labels, value in (*_kept(), *_nodes(), *_cards(), *_jobs()):
        found[name].append(f"{name}{_written(labels)} {value:.10g}")
    lines = []
    for name, samples in found.items():
        lines += [f"# HELP {name} {METRICS[name]}", f"# TYPE {name} gauge", *samples]
    response = make_response("\n".join(lines) + "\n")
    response.headers["Content-Type"] = "text/plain; version=0.0.4; charset=utf-8"
    return response


def _written(labels: dict[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _kept() -> Iterator[Sample]:
    health = desk().health()
    now = desk().site.clock()
    yield "leadline_up", {}, float(health.ok)
    for dataset, known in health.datasets.items():
        labels = {"dataset": dataset}
        yield "leadline_documents", labels, known.documents
        yield "leadline_stored_bytes", labels, known.bytes
        if known.newest:
            age = (now - parse_time(known.newest)).total_seconds()
            yield "leadline_newest_age_seconds", labels, age


def _rows(dataset: str, wanted: tuple[Aggregate, ...], by: tuple[str, ...]) -> list[Row]:
    now = desk().now
    groups = tuple(Group(name) for name in by)
    return desk().totals(Plan(dataset, wanted, by=groups, start=now - HOUR, end=now))


def _nodes() -> Iterator[Sample]:
    for row in _rows("node", BUSY, NODE):
        labels = {"cluster": str(row["cluster"]), "node": str(row["host.name"])}
        yield from _measured("leadline_node_cores", labels, row["cores"])
        yield from _measured("leadline_node_memory_used_bytes", labels, row["memory"])
        yield from _measured("leadline_node_cores_busy", labels, _ratio(row))


def _cards() -> Iterator[Sample]:
    for row in _rows("gpu", CARDS, CARD):
        labels = {
            "cluster": str(row["cluster"]),
            "node": str(row["host.name"]),
            "uuid": str(row["gpu.uuid"]),
            "model": str(row["gpu.model"] or ""),
        }
        yield from _measured("leadline_gpu_busy_ratio", labels, _ratio(row))
        yield from _measured("leadline_gpu_temperature_celsius", labels, row["hot"])


def _jobs() -> Iterator[Sample]:
    running = (Condition("job.state", Op.IN, ("RUNNING",)),)
    by = (Group("cluster"), Group("partition"))
    counted = (Aggregate("n", Function.COUNT),)
    for row in desk().totals(Plan("job", counted, by=by, where=running)):
        labels = {"cluster": str(row["cluster"]), "partition": str(row["partition"] or "")}
        yield from _measured("leadline_jobs", labels | {"state": "RUNNING"}, row["n"])


def _ratio(row: Row) -> float | None:
    busy, span = row["busy"], row["span"]
    if not isinstance(busy, int | float) or not isinstance(span, int | float) or not span:
        return None
    return busy / span


def _measured(name: str, labels: dict[str, str], value: object) -> Iterator[Sample]:
    """
    What was not measured is left out, never 0.
    """
    if isinstance(value, int | float):
        yield name, labels, float(value)
