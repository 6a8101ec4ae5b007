"""
/metrics of the worker: its books as Prometheus counts them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from leadline.formats.exposition import Metric, Sample, exposed
from leadline.formats.times import epoch_seconds

HOST = ("cluster", "node")
METRICS: dict[str, Metric] = {
    "leadline_worker_info": Metric("1, for its labels", ("version", "rules")),
    "leadline_worker_uptime_seconds": Metric("Since it was started"),
    "leadline_worker_documents_total": Metric(
        "Documents: read = the sum of what became of them, and those pending", ("what",), "counter"
    ),
    "leadline_worker_pending": Metric("Documents that wait in the worker's spool"),
    "leadline_worker_received_total": Metric(
        "Batches, bytes and documents at the door; what was refused, and why", ("what",), "counter"
    ),
    "leadline_worker_faults_total": Metric(
        "Batches that failed in a way nobody foresaw", (), "counter"
    ),
    "leadline_worker_cache_total": Metric(
        "Values a step was asked for, and those it had to work out", ("step", "what"), "counter"
    ),
    "leadline_worker_store_up": Metric("1 while the store is well"),
    "leadline_worker_node_last_seen_timestamp_seconds": Metric("When a node last sent", HOST),
    "leadline_worker_node_lag_seconds": Metric("How late a node's last batch came", HOST),
    "leadline_worker_node_dropped_total": Metric(
        "Documents a node's shipper dropped, by its bound or a rule", (*HOST, "why"), "counter"
    ),
}


def metrics_text(status: Mapping[str, Any]) -> str:
    """
    The worker's STATUS as text.
    """
    return exposed(METRICS, _samples(status))


def _samples(status: Mapping[str, Any]) -> Iterator[Sample]:
    labels = (str(status["version"]), str(status["rules_version"]))
    yield "leadline_worker_info", labels, 1
    yield "leadline_worker_uptime_seconds", (), status["uptime_seconds"]
    for what, count in status["counters"].items():
        if what == "pending":
            yield "leadline_worker_pending", (), count
        else:
            yield "leadline_worker_documents_total", (what,), count
    for what, count in status["received"].items():
        yield "leadline_worker_received_total", (what,), count
    yield "leadline_worker_faults_total", (), status["delivery"]["faults"]
    for step, known in status["cache"].items():
        for what in ("asked", "missed"):
            yield "leadline_worker_cache_total", (step, what), known[what]
    yield "leadline_worker_store_up", (), float(bool(status["store"].get("ok")))
    for host in status["hosts"]:
        yield from _host(host)


def _host(host: Mapping[str, Any]) -> Iterator[Sample]:
    labels = (host["cluster"], host["host"])
    if host["last_seen"]:
        seen = epoch_seconds(host["last_seen"])
        yield "leadline_worker_node_last_seen_timestamp_seconds", labels, seen
    yield "leadline_worker_node_lag_seconds", labels, host["lag_seconds"]
    for why in ("rule", "bound"):
        yield "leadline_worker_node_dropped_total", (*labels, why), host[f"dropped_by_{why}"]
