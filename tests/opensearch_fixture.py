"""
One real OpenSearch node for the whole test session; LEADLINE_TEST_OPENSEARCH=URL uses another one.
"""

import os
import shutil
import sys
from collections.abc import Iterator

import pytest

from leadline.settings.common import RetentionSettings
from leadline.store.opensearch import OpenSearchStore
from leadline.store.opensearch.client import Client
from leadline.store.opensearch.lifecycle import periods
from leadline.store.opensearch.node import Node, scratch_folder
from leadline.store.opensearch.settings import OpenSearchSettings
from leadline.store.opensearch.setup import set_up

TEST_PREFIX = "leadlinetest"
SETTINGS = OpenSearchSettings(refresh="60s")  # only what asks to see sees


@pytest.fixture(scope="session")
def opensearch(request: pytest.FixtureRequest) -> Iterator[str]:
    """
    Its URL. Tests share the node: each uses an index prefix of its own.
    """
    if url := os.environ.get("LEADLINE_TEST_OPENSEARCH"):
        yield url
        return
    node = Node(scratch_folder(), heap="512m", tied=True)
    url = node.start()
    failed_before = request.session.testsfailed
    yield url
    node.stop()
    if request.session.testsfailed > failed_before:
        print(f"logs of the OpenSearch node: {node.log.parent}", file=sys.stderr)
        shutil.rmtree(node.folder / "data", ignore_errors=True)
    else:
        shutil.rmtree(node.folder, ignore_errors=True)


@pytest.fixture(scope="session")
def opensearch_ready(opensearch: str) -> str:
    """
    The same node after `leadline setup`, under the prefix TEST_PREFIX.
    """
    client = Client([opensearch])
    remove_indices(client)
    set_up(client, TEST_PREFIX, SETTINGS, RetentionSettings())
    client.close()
    return opensearch


@pytest.fixture
def opensearch_store(opensearch_ready: str) -> Iterator[OpenSearchStore]:
    """
    An empty store: indices of tests before it are removed.
    """
    store = OpenSearchStore([opensearch_ready], prefix=TEST_PREFIX, settings=SETTINGS)
    remove_indices(store.client)
    yield store
    store.close()


def remove_indices(client: Client) -> None:
    for index in periods(client, TEST_PREFIX):
        client.demand("DELETE", f"/{index}")
