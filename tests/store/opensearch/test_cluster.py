"""
More than one node: what a killed node takes away comes back, and nothing is lost or doubled.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator

import pytest

from leadline.formats import Document
from leadline.settings.common import RetentionSettings
from leadline.store.contract import Outcome
from leadline.store.opensearch.bulk import Backoff
from leadline.store.opensearch.client import Client
from leadline.store.opensearch.node import Node, cluster, scratch_folder
from leadline.store.opensearch.settings import OpenSearchSettings
from leadline.store.opensearch.setup import set_up
from leadline.store.opensearch.store import OpenSearchStore
from leadline.store.scope import EVERYTHING
from tests.store.documents import process

WORKERS = 2
BATCHES = 60
BATCH = 500


@pytest.fixture(scope="module")
def nodes() -> Iterator[list[Node]]:
    folder = scratch_folder()
    folder.chmod(0o755)
    started = cluster(folder, 3, heap="384m", tied=True)
    yield started
    for node in started:
        node.kill()
    shutil.rmtree(folder, ignore_errors=True)


def batches(worker: int) -> Iterator[list[Document]]:
    for number in range(BATCHES):
        first = (worker * BATCHES + number) * BATCH
        yield [
            process(n, **{"host.name": f"c{worker}", "core_seconds": 1.0})
            for n in range(first, first + BATCH)
        ]


def write_all(store: OpenSearchStore, worker: int, total: Outcome) -> None:
    """
    As a worker does: what is kept is tried again until it is stored.
    """
    for batch in batches(worker):
        waiting = batch
        while waiting:
            outcome = store.write(waiting, "create")
            waiting, outcome.kept = outcome.kept, []
            total.add(outcome)
        time.sleep(0.02)


@pytest.mark.opensearch
@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_node_killed_while_two_workers_write(nodes: list[Node]) -> None:
    """
    Every document is there exactly once, and health told of the trouble while it lasted.
    """
    urls = [node.url for node in nodes]
    client = Client([urls[0]])
    set_up(client, "leadline", OpenSearchSettings(replicas="1-1"), RetentionSettings())
    stores = [OpenSearchStore(urls, backoff=Backoff(0.1, 2, 60)) for _ in range(WORKERS)]
    totals = [Outcome() for _ in range(WORKERS)]
    threads = [
        threading.Thread(target=write_all, args=(store, number, total))
        for number, (store, total) in enumerate(zip(stores, totals, strict=True))
    ]
    for thread in threads:
        thread.start()
    time.sleep(1)
    nodes[2].kill()
    deadline = time.monotonic() + 60
    while (health := stores[0].health()).problems == () and time.monotonic() < deadline:
        time.sleep(0.1)
    assert "yellow" in health.problems[0] or "red" in health.problems[0]
    nodes[2].start()
    for thread in threads:
        thread.join()
    nodes[0].await_health(time.monotonic() + 120, "green", 3)

    hosts = [d["host.name"] for page in stores[0].scan("process", EVERYTHING) for d in page]
    expected = BATCHES * BATCH
    assert [hosts.count(f"c{worker}") for worker in range(WORKERS)] == [expected] * WORKERS
    for total in totals:
        assert total.accepted + total.duplicate == expected
        assert total.rejected == []
    assert stores[0].health().problems == ()
    for store in stores:
        store.close()
    client.close()
