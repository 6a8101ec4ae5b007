"""
OpenSearch as the store, for more than one machine: time-based indices, templates, lifecycle, and
the same answers as the lake gives.
"""

from leadline.store.opensearch.store import OpenSearchStore

__all__ = ["OpenSearchStore"]
