"""
Taking whole indices away, and merging those whose period is over.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from leadline.errors import StoreError
from leadline.store.opensearch.client import Client
from leadline.store.opensearch.lifecycle import (
    MANAGED_BY,
    hand_over,
    hand_over_sealed,
    merge_closed,
)
from leadline.store.opensearch.store import OpenSearchStore
from tests.opensearch_fixture import TEST_PREFIX
from tests.store.documents import job, process
from tests.store.opensearch.scripted import ELASTICSEARCH, Asked, Reply, scripted


def names(store: OpenSearchStore) -> set[str]:
    rows = store.client.get(f"/_cat/indices/{TEST_PREFIX}-*", format="json")
    return {row["index"].removeprefix(f"{TEST_PREFIX}-") for row in rows}


@pytest.mark.opensearch
def test_only_wholly_past_indices_of_ours_go(opensearch_store: OpenSearchStore) -> None:
    """
    A month that ends later, a family that is kept and a name that is not ours all stay.
    """
    store = opensearch_store
    months = ("2026-07", "2026-08", "2026-09")
    batch = [process(n, **{"@timestamp": f"{m}-15T00:00:00.000Z"}) for n, m in enumerate(months)]
    store.write([*batch, job(1, **{"@timestamp": "2020-01-01T00:00:00.000Z"})], "create")
    foreign = f"{TEST_PREFIX}-process-2026.07-restored"
    store.client.request("PUT", f"/{foreign}", {})
    gone = store.expire({"process": datetime(2026, 9, 1, tzinfo=UTC)}, dry_run=False)
    left = names(store)
    store.client.demand("DELETE", f"/{foreign}")
    assert [(g.name, g.documents) for g in gone] == [
        (f"{TEST_PREFIX}-process-2026.07", 1),
        (f"{TEST_PREFIX}-process-2026.08", 1),
    ]
    assert left == {"process-2026.09", "process-2026.07-restored", "job-2020"}


@pytest.mark.opensearch
def test_writing_to_a_deleted_month_makes_it_anew(opensearch_store: OpenSearchStore) -> None:
    """
    The writer does not believe that an index it once saw is still there.
    """
    store = opensearch_store
    old = process(1, **{"@timestamp": "2026-07-15T00:00:00.000Z"})
    store.write([old], "create")
    store.expire({"process": datetime(2026, 9, 1, tzinfo=UTC)}, dry_run=False)
    assert store.write([old], "create").accepted == 1


@pytest.mark.opensearch
def test_closed_months_are_merged_once(opensearch_store: OpenSearchStore) -> None:
    """
    A month that is over for two days becomes one segment; then there is nothing to do.
    """
    store = opensearch_store
    for number in range(3):
        store.write([process(number)], "create")
        store.refresh("process")
    now = datetime(2026, 12, 1, 12, tzinfo=UTC)
    later = datetime(2026, 12, 4, tzinfo=UTC)
    merge = [f"{TEST_PREFIX}-process-2026.11"]
    assert merge_closed(store.client, TEST_PREFIX, now=now, dry_run=False) == []
    assert merge_closed(store.client, TEST_PREFIX, now=later, dry_run=True) == merge
    assert merge_closed(store.client, TEST_PREFIX, now=later, dry_run=False) == merge
    assert merge_closed(store.client, TEST_PREFIX, now=later, dry_run=False) == []


@pytest.mark.opensearch
def test_the_chore_merges_what_is_long_over(opensearch_store: OpenSearchStore) -> None:
    """
    As the chores call it: a month of 2020 that came in two pieces.
    """
    for number in range(2):
        opensearch_store.write(
            [process(number, **{"@timestamp": "2020-01-05T00:00:00.000Z"}), process(number)],
            "create",
        )
        opensearch_store.refresh("process")
    assert opensearch_store.compact() == 1
    assert opensearch_store.compact() == 0


@pytest.mark.parametrize(
    ("version", "method", "path", "body"),
    [
        (
            {"distribution": "opensearch", "number": "3.4.0"},
            "POST",
            "/_plugins/_ism/change_policy/leadline-process-2026.07",
            {"policy_id": "leadline-process-sealed"},
        ),
        (
            ELASTICSEARCH,
            "PUT",
            "/leadline-process-2026.07/_settings",
            {"index.lifecycle.name": "leadline-process-sealed"},
        ),
    ],
)
def test_a_sealed_month_gets_the_policy_that_deletes(
    version: dict[str, str], method: str, path: str, body: dict[str, str]
) -> None:
    """
    Raw samples get their delete phase only when their month is sealed.
    """
    with scripted(version=version) as server:
        client = Client([server.url])
        hand_over(client, "leadline-process-2026.07")
        client.close()
        (call,) = server.calls(method, path)
    assert call.lines == [body]


INDICES = ("leadline-process-2026.07", "leadline-process-2026.08", "leadline-process-2026.09")
ENDS = {"process": datetime(2026, 9, 1, tzinfo=UTC)}


def three_months(asked: Asked) -> Reply:
    """
    July was handed over before; August has the policy every index begins with.
    """
    if asked.path.startswith("/_cat/indices"):
        return 200, [{"index": name, "status": "open", "pri": "1"} for name in INDICES]
    if asked.path.startswith("/_plugins/_ism/explain"):
        policies = ("leadline-process-sealed", "leadline-process", "leadline-process")
        found = zip(INDICES, policies, strict=True)
        return 200, {"total_managed_indices": 3} | {n: {MANAGED_BY: p} for n, p in found}
    return 0, None


def test_sealed_months_are_handed_over_once() -> None:
    """
    Of three months two are sealed and one has its policy already: one change.
    """
    version = {"distribution": "opensearch", "number": "3.4.0"}
    with scripted(version=version, others=three_months) as server:
        client = Client([server.url])
        assert hand_over_sealed(client, "leadline", ENDS)
        client.close()
        (call,) = server.calls("POST")
    assert call.path == "/_plugins/_ism/change_policy/leadline-process-2026.08"


def test_a_policy_that_is_not_taken_is_told() -> None:
    """
    200 with `failures`: an error that names the index and the reason, after all others were tried.
    """
    tried = []

    def refusing(asked: Asked) -> Reply:
        if asked.path.startswith(("/_plugins/_ism/change_policy", "/_plugins/_ism/add")):
            tried.append(asked.path.rpartition("/")[2])
            failed = {"index_name": tried[-1], "reason": "the index is in transition"}
            return 200, {"updated_indices": 0, "failures": True, "failed_indices": [failed]}
        if asked.path.startswith("/_plugins/_ism/explain"):
            return 200, {"total_managed_indices": 0}
        return three_months(asked)

    version = {"distribution": "opensearch", "number": "3.4.0"}
    with scripted(version=version, others=refusing) as server:
        client = Client([server.url])
        with pytest.raises(StoreError, match=r"leadline-process-2026.07 did not .* in transition"):
            hand_over_sealed(client, "leadline", ENDS)
        client.close()
    assert tried == ["leadline-process-2026.07", "leadline-process-2026.08"]


def test_an_engine_that_cannot_date_indices_is_left_to_retain() -> None:
    """
    Before OpenSearch 3.4 policies count from when an index was made: nothing is handed over.
    """
    version = {"distribution": "opensearch", "number": "2.19.0"}
    with scripted(version=version, others=three_months) as server:
        client = Client([server.url])
        assert not hand_over_sealed(client, "leadline", ENDS)
        client.close()
        assert server.calls("POST") == []
