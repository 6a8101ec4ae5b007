"""
What comes too late to be kept: asked of the store now and then, for it changes once a day.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from leadline.errors import StoreError
from leadline.store.retention import Gone

SECONDS = 3600.0


class Expiry:
    """
    Calls answer which periods are gone; while the store is away, what it said last.
    """

    def __init__(
        self, ask: Callable[[], Gone], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._ask = ask
        self._clock = clock
        self._asked: float | None = None
        self._known = Gone()
        self._guard = threading.Lock()

    def __call__(self) -> Gone:
        with self._guard:
            now = self._clock()
            if self._asked is None or now - self._asked >= SECONDS:
                try:
                    self._known = self._ask()
                except (StoreError, OSError):
                    return self._known  # and asked again by the next batch
                self._asked = now
            return self._known


def nothing() -> Gone:
    return Gone()
