"""
Step `identity`: the user's group, and the groups above it, as they were on the day of the document.
"""

from __future__ import annotations

from collections import Counter

from enrich.cache import Cache
from enrich.identity import UNKNOWN, Identity
from enrich.step import Context
from leadline.formats import DATASETS, Document

CONCERNED = frozenset(name for name, dataset in DATASETS.items() if "user.group" in dataset.by_name)
FIELDS = ("user.group", "user.metagroup")
USERS_COUNTED = 10_000  # distinct unknown users told by name

Key = tuple[str, str, str, str | None]


class IdentityStep:
    name = "identity"

    def __init__(self, context: Context) -> None:
        identities = context.identities
        self._idle = identities.empty
        self.unknown: Counter[str] = Counter()  # documents by user nobody knows
        self._cache: Cache[Key, Identity] = Cache(lambda key: identities.of(*key))

    def __call__(self, document: Document) -> None:
        user = document.get("user.name")
        if self._idle or user is None or document["dataset"] not in CONCERNED:
            return
        day = document.get("local.day") or document["@timestamp"]
        recorded = document.get("user.group")
        key: Key = (str(user), str(day)[:10], str(document.get("cluster")), recorded)  # type: ignore[assignment]
        found = self._cache.young.get(key) or self._cache.find(key)
        if found.group is not None:
            document["user.group"] = found.group
            if found.group == UNKNOWN and (
                user in self.unknown or len(self.unknown) < USERS_COUNTED
            ):
                self.unknown[str(user)] += 1
        if found.metagroups:
            document["user.metagroup"] = list(found.metagroups)
        elif "user.metagroup" in document:
            del document["user.metagroup"]


def build(context: Context) -> IdentityStep:
    return IdentityStep(context)
