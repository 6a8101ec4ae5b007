"""
Each answer an engine can give to a batch, and the pile its documents must land on.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from leadline.formats.ids import document_id
from leadline.store.contract import Outcome
from leadline.store.opensearch.bulk import LARGEST, SMALLEST, Backoff
from leadline.store.opensearch.store import OpenSearchStore
from tests.opensearch_fixture import TEST_PREFIX
from tests.store.documents import job, process
from tests.store.opensearch.scripted import Asked, Reply, Script, Scripted, items, scripted, stored

BATCH = [process(number) for number in range(5)]


def total(outcome: Outcome) -> int:
    rejected, kept = len(outcome.rejected), len(outcome.kept)
    return outcome.accepted + outcome.duplicate + rejected + kept


@contextmanager
def store_on(server: Scripted, patience: float = 5, first: float = 0) -> Iterator[OpenSearchStore]:
    store = OpenSearchStore([server.url], backoff=Backoff(first, 0.01, patience))
    yield store
    store.close()


def once(first: Reply | None, *, at: int = 0) -> Script:
    """
    One odd answer, then everything is stored.
    """
    seen: list[int] = []

    def script(asked: Asked) -> Reply | None:
        seen.append(1)
        return first if len(seen) == at + 1 else stored(asked)

    return script


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "mapper_parsing_exception"),
        (400, "strict_dynamic_mapping_exception"),
        (400, "illegal_argument_exception"),
    ],
)
def test_a_document_at_fault_is_rejected_alone(status: int, kind: str) -> None:
    """
    A 400 about one document is a dead letter with its reason; the rest is stored.
    """
    with scripted(lambda a: items(a, {2: (status, kind)})) as server, store_on(server) as store:
        outcome = store.write(BATCH, "create")
    assert (outcome.accepted, outcome.kept, outcome.pause) == (4, [], False)
    ((document, reason),) = outcome.rejected
    assert document == BATCH[2]
    assert kind in reason


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (403, "cluster_block_exception"),
        (400, "index_closed_exception"),
        (400, "validation_exception"),
        (403, "security_exception"),
    ],
)
def test_an_index_at_fault_keeps_the_documents(status: int, kind: str) -> None:
    """
    The state of an index or the cluster is no document's fault: kept, with a pause and a reason.
    """
    with scripted(lambda a: items(a, {2: (status, kind)})) as server, store_on(server) as store:
        outcome = store.write(BATCH, "create")
    assert (outcome.accepted, outcome.rejected, outcome.pause) == (4, [], True)
    assert outcome.kept == [BATCH[2]]
    assert kind in outcome.reason


def test_what_is_there_already_is_a_duplicate() -> None:
    """
    409 of an item: acknowledged and counted, neither sent again nor kept.
    """
    conflict = {1: (409, "version_conflict_engine_exception")}
    with scripted(lambda a: items(a, conflict)) as server, store_on(server) as store:
        outcome = store.write(BATCH, "create")
        assert len(server.calls("POST", "/_bulk")) == 1
    assert (outcome.accepted, outcome.duplicate, total(outcome)) == (4, 1, 5)


@pytest.mark.parametrize(
    ("status", "kind"),
    [(429, "rejected_execution"), (429, "cluster_block_exception"), (503, "unavailable")],
)
def test_a_busy_engine_gets_only_those_documents_again(status: int, kind: str) -> None:
    """
    429 and 5xx of an item: the same item again, not its neighbours.
    """
    answers = iter([{1: (status, kind), 3: (status, kind)}, {1: (status, kind)}, {}])
    with scripted(lambda a: items(a, next(answers))) as server, store_on(server) as store:
        outcome = store.write(BATCH, "create")
        sent = [call.ids for call in server.calls("POST", "/_bulk")]
    ids = [document_id(document) for document in BATCH]
    assert (outcome.accepted, total(outcome)) == (5, 5)
    assert sent == [ids, [ids[1], ids[3]], [ids[3]]]


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_a_whole_request_refused_is_sent_again(status: int) -> None:
    """
    A small heap refuses a request whole: retried like its items.
    """
    refusal = (status, {"error": {"type": "circuit_breaking_exception", "reason": "too large"}})
    with scripted(once(refusal)) as server, store_on(server) as store:
        outcome = store.write(BATCH, "create")
        assert len(server.calls("POST", "/_bulk")) == 2
    assert (outcome.accepted, total(outcome)) == (5, 5)


def test_a_busy_engine_gets_smaller_bodies() -> None:
    """
    Every 429 halves what is sent at once, success lets it grow again.
    """
    refusal = (429, {"error": {"type": "circuit_breaking_exception", "reason": "too large"}})
    with scripted(once(refusal)) as server, store_on(server) as store:
        store.write(BATCH, "create")
        assert store.sender.size < LARGEST
        for number in range(20):
            store.write([process(number)], "create")
        assert store.sender.size == LARGEST


def test_bodies_stay_below_their_size() -> None:
    """
    A long batch is cut into bodies, each of whole documents.
    """
    batch = [process(n, **{"process.command_line": "x" * 5000}) for n in range(100)]
    with scripted() as server, store_on(server) as store:
        store.sender.size = SMALLEST
        outcome = store.write(batch, "create")
        bodies = [call.body for call in server.calls("POST", "/_bulk")]
    assert outcome.accepted == 100
    assert len(bodies) > 4
    assert max(map(len, bodies)) < SMALLEST * 1.5


def test_a_cut_connection_is_tried_again() -> None:
    """
    No answer at all: the engine may have stored it or not; ids make the repeat harmless.
    """
    with scripted(once(None)) as server, store_on(server) as store:
        outcome = store.write(BATCH, "create")
    assert (outcome.accepted, total(outcome)) == (5, 5)


def test_an_engine_that_stays_busy_gives_documents_back() -> None:
    """
    Patience ends: nothing is lost, nothing is counted twice, the reason is told.
    """
    busy = (429, {"error": {"type": "circuit_breaking_exception", "reason": "too large"}})
    with scripted(lambda a: busy) as server, store_on(server, patience=0.05) as store:
        outcome = store.write(BATCH, "create")
    assert (outcome.accepted, outcome.kept) == (0, BATCH)
    assert "too large" in outcome.reason


def test_an_absent_engine_gives_documents_back() -> None:
    """
    Connection refused: kept, and the worker is told to wait.
    """
    store = OpenSearchStore(["http://127.0.0.1:9"], backoff=Backoff(0, 0.01, 0.05))
    outcome = store.write(BATCH, "create")
    store.close()
    assert (outcome.kept, outcome.pause) == (BATCH, True)
    assert "127.0.0.1:9" in outcome.reason


@pytest.mark.parametrize("status", [401, 403])
def test_wrong_credentials_pause(status: int) -> None:
    """
    The whole request forbidden is a matter of settings, never of documents.
    """
    answer = (status, {"error": {"type": "security_exception", "reason": "no"}})
    with scripted(lambda a: answer) as server, store_on(server) as store:
        outcome = store.write(BATCH, "create")
    assert (outcome.kept, outcome.pause) == (BATCH, True)


@pytest.mark.parametrize("status", [400, 413])
def test_a_body_refused_whole_is_cut_down_to_the_one_at_fault(status: int) -> None:
    """
    Halves of halves: only the document that no engine takes is rejected.
    """
    bad = document_id(BATCH[3])

    def picky(asked: Asked) -> Reply:
        if bad in asked.ids:
            return status, {"error": {"type": "too_large", "reason": "scripted"}}
        return stored(asked)

    with scripted(picky) as server, store_on(server) as store:
        outcome = store.write(BATCH, "create")
    assert (outcome.accepted, [d for d, _ in outcome.rejected]) == (4, [BATCH[3]])


def test_a_deleted_index_is_made_again() -> None:
    """
    404 of an item: somebody deleted the index under us.
    """
    answers = iter([{0: (404, "index_not_found_exception")}, {}])
    with scripted(lambda a: items(a, next(answers))) as server, store_on(server) as store:
        outcome = store.write(BATCH, "create")
        made = [call.path for call in server.calls("PUT")]
    assert (outcome.accepted, total(outcome)) == (5, 5)
    assert made == ["/leadline-process-2026.11"] * 2


def test_corrections_carry_their_version() -> None:
    """
    What may be corrected is written by record.version, so that an older dump changes nothing.
    """
    with scripted() as server, store_on(server) as store:
        store.write([job(1, version=7)], "replace")
        (call,) = server.calls("POST", "/_bulk")
    action = call.lines[0]["index"]
    assert (action["version"], action["version_type"]) == (7, "external_gte")
    assert action["_index"] == "leadline-job-2026"


@pytest.mark.opensearch
def test_a_blocked_index_on_a_real_node(opensearch_store: OpenSearchStore) -> None:
    """
    A write block keeps the documents; when it goes, they go in.
    """
    store = opensearch_store
    store.write(BATCH[:1], "create")
    index = f"{TEST_PREFIX}-process-2026.11"
    store.client.put(f"/{index}/_settings", {"index.blocks.write": True})
    outcome = store.write(BATCH, "create")
    assert (outcome.kept, outcome.pause) == (BATCH, True)
    assert "blocked" in outcome.reason
    assert "closed to writing" in store.health().problems[-1]
    store.client.put(f"/{index}/_settings", {"index.blocks.write": None})
    outcome = store.write(outcome.kept, "create")
    assert (outcome.accepted, outcome.duplicate) == (4, 1)


@pytest.mark.opensearch
def test_a_full_disk_on_a_real_node(opensearch_store: OpenSearchStore) -> None:
    """
    The engine's own block of a full disk answers 429: kept, and stored once there is room.
    """
    store = opensearch_store
    store.write([process(1)], "create")
    index = f"{TEST_PREFIX}-process-2026.11"
    block = "index.blocks.read_only_allow_delete"
    store.sender.backoff = Backoff(0, 0.01, 0.1)
    store.client.put(f"/{index}/_settings", {block: True})
    try:
        outcome = store.write([process(2)], "create")
        assert (outcome.kept, outcome.rejected) == ([process(2)], [])
        assert "429" in outcome.reason
        assert "disk usage" in outcome.reason
        assert not store.health().ok
    finally:
        store.client.put(f"/{index}/_settings", {block: None})
    assert store.write(outcome.kept, "create").accepted == 1


def test_a_closed_index_on_a_real_node(opensearch_store: OpenSearchStore) -> None:
    """
    A closed index keeps the documents.
    """
    store = opensearch_store
    store.write(BATCH[:1], "create")
    store.client.post(f"/{TEST_PREFIX}-process-2026.11/_close")
    outcome = store.write(BATCH, "create")
    assert (outcome.kept, outcome.pause) == (BATCH, True)


@pytest.mark.opensearch
def test_the_limit_of_shards_on_a_real_node(opensearch_store: OpenSearchStore) -> None:
    """
    A cluster that takes no more shards keeps the documents and says so.
    """
    store = opensearch_store
    limit = "cluster.max_shards_per_node"
    store.write([job(1)], "replace")
    store.client.put("/_cluster/settings", {"persistent": {limit: 1}})
    try:
        outcome = store.write(BATCH, "create")
    finally:
        store.client.put("/_cluster/settings", {"persistent": {limit: None}})
    assert (outcome.kept, outcome.pause) == (BATCH, True)
    assert "shards open" in outcome.reason


@pytest.mark.opensearch
def test_an_index_deleted_under_us_on_a_real_node(opensearch_store: OpenSearchStore) -> None:
    """
    Nothing makes it by itself with a wrong date: it is made anew as it should be.
    """
    store = opensearch_store
    store.write(BATCH[:1], "create")
    store.client.demand("DELETE", f"/{TEST_PREFIX}-process-2026.11")
    outcome = store.write(BATCH, "create")
    assert (outcome.accepted, total(outcome)) == (5, 5)


@pytest.mark.opensearch
def test_without_setup_nothing_is_written(opensearch: str) -> None:
    """
    An engine without our templates would guess the mapping: the writer says what to run instead.
    """
    store = OpenSearchStore([opensearch], prefix="neverset")
    outcome = store.write(BATCH, "create")
    store.close()
    assert (outcome.kept, outcome.pause) == (BATCH, True)
    assert "leadline setup" in outcome.reason
