"""
What tests need of the machine. Without it a test is skipped and says how to get it; in CI, which
installs everything, a missing one is a failure.
"""

import os
import shutil
from typing import NoReturn

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def lacking(reason: str) -> NoReturn:
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def program(*names: str, package: str) -> str:
    """
    The path of the first of NAMES that is here; PACKAGE has them.
    """
    path = next((path for name in names if (path := shutil.which(name))), None)
    return path or lacking(f"{names[0]} is missing: apt-get install {package}")


def chromium() -> str:
    return program(*BROWSERS, package="chromium")
