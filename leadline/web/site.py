"""
What the pages speak about and how they reach it: made once, of the settings, and never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from leadline.query import Period
from leadline.reports.settings import AdviceSettings, AllocationSettings, FindingSettings
from leadline.settings import Settings
from leadline.settings.common import COMMON_SECTIONS, ClusterSettings
from leadline.settings.load import load_part
from leadline.settings.zones import cluster_zone
from leadline.store.configured import configured_store
from leadline.store.contract import Store
from leadline.store.opensearch.settings import OpenSearchSettings
from leadline.store.scope import EVERYTHING, Scope
from leadline.web.settings import ConstantSettings, WebSettings


def now_utc() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Site:
    open: Callable[[], Store]  # called once, in the process that serves
    zone: ZoneInfo = field(default_factory=lambda: ZoneInfo("UTC"))
    settings: WebSettings = field(default_factory=WebSettings)
    clock: Callable[[], datetime] = now_utc
    scope: Scope = EVERYTHING
    clusters: Mapping[str, ClusterSettings] = field(default_factory=dict)
    periods: Mapping[str, str] = field(default_factory=dict)  # the site's own, by name
    constants: Mapping[str, ConstantSettings] = field(default_factory=dict)
    allocations: AllocationSettings = field(default_factory=AllocationSettings)
    advice: AdviceSettings = field(default_factory=AdviceSettings)
    findings: FindingSettings = field(default_factory=FindingSettings)
    demo: Path | None = None  # the folder of the demo, whose grants count as well
    rejected: Callable[[], Sequence[tuple[str, int]]] | None = None  # reasons and how often
    rejected_in: Callable[[Period], int] | None = None  # how many of the days of a period


# What a site takes from the settings file, beside what opens its store.
SECTIONS: Mapping[str, object] = {
    "web": WebSettings,
    "clusters": dict[str, ClusterSettings],
    "periods": dict[str, str],
    "constants": dict[str, ConstantSettings],
    "allocations": AllocationSettings,
    "advice": AdviceSettings,
    "findings": FindingSettings,
}


def site_of(settings: Settings, open_store: Callable[[], Store]) -> Site:
    """
    The site that SETTINGS describe.
    """
    known = {name: settings.sections[name] for name in SECTIONS}
    web = known.pop("web")
    return Site(open=open_store, settings=web, zone=cluster_zone(known["clusters"], None), **known)  # type: ignore[arg-type]


def read_site(file: Path | None = None) -> Site:
    """
    The site of the settings file that `leadline serve` would read: FILE, $LEADLINE_CONFIG, or the
    usual places. The store is opened when the first page asks, in the process that serves it.
    """
    settings = load_part(
        {**COMMON_SECTIONS, **SECTIONS, "opensearch": OpenSearchSettings}, file=file
    )
    return site_of(settings, lambda: configured_store(settings))
