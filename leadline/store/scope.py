"""
Who is asking. Every question carries a scope, so that no caller can forget it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from leadline.store.plan import Condition, Op


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """
    What the asker may see: everything, or only documents of some users or groups, or totals only.
    """

    everything: bool = False
    users: frozenset[str] = field(default_factory=frozenset)
    groups: frozenset[str] = field(default_factory=frozenset)
    totals_only: bool = False

    def conditions(self) -> tuple[Condition, ...]:
        """
        What must hold in addition, any one of them, for a document to be seen; () is no limit.
        """
        if self.everything or self.totals_only:
            return ()
        return (
            Condition("user.name", Op.IN, tuple(sorted(self.users))),
            Condition("user.group", Op.IN, tuple(sorted(self.groups))),
        )


EVERYTHING = Scope(everything=True)
