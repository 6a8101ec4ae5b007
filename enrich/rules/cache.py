"""
A command seen before costs a look-up: rules behind a bounded cache, with its hits counted.
"""

from enrich.cache import Cache
from enrich.rules.match import Match, Rules

ENTRIES = 100_000
CHARACTERS = 64_000_000

_Key = tuple[str | None, str | None, str | None]


class CachedRules:
    def __init__(
        self, rules: Rules, *, entries: int = ENTRIES, characters: int = CHARACTERS
    ) -> None:
        self.rules = rules
        self.version = rules.version
        self.calls = 0
        self._cache: Cache[_Key, Match] = Cache(
            lambda key: rules.match(*key), entries=entries, characters=characters, size=_size
        )
        self._young = self._cache.young

    @property
    def misses(self) -> int:
        return self._cache.misses

    @property
    def hits(self) -> int:
        return self.calls - self.misses

    def __len__(self) -> int:
        return len(self._cache)

    def match(self, name: str | None, executable: str | None, command_line: str | None) -> Match:
        self.calls += 1
        key = (name, executable, command_line)
        found = self._young.get(key)
        return self._cache.find(key) if found is None else found


def _size(key: _Key) -> int:
    return sum(len(part) for part in key if part)
