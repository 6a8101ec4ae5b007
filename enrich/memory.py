"""
Less work for Python's collector: documents hold no cycles, and there are very many of them.
"""

from __future__ import annotations

import gc


def calm_collector() -> None:
    """
    Look for cycles only after many more objects than usual.

    Without this a third of the time of reading files goes into looking at rules and caches again.
    """
    gc.set_threshold(200_000, 50, 100)
