"""
A command seen before costs a look-up: a bounded cache around the rules, with its hits counted.

Two generations instead of a list of last uses: when the young one is full it becomes the old one,
and what is asked again moves back. No command costs more than two look-ups.
"""

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
        self.misses = 0
        self.calls = 0
        self._young: dict[_Key, Match] = {}
        self._old: dict[_Key, Match] = {}
        self._entries = max(1, entries // 2)
        self._characters = max(1, characters // 2)
        self._held = 0

    @property
    def hits(self) -> int:
        return self.calls - self.misses

    @property
    def hit_rate(self) -> float | None:
        return self.hits / self.calls if self.calls else None

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    def match(self, name: str | None, executable: str | None, command_line: str | None) -> Match:
        self.calls += 1
        key = (name, executable, command_line)
        found = self._young.get(key)
        return found if found is not None else self._older(key)

    def _older(self, key: _Key) -> Match:
        found = self._old.pop(key, None)
        if found is None:
            self.misses += 1
            found = self.rules.match(*key)
        size = sum(len(part) for part in key if part)
        if len(self._young) >= self._entries or self._held + size > self._characters:
            self._old, self._young, self._held = self._young, {}, 0
        self._young[key] = found
        self._held += size
        return found
