"""
Accounts of a small site's own: names and scrypt hashes in one file, for who has no single sign-on.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from base64 import b64decode, b64encode
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from leadline.errors import SettingsError
from leadline.web.shared import Tries

COST, BLOCK, LANES = 1 << 14, 8, 1  # 16 MiB and some 50 ms a try
SHORTEST = 10  # characters of a password
NAME = re.compile(r"[A-Za-z0-9._@+-]{1,64}")


def hashed(password: str) -> str:
    """
    scrypt$16384$8$1$salt$hash, to be kept in the file.
    """
    salt = secrets.token_bytes(16)
    parts = (str(COST), str(BLOCK), str(LANES), _text(salt), _text(_hash(password, salt)))
    return "$".join(("scrypt", *parts))


def fits(password: str, kept: str) -> bool:
    name, cost, block, lanes, salt, wanted = kept.split("$")
    found = _hash(password, b64decode(salt), int(cost), int(block), int(lanes))
    return name == "scrypt" and hmac.compare_digest(found, b64decode(wanted))


def _hash(
    password: str, salt: bytes, cost: int = COST, block: int = BLOCK, lanes: int = LANES
) -> bytes:
    room = 64 * 1024 * 1024
    return hashlib.scrypt(password.encode(), salt=salt, n=cost, r=block, p=lanes, maxmem=room)


def _text(data: bytes) -> str:
    return b64encode(data).decode()


def read(path: Path) -> dict[str, str]:
    """
    Name and hash of every account.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from None
    found = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _colon, kept = line.partition(":")
        if not NAME.fullmatch(name) or not re.fullmatch(r"scrypt(\$[^$]+){5}", kept):
            raise SettingsError(
                f"{path} line {number}: no account; `leadline accounts` writes them"
            )
        found[name] = kept
    return found


def write(path: Path, known: dict[str, str]) -> None:
    """
    All accounts, in one stroke, for the owner only.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    beside = path.with_name(f"{path.name}.new")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as out:
        out.writelines(f"{name}:{kept}\n" for name, kept in sorted(known.items()))
        out.flush()
        os.fsync(out.fileno())
    beside.replace(path)


class Accounts:
    """
    Who may sign in. Some wrong tries for one name, and that name has to wait.
    """

    def __init__(self, path: Path, clock: Callable[[], datetime]) -> None:
        self.path = path
        self.tries = Tries(path.parent / f"{path.name}.wrong", clock)

    def kept(self, name: str) -> str:
        """
        The hash of NAME's password; empty of who has no account.
        """
        return read(self.path).get(name, "")

    def lets_in(self, name: str, password: str) -> bool:
        if not NAME.fullmatch(name) or self.tries.waits(name):
            return False
        kept = self.kept(name)
        # A name nobody has costs as much time as one that somebody has.
        good = fits(password, kept or NOBODY) and kept != ""
        if not good:
            self.tries.wrong(name)
        return good


NOBODY = f"scrypt${COST}${BLOCK}${LANES}${_text(bytes(16))}${_text(bytes(64))}"
