"""
Tokens of programs: one file, a token a line with what it opens. `TOKEN metrics` reads what
Prometheus and plots need and nothing else; `TOKEN as alice` sees by the API what alice sees.
"""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass
from pathlib import Path

from leadline.errors import SettingsError
from leadline.web.seals import SHORTEST

METRICS = "metrics"
FOR_METRICS = frozenset({"metrics", "api_constants"})
_USER = r"[A-Za-z0-9._@+-]{1,64}"
_LINE = re.compile(rf"(?P<token>\S+)\s+(?:{METRICS}|as\s+(?P<name>{_USER}))")


@dataclass(frozen=True, slots=True)
class Token:
    text: str
    name: str  # whom it speaks for; empty: for nobody, it reads metrics

    def opens(self, endpoint: str | None) -> bool:
        return bool(self.name) or endpoint in FOR_METRICS


def read(path: Path) -> list[Token]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: cannot be read: {error}") from None
    found = []
    for number, line in enumerate(lines, 1):
        plain = line.partition("#")[0].strip()
        if not plain:
            continue
        known = _LINE.fullmatch(plain)
        if known is None or len(known["token"]) < SHORTEST:
            raise SettingsError(
                f"{path} line {number}: write TOKEN metrics, or TOKEN as USER, with a token of "
                f"{SHORTEST} characters or more (openssl rand -hex 32)"
            )
        found.append(Token(known["token"], known["name"] or ""))
    return found


def shown(path: Path | None, header: str) -> Token | None:
    """
    The token that a request shows in its Authorization header, if the file of the moment has it.
    """
    kind, _blank, text = header.partition(" ")
    if path is None or kind.lower() != "bearer":
        return None
    told = text.strip().encode()
    return next((t for t in read(path) if hmac.compare_digest(t.text.encode(), told)), None)
