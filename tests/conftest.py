"""
Fixtures that every room may use.
"""

import pytest

from tests.opensearch_fixture import opensearch, opensearch_ready, opensearch_store

__all__ = ["opensearch", "opensearch_ready", "opensearch_store"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="Write golden files anew; review the diff."
    )
