"""
Small texts only this site can have written, and that end: cookies, and addresses that open once.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from threading import Lock

from leadline.web.shared import alone

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


def said_in(shown: str) -> str:
    """
    What a sealed text says, whoever wrote it.
    """
    return shown.rsplit(".", 2)[0]


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
        with self._lock, alone(self._file) as spent:
            if name in self._memory or name in spent.read().split():
                return False
            self._memory.add(name)
            spent.write(f"{name}\n")
        return True
