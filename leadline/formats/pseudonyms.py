"""
Names of people as keyed pseudonyms: the same on every node and for years, for whoever has the key.
"""

from __future__ import annotations

import re
from base64 import b32encode
from pathlib import Path

from leadline.errors import SettingsError

SHORTEST = 16  # characters of a key
FORM = re.compile(r"u[a-z2-7]{16}", re.ASCII)


class Pseudonyms:
    """
    Keyed, so that nobody without the key gets names back.
    """

    def __init__(self, key_file: Path) -> None:
        try:
            key = key_file.read_bytes().strip()
        except OSError as error:
            raise SettingsError(f"{key_file}: cannot be read: {error.strerror}") from None
        if len(key) < SHORTEST:
            raise SettingsError(f"{key_file}: a pseudonym key has at least {SHORTEST} characters")
        self._key = key

    def of(self, name: str) -> str:
        import hmac  # with hashlib it is OpenSSL, 4 MB, that only a node with a key should pay
        from hashlib import sha256

        digest = hmac.new(self._key, name.encode("utf-8", "surrogateescape"), sha256).digest()
        return "u" + b32encode(digest[:10]).decode().lower()


def is_pseudonym(name: str) -> bool:
    return FORM.fullmatch(name) is not None
