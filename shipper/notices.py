"""
What the shipper says about itself: its counters in the node's document, its losses as events.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import orjson

from leadline.formats import Document
from leadline.formats.times import from_epoch
from shipper.senders.clocks import NOTABLE
from shipper.status import Totals, Waiting

REPEAT = 3600.0  # seconds
NUMBERS = re.compile(r"\d+")  # the same problem with another figure is no news

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


def with_counters(
    documents: list[Document], grown: Totals, waiting: Waiting, ahead: float | None = None
) -> list[Document]:
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
    if ahead is not None:
        own["clock.ahead.seconds"] = ahead
    return [{**d, **own} if is_node(d) else d for d in documents]


def clock_notice(documents: Iterable[Document], ahead: float | None, now: float) -> list[Document]:
    """
    An event while this node's clock and the worker's differ by more than a minute.
    """
    node = next((d for d in documents if is_node(d)), None)
    if node is None or ahead is None or abs(ahead) <= NOTABLE:
        return []
    host, word = node["host.name"], "ahead of" if ahead > 0 else "behind"
    return [
        {
            **{name: node[name] for name in SHARED if name in node},
            "@timestamp": from_epoch(now),
            "dataset": "event",
            "rule.name": "shipper.clock",
            "event.object": host,
            "event.kind": "notice",
            "event.severity": "warning",
            "event.reason": "clock",
            "message": f"{host}: its clock is {abs(ahead):.0f} s {word} the worker's; set it",
        }
    ]


def notices(documents: Iterable[Document], grown: Totals, host: str, now: float) -> list[Document]:
    """
    An event for each kind of loss that no event has told yet.
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


class Quiet:
    """
    Says the same about itself once an hour: a thousand nodes with one broken driver are no flood.
    """

    def __init__(self, told: object = None) -> None:
        kept = told.items() if isinstance(told, dict) else ()
        self.told = {str(k): float(v) for k, v in kept if isinstance(v, int | float)}

    def __call__(self, documents: Iterable[Document], now: float) -> list[Document]:
        self.told = {k: v for k, v in self.told.items() if 0 <= now - v < REPEAT}  # a new one
        kept: list[Document] = []
        for document in documents:
            if is_notice(document):
                if not self.is_new(document, now):
                    continue
                self.told[mark(document)] = now
            kept.append(document)
        return kept

    def is_new(self, document: Document, now: float) -> bool:
        """
        Whether it was not said within the hour; nothing is remembered.
        """
        when = self.told.get(mark(document))
        return when is None or not 0 <= now - when < REPEAT


def mark(notice: Document) -> str:
    return NUMBERS.sub("", f"{notice.get('rule.name')}: {notice['event.reason']}")


def is_notice(document: Document) -> bool:
    return document.get("dataset") == "event" and document.get("event.kind") == "notice"


def is_node(document: Document) -> bool:
    return document.get("dataset") == "node"


def encode(documents: Iterable[Document]) -> tuple[list[bytes], int]:
    """
    Documents as lines, and how many could not be written as JSON.
    """
    lines: list[bytes] = []
    failed = 0
    for document in documents:
        try:
            # Copied: orjson leaves its whole buffer, some 8 KiB, behind each line.
            lines.append(bytes(memoryview(orjson.dumps(document))))
        except orjson.JSONEncodeError:
            failed += 1
    return lines, failed
