"""
Scripts of others that tests load into Chromium: `bin/npm-scripts` fetches them, CI must have them.
"""

from pathlib import Path

from tests.needs import lacking

FOLDER = Path(__file__).resolve().parents[1] / ".cache" / "npm" / "node_modules"


def script(name: str) -> Path:
    """
    The file NAME of a package in tests/npm; without it the test is skipped, but not in CI.
    """
    path = FOLDER / name
    if not path.exists():
        lacking(f"{name} is missing: bin/npm-scripts fetches it (needs npm)")
    return path
