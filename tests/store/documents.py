"""
Documents as the worker writes them.
"""

from __future__ import annotations

from leadline.formats import Document


def process(number: int = 0, **fields: object) -> Document:
    """
    A complete process sample; NUMBER tells one from another.
    """
    return {
        "dataset": "process",
        "@timestamp": f"2026-11-21T04:{number // 60 % 60:02d}:{number % 60:02d}.000Z",
        "cluster": "fox",
        "host.name": "c1-1",
        "boot.id": "b1",
        "sample.uptime": number,
        "process.entity_id": f"17-{number}",
        "local.day": "2026-11-21",
        **fields,
    }


def job(number: int = 0, version: object = 1, **fields: object) -> Document:
    return {
        "dataset": "job",
        "@timestamp": "2026-11-21T04:00:00.000Z",
        "cluster": "fox",
        "job.run": f"fox/{number}@1795233600",
        "record.version": version,
        **fields,
    }
