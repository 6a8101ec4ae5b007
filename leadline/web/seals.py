"""
Small texts only this site can have written, and that end: cookies, and addresses that open once.
"""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from threading import Lock

TICKET_LASTS = timedelta(hours=24)
SHORTEST = 16  # characters of a secret


def sealed(secret: str, purpose: str, text: str, until: datetime) -> str:
    """
    TEXT with its end and a signature; PURPOSE keeps one kind from being taken for another.
    """
    told = f"{text}.{int(until.timestamp())}"
    return f"{told}.{_signature(secret, purpose, told)}"


def unsealed(secret: str, purpose: str, shown: str, now: datetime) -> str | None:
    """
    The text, if we sealed it for this and it has not ended.
    """
    told, _dot, signature = shown.rpartition(".")
    if not secret or not hmac.compare_digest(
        signature.encode(), _signature(secret, purpose, told).encode()
    ):
        return None
    text, _dot, until = told.rpartition(".")
    return text if int(until) > now.timestamp() else None


def _signature(secret: str, purpose: str, told: str) -> str:
    return hmac.new(secret.encode(), f"leadline {purpose}\0{told}".encode(), sha256).hexdigest()


def ticket(secret: str, now: datetime) -> str:
    """
    What opens the pages once, within a day.
    """
    return sealed(secret, "ticket", secrets.token_urlsafe(12), now + TICKET_LASTS)


class Tickets:
    """
    Takes each ticket once. Which were taken stands in a file beside the secret, so that neither
    another process nor another start takes one again; where that cannot be written, in memory.
    """

    def __init__(self, secret: str, spent: Path, clock: Callable[[], datetime]) -> None:
        self._secret = secret
        self._file = spent
        self._clock = clock
        self._lock = Lock()
        self._memory: set[str] = set()

    def take(self, shown: str) -> bool:
        name = unsealed(self._secret, "ticket", shown, self._clock())
        if name is None:
            return False
        with self._lock:
            if name in self._memory or name in self._taken():
                return False
            self._memory.add(name)
            self._keep(name)
        return True

    def _taken(self) -> set[str]:
        with suppress(OSError):
            return set(self._file.read_text(encoding="ascii").split())
        return set()

    def _keep(self, name: str) -> None:
        with suppress(OSError):
            handle = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(handle, "w", encoding="ascii") as out:
                out.write(f"{name}\n")
