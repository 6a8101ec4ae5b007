"""
The section `client`: where commands that speak to the pages find them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from leadline.settings.typed import Duration


@dataclass(frozen=True)
class ClientSettings:
    pages: str = ""  # address of the pages, with their prefix; empty: those of this machine
    token_file: Path | None = None  # the token they want; empty: that of web.token_file
    every: Duration = Duration(5)  # how often `leadline top` looks
