"""
The node that `leadline up --opensearch` starts.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from leadline.settings.common import RetentionSettings
from leadline.store.opensearch.local import start_local
from leadline.store.opensearch.node import other_account, place_for, scratch_folder
from leadline.store.opensearch.settings import OpenSearchSettings
from leadline.store.opensearch.store import OpenSearchStore
from leadline.store.scope import EVERYTHING
from tests.store.documents import process


@pytest.mark.opensearch
@pytest.mark.slow
def test_a_local_node_is_ready_and_keeps_what_it_was_given() -> None:
    """
    Set up when it comes back, and after a restart all is there.
    """
    folder = scratch_folder()
    try:
        for expected in (1, 2):
            node = start_local(folder, OpenSearchSettings(), RetentionSettings(), heap="512m")
            store = OpenSearchStore([node.url])
            store.write([process(expected)], "create")
            found = [d for page in store.scan("process", EVERYTHING) for d in page]
            store.close()
            node.stop()
            assert len(found) == expected
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_root_with_a_closed_data_folder_gets_another_place(tmp_path: Path) -> None:
    """
    The account a node of root runs as cannot enter a folder of mode 0700.
    """
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    place = place_for(closed / "opensearch")
    if other_account() is None:
        assert place == closed / "opensearch"
    else:
        assert place.parent == Path("/var/lib/leadline-opensearch")
        assert place_for(Path("/var/tmp/x")) == Path("/var/tmp/x")
