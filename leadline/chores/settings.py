"""
What the chores do without being asked.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ChoreSettings:
    retain: bool = True  # delete daily what `retention` no longer keeps, raw months once sealed
