"""
What a site needs, reckoned from measured bytes per document: bench/index.py and the lake's
benchmark measure them, docs/scale.md explains them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

# Bytes on disk per document, merged and compressed: (OpenSearch, lake).
BYTES = {"process": (160, 16), "node": (140, 30), "gpu": (110, 25), "job": (400, 90)}
PARTS_PER_NODE = 6  # file systems, interfaces, disks, sensors beside the node itself
DOCUMENTS_PER_SECOND_PER_CORE = 15_000  # what one core of an engine takes in, all included
SHARD = 30e9  # a good size of one shard
HEAP_PER_SHARD = 25e6
SMALLEST_HEAP = 1e9
DAY = 86400


@dataclass(frozen=True, slots=True)
class Site:
    nodes: int
    every: float  # seconds
    processes: float  # documents of one sample of one node
    cards: float
    jobs: int  # a day
    keep: float  # seconds
    copies: int

    def __post_init__(self) -> None:
        if self.every <= 0 or self.keep <= 0:
            raise ValueError("must be more than nothing")

    def per_day(self) -> dict[str, float]:
        """
        Documents of each kind in a day.
        """
        samples = self.nodes * DAY / self.every
        return {
            "process": samples * self.processes,
            "node": samples * (1 + PARTS_PER_NODE),
            "gpu": samples * self.cards,
            "job": float(self.jobs),
        }


@dataclass(frozen=True, slots=True)
class Size:
    documents_per_second: float
    raw_documents: float
    bytes_per_day: float  # on OpenSearch, one copy
    disk: float  # on OpenSearch, all copies, with a third to spare for merges
    lake: float
    shards: int
    daily: bool
    heap: float
    cores: float

    def lines(self) -> list[str]:
        cut = "day (set opensearch.daily: process)" if self.daily else "month"
        return [
            f"documents    {self.documents_per_second:,.0f} a second, "
            f"{self.raw_documents:,.0f} raw ones kept",
            f"OpenSearch   {readable(self.bytes_per_day)} a day and copy, "
            f"{readable(self.disk)} of disk with copies and a third to spare",
            f"indices      process samples by {cut}, {self.shards} shards in all",
            f"heap         {readable(self.heap)} over all data nodes",
            f"cores        {self.cores:.2f} busy with taking in, over all data nodes",
            f"lake         {readable(self.lake)} on one machine, for comparison",
        ]


def plan_size(site: Site) -> Size:
    per_day = site.per_day()
    days = site.keep / DAY
    raw = {name: count for name, count in per_day.items() if name != "job"}
    stored = {name: count * days for name, count in raw.items()}
    stored["job"] = per_day["job"] * 365 * 5
    by_day = sum(count * BYTES[name][0] for name, count in per_day.items())
    kept = sum(count * BYTES[name][0] for name, count in stored.items())
    month = per_day["process"] * BYTES["process"][0] * 30
    daily = month > 10 * SHARD
    width = 1 if daily else 30
    per_index = max(1, math.ceil(per_day["process"] * BYTES["process"][0] * width / SHARD))
    indices = math.ceil(days / width) + 1
    others = 2 * (math.ceil(days / 30) + 1) + 5 * 5  # node and gpu by month, years of summaries
    shards = (indices * per_index + others) * (1 + site.copies)
    rate = sum(per_day.values()) / DAY
    return Size(
        documents_per_second=rate,
        raw_documents=sum(stored[name] for name in raw),
        bytes_per_day=by_day,
        disk=kept * (1 + site.copies) / 0.75,
        lake=sum(count * BYTES[name][1] for name, count in stored.items()),
        shards=shards,
        daily=daily,
        heap=max(SMALLEST_HEAP * (1 + site.copies), shards * HEAP_PER_SHARD),
        cores=rate * (1 + site.copies) / DOCUMENTS_PER_SECOND_PER_CORE,
    )


def readable(size: float) -> str:
    for unit, factor in (("TB", 1e12), ("GB", 1e9)):
        if size >= factor:
            return f"{size / factor:,.1f} {unit}"
    return f"{size / 1e6:,.0f} MB"
