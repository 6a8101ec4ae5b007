"""
Bounded memory for what was computed before.

Two generations instead of a list of last uses: when the young one is full it becomes the old one,
and what is asked again moves back. A hit costs one look-up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Cache(Generic[K, V]):
    """
    `young` may be asked directly; a miss there goes to `find`, which computes what is not known.
    """

    def __init__(
        self,
        compute: Callable[[K], V],
        *,
        entries: int = 200_000,
        characters: int = 64_000_000,
        size: Callable[[K], int] = lambda key: 0,
    ) -> None:
        self.young: dict[K, V] = {}
        self.misses = 0
        self._old: dict[K, V] = {}
        self._compute = compute
        self._entries = max(1, entries // 2)
        self._characters = max(1, characters // 2)
        self._size = size
        self._held = 0

    def find(self, key: K) -> V:
        found = self.young.get(key)
        if found is not None:
            return found
        found = self._old.pop(key, None)  # several threads may be here at once
        if found is None:
            self.misses += 1
            found = self._compute(key)
        if len(self.young) >= self._entries or self._held > self._characters:
            self._old = self.young.copy()
            self.young.clear()  # the same object: others hold on to it
            self._held = 0
        self.young[key] = found
        self._held += self._size(key)
        return found

    def __len__(self) -> int:
        return len(self.young) + len(self._old)
