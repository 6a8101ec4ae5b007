"""
Sections that several rooms read: where data lies, the store, the clusters, what is kept.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from zoneinfo import ZoneInfo

from leadline.settings.typed import Duration


def default_data() -> Path:
    if env := os.environ.get("LEADLINE_DATA"):
        return Path(env)
    home = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(home) / "leadline"


@dataclass(frozen=True)
class PathSettings:
    data: Path = field(default_factory=default_data)  # everything leadline writes lies in here

    @property
    def lake(self) -> Path:
        return self.data / "lake"

    @property
    def spool(self) -> Path:
        return self.data / "spool"

    @property
    def state(self) -> Path:
        return self.data / "state"

    @property
    def demo(self) -> Path:
        return self.data / "demo"

    @property
    def dead_letters(self) -> Path:
        return self.data / "deadletters"


@dataclass(frozen=True)
class StoreSettings:
    address: str = ""  # lake:FOLDER or opensearch=https://…; empty: the lake in paths.data
    username: str = ""  # basic authentication, with password_file
    password_file: Path | None = None  # holds the password and nothing else
    api_key_file: Path | None = None  # holds an API key, instead of a user name
    ca_file: Path | None = None  # the authority that signed the store's certificate
    verify: bool = True  # check the store's certificate


@dataclass(frozen=True)
class ClusterSettings:
    zone: str = ""  # IANA name, Europe/Oslo; empty: the zone of this machine
    token: str = ""  # what shippers of this cluster show; better in a file
    token_file: Path | None = None  # holds the token
    aliases: tuple[str, ...] = ()  # names it had, or is called by its scheduler
    hosts: tuple[str, ...] = ()  # hosts that may send for it; empty: any

    def __post_init__(self) -> None:
        if self.zone:
            try:
                ZoneInfo(self.zone)
            except (KeyError, ValueError, OSError):
                raise ValueError(
                    f"zone {self.zone!r} is no IANA time zone; write Europe/Oslo"
                ) from None


@dataclass(frozen=True)
class RetentionSettings:
    """
    How long each family is kept from the end of its period; 0 keeps it for ever.
    """

    process: Duration = Duration(90 * 86400)  # raw samples of processes
    node: Duration = Duration(90 * 86400)  # raw samples of nodes and their parts
    gpu: Duration = Duration(90 * 86400)  # raw samples of cards
    state: Duration = Duration(365 * 86400)  # states of jobs and nodes
    event: Duration = Duration(365 * 86400)  # alerts, findings, changes
    usage: Duration = Duration(5 * 365 * 86400)  # hourly sums of use
    capacity: Duration = Duration(5 * 365 * 86400)  # hourly capacity
    job: Duration = Duration(0)  # runs of jobs
    slice: Duration = Duration(0)  # runs by day
    names: Duration = Duration(2 * 365 * 86400)  # people's names; then pseudonyms take their place


COMMON_SECTIONS: dict[str, object] = {
    "paths": PathSettings,
    "store": StoreSettings,
    "clusters": dict[str, ClusterSettings],
    "retention": RetentionSettings,
}
