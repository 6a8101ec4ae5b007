"""
A secret lies in a file of its own, never in the settings.
"""

from __future__ import annotations

from pathlib import Path

from leadline.errors import SettingsError


def secret(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from None
    if not text:
        raise SettingsError(f"{path}: empty; it should hold one secret")
    return text
