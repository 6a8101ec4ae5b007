"""
What a step of the chain is.

A step is a pure function of the values it reads: single documents get it through a cache, bulk
data by mapping the distinct values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol
from zoneinfo import ZoneInfo

from enrich.identity import Identities
from enrich.rules import Rules
from leadline.formats import Document
from leadline.settings.common import ClusterSettings
from leadline.settings.zones import cluster_zone

Fields = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """
    `compute` takes the values of `reads` (None where absent) and answers the fields to set.

    Fields of `writes` that the answer leaves out are removed. FormatError refuses the document.
    """

    name: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    compute: Callable[..., Fields]
    datasets: frozenset[str] | None = None  # None: all of them


class Whole(Protocol):
    """
    A step that must see the whole document, and changes it in place.
    """

    @property
    def name(self) -> str: ...

    def __call__(self, document: Document) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Context:
    """
    What steps are built from.
    """

    rules: Rules
    clusters: Mapping[str, ClusterSettings] = field(default_factory=dict)
    cluster: str | None = None  # the name bound to the sender: wins over the record
    identities: Identities = field(default_factory=Identities)

    def canonical(self, name: str) -> str:
        """
        The name a cluster goes by today.
        """
        if name in self.clusters:
            return name
        for canonical, settings in self.clusters.items():
            if name in settings.aliases:
                return canonical
        return name

    def zone(self, cluster: str | None) -> ZoneInfo:
        return cluster_zone(self.clusters, cluster)


class StepModule(Protocol):
    """
    A module of enrich/steps/: the settings at construction, the work in what it builds.
    """

    def build(self, context: Context) -> Step | Whole: ...
