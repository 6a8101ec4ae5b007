"""
Scripts of others that tests load into Chromium: `bin/npm-scripts` fetches them, CI must have them.
"""

import os
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / ".cache" / "npm" / "node_modules"


def script(name: str) -> Path:
    """
    The file NAME of a package in tests/npm; without it the test is skipped, but not in CI.
    """
    path = FOLDER / name
    if not path.exists():
        if os.environ.get("CI") == "true":
            pytest.fail(f"{name} is missing: bin/npm-scripts fetches it")
        pytest.skip(f"{name} is missing: bin/npm-scripts fetches it (needs npm)")
    return path
