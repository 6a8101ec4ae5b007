"""
The sections `web` and `constants` of the settings file.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from leadline.settings.typed import Duration

ACCESS = ("open", "token", "proxy", "accounts")


@dataclass(frozen=True)
class WebSettings:
    listen: str = "127.0.0.1:8470"  # address and port of the pages; or unix:/PATH, a socket
    threads: int = 8  # readers served at the same time, by each process
    processes: int = 1  # processes that serve; each remembers answers for itself
    prefix: str = ""  # path the pages live under behind a proxy: /leadline
    remember: Duration = Duration(5)  # how long an answer may be shown again
    access: str = "open"  # open, token, proxy (the site's sign-on names the user), or accounts
    token_file: Path | None = None  # for token and accounts: a file of one secret
    tokens_file: Path | None = None  # tokens of programs, each with what it opens
    accounts_file: Path | None = None  # for accounts: names and hashes
    public: bool = False  # for proxy and accounts: who is not signed in sees totals, no names
    user_header: str = "X-Remote-User"  # for proxy: names the user; REMOTE_USER: mod_wsgi does
    trusted_peers: tuple[str, ...] = ("127.0.0.1", "::1", "unix")  # for proxy: who may set it
    admins: tuple[str, ...] = ()  # for proxy and accounts: who sees everything, support too
    leaders: tuple[str, ...] = ()  # for proxy and accounts: `alice:chem-1`, a whole group
    proxies: int = 0  # proxies in front whose X-Forwarded headers are believed

    def __post_init__(self) -> None:
        if not 1 <= self.threads <= 256:
            raise ValueError(f"threads {self.threads}: give 1 to 256")
        if not 1 <= self.processes <= 64:
            raise ValueError(f"processes {self.processes}: give 1 to 64")
        if self.access not in ACCESS:
            raise ValueError(f"access {self.access!r}: give one of {', '.join(ACCESS)}")
        if self.public and self.access not in ("proxy", "accounts"):
            raise ValueError("public: only where users sign in, with access proxy or accounts")
        if any(":" not in entry for entry in self.leaders):
            raise ValueError("leaders: write USER:GROUP, as alice:chem-1")
        if self.prefix and (not self.prefix.startswith("/") or self.prefix.endswith("/")):
            raise ValueError(f"prefix {self.prefix!r}: begin it with / and end it without")
        if self.proxies < 0:
            raise ValueError(f"proxies {self.proxies}: give 0 or more")


@dataclass(frozen=True)
class ConstantSettings:
    """
    A figure of the site that is not measured: students, staff, a price. The API serves it.
    """

    value: float
    unit: str = ""  # what it counts: people, NOK per core hour
    means: str = ""  # in words
    cluster: str = ""  # where it holds; empty: everywhere
