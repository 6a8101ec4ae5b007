"""
The interpreter made fit for a process that enriches and sends at the same time.
"""

from __future__ import annotations

import gc
import sys

TURN = 0.002  # seconds


def make_fit() -> None:
    """
    Look for cycles only after many more objects than usual, for documents hold none: without this
    a third of the time of reading files goes into looking at rules and caches again.

    And let threads take turns more often: a sender asks for its turn at every piece of a
    body that it hands to the network, and would wait for the enriching thread most of its time.
    """
    gc.set_threshold(200_000, 50, 100)
    sys.setswitchinterval(TURN)
