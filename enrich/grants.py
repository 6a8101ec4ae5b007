"""
Who may send: each token speaks for one cluster, and perhaps for one host only.

A token file holds one token a line; `TOKEN HOST` binds the token to a host.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from leadline.errors import SettingsError
from leadline.settings.common import ClusterSettings

SHORTEST = 16


@dataclass(frozen=True, slots=True)
class Grant:
    """
    What a sender may send for. Without a cluster: anything.
    """

    cluster: str | None = None
    hosts: frozenset[str] = frozenset()  # empty: any host of the cluster


ANYTHING = Grant()


class Grants:
    """
    Tokens, kept as digests: a wrong one costs the same time whatever is wrong with it.
    """

    def __init__(
        self, clusters: Mapping[str, ClusterSettings], workers: Path | None = None
    ) -> None:
        self._by_digest: dict[bytes, Grant] = {}
        if workers is not None:
            for token, hosts in _file("worker.workers_token_file", workers, frozenset()):
                self._by_digest[_digest(token)] = Grant(None, hosts)
        for name, settings in clusters.items():
            for token, hosts in _tokens(name, settings):
                known = self._by_digest.setdefault(_digest(token), Grant(name, hosts))
                if known.cluster != name:
                    other = known.cluster or "another worker"
                    raise SettingsError(
                        f"clusters.{name}: has the same token as {other}; make another one"
                    )

    @property
    def open(self) -> bool:
        """
        Nobody has a token: anybody who can connect may send.
        """
        return not self._by_digest

    def of_header(self, authorization: str | None) -> Grant | None:
        """
        What `Authorization: Bearer TOKEN` grants; None when it grants nothing.
        """
        if self.open:
            return ANYTHING
        scheme, _, token = (authorization or "").partition(" ")
        digest = _digest(token.strip())
        found = None
        for known, grant in self._by_digest.items():
            if hmac.compare_digest(digest, known):
                found = grant
        return found if scheme.lower() == "bearer" else None


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogateescape")).digest()


def _tokens(name: str, settings: ClusterSettings) -> Iterator[tuple[str, frozenset[str]]]:
    hosts = frozenset(settings.hosts)
    if settings.token:
        yield _checked(settings.token, f"clusters.{name}.token"), hosts
    if settings.token_file:
        yield from _file(f"clusters.{name}.token_file", settings.token_file, hosts)


def _file(name: str, path: Path, hosts: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise SettingsError(f"{name} {path}: {reason}") from None
    found = [
        (number, line.split())
        for number, line in enumerate(lines, start=1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not found:
        raise SettingsError(f"{name} {path}: holds no token; write one a line")
    for number, words in found:
        if len(words) > 2:
            raise SettingsError(f"{path} line {number}: write TOKEN, or TOKEN HOST")
        bound = frozenset({words[1].split(".")[0].lower()}) if len(words) == 2 else hosts
        yield _checked(words[0], f"{path} line {number}"), bound


def _checked(token: str, where: str) -> str:
    if len(token) < SHORTEST:
        raise SettingsError(f"{where}: a token of {len(token)} characters; use {SHORTEST} or more")
    return token
