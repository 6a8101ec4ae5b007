"""
Step `identity`: the user's group, and the groups above it, as they were on the document's day.
"""

from __future__ import annotations

from enrich.step import Context, Fields, Step
from leadline.formats import DATASETS

CONCERNED = frozenset(name for name, dataset in DATASETS.items() if "user.group" in dataset.by_name)
FIELDS = ("user.group", "user.metagroup")
TODAY = "9999-12-31"  # for documents of no day: what holds for good


def build(context: Context) -> Step:
    identities = context.identities

    def belong(
        user: str | None, recorded: str | None, day: str | None, cluster: str | None
    ) -> Fields:
        if user is None:
            return {"user.group": recorded} if recorded else {}
        found = identities.of(user, day or TODAY, cluster or "", recorded)
        fields: dict[str, object] = {}
        if found.group is not None:
            fields["user.group"] = found.group
        if found.metagroups:
            fields["user.metagroup"] = list(found.metagroups)
        return fields

    return Step(
        name="identity",
        reads=("user.name", "user.group", "local.day", "cluster"),
        writes=FIELDS,
        compute=belong,
        datasets=CONCERNED,
    )
