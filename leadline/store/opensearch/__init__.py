"""
OpenSearch as the store, for more than one machine: time-based indices, templates, lifecycle, and
the same answers as the lake gives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leadline.store.opensearch.store import OpenSearchStore

__all__ = ["OpenSearchStore"]


def __getattr__(name: str) -> Any:
    """
    The store on first use: settings are read by every command, also on nodes that never use it.
    """
    if name == "OpenSearchStore":
        from leadline.store.opensearch.store import OpenSearchStore

        return OpenSearchStore
    raise AttributeError(name)
