"""
A node of one's own, ready to be written to: what `leadline up --opensearch` starts.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from leadline.formats.templates import PREFIX
from leadline.settings.common import RetentionSettings
from leadline.store.opensearch.client import Client
from leadline.store.opensearch.node import Node, place_for
from leadline.store.opensearch.settings import OpenSearchSettings
from leadline.store.opensearch.setup import set_up

SOON = "3s"  # whoever tries it wants to see what happens


def start_local(
    folder: Path, settings: OpenSearchSettings, retention: RetentionSettings, heap: str = "1g"
) -> Node:
    """
    Start a node that keeps its data in `folder`, set up; it ends with this process.
    """
    node = Node(place_for(folder), heap=heap, light=False, tied=True)
    client = Client([node.start()])
    try:
        set_up(client, PREFIX, replace(settings, refresh=SOON), retention)
    except BaseException:
        node.stop()
        raise
    finally:
        client.close()
    return node
