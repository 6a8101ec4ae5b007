"""
Fixtures that every room may use.
"""

from tests.opensearch_fixture import opensearch, opensearch_ready, opensearch_store

__all__ = ["opensearch", "opensearch_ready", "opensearch_store"]
