"""
What the chores do without being asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class ChoreSettings:
    retain: bool = True  # delete daily what `retention` no longer keeps, raw months once sealed


@dataclass(frozen=True)
class PrivacySettings:
    key: Path | None = None  # file with the key of pseudonyms; empty: collect.redact.pseudonym_key
