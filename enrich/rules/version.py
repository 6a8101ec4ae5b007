"""
The version of a program as the folder it was installed in tells it.
"""

import re
from collections.abc import Iterable

_VERSION = r"v?(\d+(?:\.\d+)*[a-z]?\d*)(?:[-_+/]|$)"
_PLAIN = re.compile(r"[^a-z0-9+]")


def version_in_path(path: str, names: Iterable[str]) -> str | None:
    """
    The version after one of NAMES in PATH: `…/GROMACS/2024.1-foss/…`, `…/gromacs-2023.3-k2/…`.
    """
    if not path:
        return None
    low = path.lower()
    for name in names:
        plain = name.lower()
        start = low.find(plain)
        while plain and start >= 0:
            end = start + len(plain)
            if (start == 0 or not low[start - 1].isalnum()) and low[end : end + 1] in "/-_.":
                found = re.match(_VERSION, low[end + 1 :])
                if found and low[end : end + 1]:
                    return found[1]
            start = low.find(plain, end)
    return None
