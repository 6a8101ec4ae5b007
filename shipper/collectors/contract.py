"""
What a collector is: built once from settings and the machine, called at each tick.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from leadline.formats import Document
from shipper.counters import Counters
from shipper.settings import CollectSettings
from shipper.system import System
from shipper.users import Users


class UnavailableError(Exception):
    """
    This machine cannot have it: said by `leadline doctor`, never sent, never an error.
    """


class NoticeError(Exception):
    """
    Something a person should know, raised where the collector cannot go on; becomes an event.
    """


@dataclass(frozen=True, slots=True)
class Tick:
    """
    One look at the machine.
    """

    wall: float  # Unix time
    uptime: float  # seconds since boot, by the clock nobody can set
    interval: float | None  # seconds since the last look in this boot; None: this is the first
    boot_id: str
    host: str


@dataclass(frozen=True, slots=True)
class Gear:
    """
    What a collector is built from.
    """

    settings: CollectSettings
    system: System
    counters: Counters
    users: Users


class Collector(Protocol):
    def __call__(self, tick: Tick) -> Iterable[Document]:
        """
        Documents without the fields all documents share. Absent = not measured.

        Parts of the `node` document may come from several collectors; they are put together.
        """
        ...


@runtime_checkable
class Keeps(Protocol):
    """
    A collector that remembers more than counters between runs; with `lasts` true also after the
    machine was started anew.
    """

    def dump(self) -> object: ...

    def restore(self, kept: object, looked_at: float | None) -> None: ...


class CollectorModule(Protocol):
    """
    A module in this folder. `build` raises UnavailableError where there is nothing to
    collect.
    """

    def build(self, gear: Gear) -> Collector: ...
