"""
Fixtures that every room may use.
"""

import os
import shutil
import tempfile

import pytest

from leadline.language import ENGLISH, use
from tests.any_store import other
from tests.opensearch_fixture import opensearch, opensearch_ready, opensearch_store

__all__ = ["opensearch", "opensearch_ready", "opensearch_store", "other"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="Write golden files anew; review the diff."
    )


def pytest_configure(config: pytest.Config) -> None:
    """
    What a test does not place elsewhere lies here: never in the data folder of who runs them.
    """
    os.environ["LEADLINE_DATA"] = tempfile.mkdtemp(prefix="leadline-tests-")


def pytest_unconfigure(config: pytest.Config) -> None:
    shutil.rmtree(os.environ.pop("LEADLINE_DATA"), ignore_errors=True)


@pytest.fixture(autouse=True)
def english() -> None:
    """
    A page asked for in French by one test is no reason that the next one reads French.
    """
    use(ENGLISH)


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """
    However wide the terminal is in which the tests are run, none of them prints to it.
    """
    monkeypatch.delenv("COLUMNS", raising=False)
