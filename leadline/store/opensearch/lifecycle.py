"""
What is kept how long: whole indices are taken by the period in their name, and the same table of
retention becomes policies for the engines that run their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from leadline.formats import DATASETS
from leadline.formats.times import format_time
from leadline.store.contract import Expired
from leadline.store.opensearch.client import Client
from leadline.store.opensearch.indices import Period, period_of


def periods(client: Client, prefix: str) -> dict[str, tuple[Period, Any]]:
    """
    Our indices by name, each with its row of `_cat/indices`; foreign names are not looked at.
    """
    columns = "index,docs.count,pri.store.size,status,pri"
    rows = client.get(
        f"/_cat/indices/{prefix}-*", format="json", bytes="b", h=columns, expand_wildcards="all"
    )
    found = {row["index"]: (period_of(row["index"], prefix), row) for row in rows}
    return {name: (period, row) for name, (period, row) in found.items() if period is not None}


def expire(
    client: Client, prefix: str, keep: Mapping[str, datetime], *, dry_run: bool
) -> list[Expired]:
    gone = []
    for name, (period, row) in sorted(periods(client, prefix).items()):
        kept_from = keep.get(period.family)
        if kept_from is None or period.end > kept_from:
            continue
        if not dry_run:
            client.demand("DELETE", f"/{name}")
        gone.append(
            Expired(
                name=name,
                dataset=dataset_of(period.family),
                documents=int(row.get("docs.count") or 0),
                size=int(row.get("pri.store.size") or 0),
                reason=f"{period.family} is kept from {format_time(kept_from)[:10]}",
            )
        )
    return gone


def dataset_of(family: str) -> str:
    return next(dataset.name for dataset in DATASETS.values() if dataset.family == family)


def merge_closed(client: Client, prefix: str, *, now: datetime, dry_run: bool) -> list[str]:
    """
    Force-merge indices whose period is over for two days: smaller and faster, done once.
    """
    merged = []
    for name, (period, row) in sorted(periods(client, prefix).items()):
        age = now.astimezone(UTC) - period.end
        if age.days < 2 or row.get("status") != "open" or segments(client, name) <= int(row["pri"]):
            continue
        if not dry_run:
            client.demand("POST", f"/{name}/_forcemerge", max_num_segments=1, timeout=3600)
            client.demand("POST", f"/{name}/_refresh")  # else the old segments are still counted
        merged.append(name)
    return merged


def segments(client: Client, index: str) -> int:
    stats = client.get(f"/{index}/_stats/segments")
    return int(stats["_all"]["primaries"]["segments"]["count"])


def hand_over(client: Client, index: str) -> None:
    """
    Give a sealed month of raw samples the policy that will delete it.
    """
    policy = f"{index.rpartition('-')[0]}-sealed"
    if client.engine.elasticsearch:
        client.put(f"/{index}/_settings", {"index.lifecycle.name": policy})
    else:
        client.post(f"/_plugins/_ism/change_policy/{index}", {"policy_id": policy})
