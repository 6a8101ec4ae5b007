"""
A day of documents for detectors: a ten-core node c1, processes of alice, her job fox/7.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from leadline.formats import Document
from leadline.formats.times import format_time
from leadline.reports.finding import Case, Finding
from leadline.reports.findings import findings
from leadline.store.scope import EVERYTHING
from tests.query.conftest import stored

START = datetime(2026, 11, 20, tzinfo=UTC)
NOW = START + timedelta(hours=24)


def at(hours: float) -> str:
    return format_time(START + timedelta(hours=hours))


def process(hour: float, number: int = 0, **fields: object) -> Document:
    return {
        "dataset": "process",
        "@timestamp": at(hour),
        "cluster": "fox",
        "host.name": "c1",
        "boot.id": "b",
        "sample.uptime": int(hour * 3600),
        "process.entity_id": f"{number}-1",
        "interval.seconds": 3600.0,
        "user.name": "alice",
        "user.id": "2000",
        "process.name": "work",
        **fields,
    }


def node(hour: float, busy: float = 0.0, host: str = "c1", **fields: object) -> Document:
    """
    A heartbeat of a ten-core node, BUSY cores of them.
    """
    return {
        "dataset": "node",
        "@timestamp": at(hour),
        "cluster": "fox",
        "host.name": host,
        "boot.id": "b",
        "sample.uptime": int(hour * 3600),
        "interval.seconds": 3600.0,
        "node.cores": 10,
        "core_seconds": busy * 3600,
        **fields,
    }


def job(**fields: object) -> Document:
    return {
        "dataset": "job",
        "@timestamp": at(0),
        "cluster": "fox",
        "job.id": "fox/7",
        "job.run": "fox/7@1",
        "record.version": 1,
        "user.name": "alice",
        "job.start": at(1),
        "job.end": at(9),
        "job.wall.seconds": 8 * 3600.0,
        "job.nodes": ["c1"],
        **fields,
    }


def found(*documents: Document, kind: str = "") -> list[Finding]:
    case = Case(stored(documents), EVERYTHING, START, NOW, NOW)
    return findings(case, [kind] if kind else [])
