"""
What is kept how long: whole indices are taken by the period in their name, and the same table of
retention becomes policies for the engines that run their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from leadline.errors import StoreError
from leadline.formats import DATASETS
from leadline.formats.times import format_time
from leadline.store.contract import Expired
from leadline.store.opensearch.client import Client
from leadline.store.opensearch.indices import Period, period_of

MANAGED_BY = "index.plugins.index_state_management.policy_id"


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


def hand_over_sealed(client: Client, prefix: str, ends: Mapping[str, datetime]) -> bool:
    """
    Give every index that ends by its family's moment in ENDS to the policy that deletes it.

    False: this engine has no such policies, or cannot count from the end of an index's period.
    StoreError when some could not be given theirs.
    """
    if not deletes_itself(client, prefix, ends):
        return False
    given = policy_by_index(client, prefix)
    troubles = []
    for name, (period, _) in sorted(periods(client, prefix).items()):
        if period.family in ends and period.end <= ends[period.family]:
            policy = given.get(name)
            if policy != sealed_policy(name):
                try:
                    hand_over(client, name, managed=policy is not None)
                except StoreError as error:  # the others all the same
                    troubles.append(str(error))
    if troubles:
        raise StoreError("; ".join(troubles[:5]))
    return True


def deletes_itself(client: Client, prefix: str, families: Iterable[str]) -> bool:
    engine = client.engine
    if not engine.elasticsearch and not engine.takes_creation_date:
        return False
    api = "/_ilm/policy" if engine.elasticsearch else "/_plugins/_ism/policies"
    return all(client.request("GET", f"{api}/{prefix}-{family}-sealed").ok for family in families)


def policy_by_index(client: Client, prefix: str) -> dict[str, str]:
    """
    The policy of every index that has one.
    """
    if client.engine.elasticsearch:
        found = client.get(f"/{prefix}-*/_settings", flat_settings=True)
        policies = {n: b["settings"].get("index.lifecycle.name") for n, b in found.items()}
    else:
        found = client.get(f"/_plugins/_ism/explain/{prefix}-*")
        policies = {n: b.get(MANAGED_BY) for n, b in found.items() if isinstance(b, dict)}
    return {name: policy for name, policy in policies.items() if policy}


def hand_over(client: Client, index: str, *, managed: bool = True) -> None:
    """
    Give a sealed month of raw samples the policy that will delete it.
    """
    policy = sealed_policy(index)
    if client.engine.elasticsearch:
        client.put(f"/{index}/_settings", {"index.lifecycle.name": policy})
    else:
        give_policy(client, index, policy, managed=managed)


def give_policy(client: Client, index: str, policy: str, *, managed: bool) -> None:
    """
    Index state management says 200 also when it did not do it.
    """
    action = "change_policy" if managed else "add"
    answer = client.post(f"/_plugins/_ism/{action}/{index}", {"policy_id": policy})
    if answer.get("failures"):
        reasons = [str(failed.get("reason")) for failed in answer.get("failed_indices", [])]
        raise StoreError(
            f"{index} did not get policy {policy}: {'; '.join(reasons) or 'no reason'}"
        )


def sealed_policy(index: str) -> str:
    return f"{index.rpartition('-')[0]}-sealed"
