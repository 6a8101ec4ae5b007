"""
How the store feels: reachable, green, how much is there and how fresh it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from leadline.errors import StoreError
from leadline.formats import DATASETS
from leadline.store.contract import DatasetHealth, Health
from leadline.store.opensearch.client import Client
from leadline.store.opensearch.figures import instant


def health(client: Client, prefix: str) -> Health:
    """
    Never raises: an engine in trouble is what this is for.
    """
    answer = client.request("GET", "/_cluster/health", timeout=10)
    if not answer.ok:
        return Health("opensearch", False, (answer.reason,), {})
    problems = list(cluster_problems(answer.body))
    ok = answer.body["status"] != "red"
    found: dict[str, DatasetHealth] = {}
    try:
        if blocked := blocked_indices(client, prefix):
            problems.append(f"closed to writing: {', '.join(blocked)}; is a disk full?")
            ok = False
        found = datasets(client, prefix)
    except StoreError as error:
        problems.append(str(error))
        ok = False
    return Health(engine_name(client), ok, tuple(problems), found)


def cluster_problems(cluster: Any) -> Iterator[str]:
    if cluster["status"] == "red":
        yield f"status red: {cluster['unassigned_shards']} shards are nowhere; is a node down?"
    elif cluster["status"] == "yellow":
        yield (
            f"status yellow: {cluster['unassigned_shards']} copies are missing, "
            f"{cluster['number_of_nodes']} nodes are there"
        )


def engine_name(client: Client) -> str:
    try:
        return str(client.engine)
    except StoreError:
        return "opensearch"


def blocked_indices(client: Client, prefix: str) -> list[str]:
    settings = client.get(f"/{prefix}-*/_settings/index.blocks.*", flat_settings=True)
    return sorted(
        name
        for name, body in settings.items()
        if any(str(value) == "true" for value in body["settings"].values())
    )


def datasets(client: Client, prefix: str) -> dict[str, DatasetHealth]:
    times = {"newest": {"max": {"field": "@timestamp"}}, "oldest": {"min": {"field": "@timestamp"}}}
    by_dataset = {"terms": {"field": "dataset", "size": len(DATASETS) + 10}, "aggs": times}
    body = {"size": 0, "aggs": {"datasets": by_dataset}}
    found = client.post(f"/{prefix}-*/_search", body)
    buckets: list[Any] = found.get("aggregations", {}).get("datasets", {}).get("buckets", [])
    counts = {bucket["key"]: bucket["doc_count"] for bucket in buckets}
    sizes = family_sizes(client, prefix)
    return {
        bucket["key"]: DatasetHealth(
            documents=bucket["doc_count"],
            bytes=share(bucket["key"], counts, sizes),
            newest=instant(bucket["newest"]["value"]),
            oldest=instant(bucket["oldest"]["value"]),
        )
        for bucket in buckets
        if bucket["key"] in DATASETS
    }


def family_sizes(client: Client, prefix: str) -> dict[str, int]:
    stats = client.get(f"/{prefix}-*/_stats/store")["indices"]
    sizes: dict[str, int] = {}
    for name, body in stats.items():
        family = name.removeprefix(f"{prefix}-").rpartition("-")[0]
        size = body["primaries"]["store"]["size_in_bytes"]
        sizes[family] = sizes.get(family, 0) + size
    return sizes


def share(dataset: str, counts: dict[str, int], sizes: dict[str, int]) -> int:
    """
    A dataset's part of its family's bytes, by documents: they lie in the same files.
    """
    family = DATASETS[dataset].family
    together = sum(n for name, n in counts.items() if DATASETS[name].family == family)
    return sizes.get(family, 0) * counts[dataset] // max(1, together)
