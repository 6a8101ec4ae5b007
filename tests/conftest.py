"""
Fixtures that every room may use.
"""

from tests.opensearch_fixture import opensearch

__all__ = ["opensearch"]
