"""
What the shipper says about itself: its counters in the node's document, its losses as events.
"""

from __future__ import annotations

from collections.abc import Iterable

import orjson

from leadline.formats import Document
from leadline.formats.times import from_epoch
from shipper.status import Totals, Waiting

SHARED = (
    "cluster",
    "host.name",
    "boot.id",
    "sample.uptime",
    "sample.time",
    "agent.version",
    "schema.version",
)
LOSSES = {
    "dropped_by_bound": "documents waited too long or were too many, and were dropped",
    "not_accepted": "documents could not be written to the spool, and are lost",
    "refused": "documents were refused by the worker, and lie in refused.ndjson on the node",
}


def with_counters(documents: list[Document], grown: Totals, waiting: Waiting) -> list[Document]:
    """
    The whole node's document, if there is one, with what the shipper did since the last.
    """
    own: Document = {
        "shipper.read": grown.read,
        "shipper.sent": grown.sent,
        "shipper.dropped_by_rule": grown.dropped_by_rule,
        "shipper.dropped_by_bound": grown.dropped_by_bound,
        "shipper.pending": waiting.pending,
        "shipper.lag.seconds": waiting.lag_seconds,
    }
    return [{**d, **own} if is_node(d) else d for d in documents]


def notices(documents: Iterable[Document], grown: Totals, host: str, now: float) -> list[Document]:
    """
    An event for each kind of loss since the last tick that was spooled.
    """
    node = next((d for d in documents if is_node(d)), {})
    shared = {name: node[name] for name in SHARED if name in node}
    made: list[Document] = []
    for name, meaning in LOSSES.items():
        if count := getattr(grown, name):
            made.append(
                {
                    "@timestamp": from_epoch(now),
                    "host.name": host,
                    **shared,
                    "dataset": "event",
                    "rule.name": f"shipper.{name}",
                    "event.object": host,
                    "event.kind": "notice",
                    "event.severity": "warning",
                    "event.reason": name,
                    "event.count": count,
                    "message": f"{host}: {count} {meaning}",
                }
            )
    return made


def is_node(document: Document) -> bool:
    return document.get("dataset") == "node" and "job.local_id" not in document


def encode(documents: Iterable[Document]) -> tuple[list[bytes], int]:
    """
    Documents as lines, and how many could not be written as JSON.
    """
    lines: list[bytes] = []
    failed = 0
    for document in documents:
        try:
            lines.append(orjson.dumps(document))
        except orjson.JSONEncodeError:
            failed += 1
    return lines, failed
