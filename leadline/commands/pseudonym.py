"""
The key that names' pseudonyms are made with: the settings', the shippers', or one made here.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path

from leadline.chores.settings import PrivacySettings
from leadline.commands.context import Context
from leadline.formats.pseudonyms import Pseudonyms
from shipper.settings import CollectSettings


def alias_of(context: Context) -> Callable[[str], str] | None:
    """
    What makes a pseudonym of a name. None: several machines share the store, and no key is named.
    """
    named = context.settings.get("privacy", PrivacySettings).key
    named = named or context.settings.get("collect", CollectSettings).redact.pseudonym_key
    if named is None and not context.store_address.startswith("lake"):
        return None
    if named is not None:
        return Pseudonyms(named).of
    kept: list[Pseudonyms] = []

    def alias(name: str) -> str:
        if not kept:  # no key is made before there is a name to hide
            kept.append(Pseudonyms(_own(context.paths.state / "pseudonym.key")))
        return kept[0].of(name)

    return alias


def _own(path: Path) -> Path:
    """
    One machine has the lake, so it can keep the key: made once, for its owner alone.
    """
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        beside = path.with_name(f"{path.name}.{os.getpid()}")
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(32) + "\n")
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(beside, path)  # the first of two wins, and both use its key
        except FileExistsError:
            pass
        finally:
            beside.unlink()
    return path
