"""
What the engine would cut, estimate or half answer: read whole, or refused with a way out.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from leadline.errors import StoreError
from leadline.settings import Duration
from leadline.store.opensearch import aggregations
from leadline.store.opensearch.settings import OpenSearchSettings
from leadline.store.opensearch.store import OpenSearchStore
from leadline.store.plan import ROWS, Aggregate, Function, Group, Plan
from leadline.store.scope import EVERYTHING
from tests.store.documents import process
from tests.store.opensearch.scripted import Asked, Reply, scripted

COUNT = Aggregate("n", Function.COUNT)
BY_UPTIME = Plan(
    "process",
    (COUNT, Aggregate("users", Function.DISTINCT, "user.name")),
    by=(Group("sample.uptime"),),
)


@pytest.fixture
def filled(opensearch_store: OpenSearchStore) -> OpenSearchStore:
    batch = [process(n, **{"user.name": f"u{n % 10}"}) for n in range(50)]
    opensearch_store.write(batch, "create")
    return opensearch_store


@pytest.mark.opensearch
@pytest.mark.parametrize("of", [Function.DISTINCT, Function.MAX])
def test_more_groups_than_a_page_are_all_there(
    filled: OpenSearchStore, monkeypatch: pytest.MonkeyPatch, of: Function
) -> None:
    """
    Page after page, none twice; rows of sums alone in larger ones.
    """
    monkeypatch.setattr(aggregations, "PAGE", 7)
    monkeypatch.setattr(aggregations, "LIGHT_PAGE", 11)
    plan = replace(BY_UPTIME, aggregates=(COUNT, Aggregate("users", of, "user.name")))
    rows = filled.ask(plan, EVERYTHING)
    assert sorted(row["sample.uptime"] for row in rows) == list(range(50))  # type: ignore[type-var]
    told = {"users": 1} if of is Function.DISTINCT else {}
    assert all({**row, "n": 1, **told} == row for row in rows)


@pytest.mark.opensearch
def test_fifty_thousand_rows_of_sums_are_one_page(filled: OpenSearchStore) -> None:
    """
    The engine takes pages as large as they are asked for.
    """
    asked = []

    def search(body: dict[str, Any]) -> Any:
        asked.append(body)
        return filled.ask_engine("process", body)

    filled.refresh("process")
    summed = (COUNT, Aggregate("cpu", Function.SUM, "core_seconds"))
    plan = replace(BY_UPTIME, aggregates=summed)
    assert len(aggregations.answer(plan, EVERYTHING, search)) == 50
    (body,) = asked
    assert body["aggs"]["rows"]["composite"]["size"] == aggregations.LIGHT_PAGE


@pytest.mark.opensearch
@pytest.mark.parametrize(
    ("best", "users"), [("cpu", ["u9", "u8"]), ("-cpu", ["u1", "u2"]), ("n", ["u0", "u1"])]
)
def test_the_best_are_sent_and_the_rest_counted(
    opensearch_store: OpenSearchStore, best: str, users: list[str]
) -> None:
    """
    The greatest or the least first, what has no value last, ties by name.
    """
    used = [{"user.name": f"u{n}", **({"core_seconds": float(n)} if n else {})} for n in range(10)]
    batch = [{**process(n), **one} for n, one in enumerate(used)]
    batch[0].pop("core_seconds", None)
    opensearch_store.write(batch, "create")
    summed = (COUNT, Aggregate("cpu", Function.SUM, "core_seconds"))
    plan = Plan("process", summed, by=(Group("user.name"),), best=best, limit=2)
    rows = opensearch_store.ask(plan, EVERYTHING)
    assert [(row["user.name"], row[ROWS]) for row in rows] == [(user, 10) for user in users]


@pytest.mark.opensearch
@pytest.mark.parametrize("by", [(), (Group("cluster"),)])
def test_too_many_values_to_list_are_estimated(
    filled: OpenSearchStore, monkeypatch: pytest.MonkeyPatch, by: tuple[Group, ...]
) -> None:
    """
    Beyond what can be listed the engine's estimate stands in: right for few, near for many.
    """
    monkeypatch.setattr(aggregations, "EXACT_DISTINCT", 3)
    plan = Plan("process", (Aggregate("users", Function.DISTINCT, "user.name"),), by=by)
    (row,) = filled.ask(plan, EVERYTHING)
    assert row["users"] == 10


@pytest.mark.opensearch
def test_too_many_buckets_are_told_with_a_way_out(filled: OpenSearchStore) -> None:
    """
    An engine with a small limit: the message says what to ask instead.
    """
    limit = "search.max_buckets"
    filled.client.put("/_cluster/settings", {"persistent": {limit: 20}})
    try:
        with pytest.raises(StoreError, match="shorten the period, group by less"):
            filled.ask(BY_UPTIME, EVERYTHING)
    finally:
        filled.client.put("/_cluster/settings", {"persistent": {limit: None}})


def ask_scripted(reply: Reply, timeout: float = 5, delay: float = 0) -> None:
    def others(asked: Asked) -> Reply:
        if not asked.path.endswith("/_search"):
            return 0, None
        time.sleep(delay)
        return reply

    with scripted(others=others) as server:
        settings = OpenSearchSettings(timeout=Duration(timeout))
        store = OpenSearchStore([server.url], settings=settings)
        try:
            store.ask(BY_UPTIME, EVERYTHING)
        finally:
            store.close()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"timed_out": True, "hits": {}}, "in time: shorten the period"),
        ({"timed_out": False, "_shards": {"failed": 1}, "hits": {}}, "shards failed"),
    ],
)
def test_a_partial_answer_is_no_answer(answer: dict[str, object], message: str) -> None:
    """
    Figures from some of the shards would look like all of them.
    """
    with pytest.raises(StoreError, match=message):
        ask_scripted((200, answer))


def test_an_engine_that_does_not_answer_in_time() -> None:
    """
    The question ends with what to do, not with a traceback of sockets.
    """
    with pytest.raises(StoreError, match=r"in time.*opensearch\.timeout"):
        ask_scripted((200, {}), timeout=0.2, delay=0.6)


def test_a_full_heap_is_told_with_a_way_out() -> None:
    """
    429 of the circuit breaker on a question.
    """
    error = {"type": "circuit_breaking_exception", "reason": "[parent] Data too large"}
    with pytest.raises(StoreError, match="give it more heap"):
        ask_scripted((429, {"error": error}))
