"""
One real OpenSearch node for the whole test session; LEADLINE_TEST_OPENSEARCH=URL uses another one.
"""

import os
import shutil
import sys
from collections.abc import Iterator

import pytest

from leadline.store.opensearch.node import Node, scratch_folder


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
    else:
        shutil.rmtree(node.folder, ignore_errors=True)
