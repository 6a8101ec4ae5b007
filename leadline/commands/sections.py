"""
Every section of the settings file, and where the class that checks it lives.

To add one: declare its frozen dataclass in its own room, then its line here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from importlib import import_module
from typing import Any

from leadline.settings.common import COMMON_SECTIONS

SECTIONS = {
    "collect": "shipper.settings:CollectSettings",
    "ship": "shipper.senders.settings:ShipSettings",
    "worker": "enrich.settings:WorkerSettings",
    "enrich": "enrich.settings:EnrichSettings",
    "identity": "enrich.identity:IdentitySettings",
    "plugins": "leadline.settings.plugins:PluginSettings",
    "opensearch": "leadline.store.opensearch.settings:OpenSearchSettings",
    "web": "leadline.web.settings:WebSettings",
    "constants": "leadline.web.settings:ConstantSettings",
    "advice": "leadline.reports.settings:AdviceSettings",
    "findings": "leadline.reports.settings:FindingSettings",
    "allocations": "leadline.reports.settings:AllocationSettings",
    "inventory": "leadline.reports.inventory:InventorySettings",
    "periods": "builtins:str",
    "alerts": "leadline.alerts.settings:AlertSettings",
    "chores": "leadline.chores.settings:ChoreSettings",
    "privacy": "leadline.chores.settings:PrivacySettings",
    "people": "leadline.alerts.settings:PersonSettings",
    "notifiers": "leadline.alerts.settings:NotifierSettings",
    "reports": "leadline.alerts.settings:ScheduleSettings",
    "client": "leadline.top.settings:ClientSettings",
}
# Those that hold several by name, as `people.alice`.
NAMED = frozenset({"constants", "periods", "people", "reports"})


class Schema(Mapping[str, Any]):
    """
    A section's class is imported when it is asked for: a node's shipper loads none of the worker's.
    """

    def __getitem__(self, name: str) -> Any:
        if name in COMMON_SECTIONS:
            return COMMON_SECTIONS[name]
        kind = found_at(SECTIONS[name])
        return dict[str, kind] if name in NAMED else kind  # type: ignore[valid-type]

    def __iter__(self) -> Iterator[str]:
        yield from COMMON_SECTIONS
        yield from SECTIONS

    def __len__(self) -> int:
        return len(COMMON_SECTIONS) + len(SECTIONS)


def schema() -> Mapping[str, Any]:
    return Schema()


def found_at(place: str) -> Any:
    """
    What `module:name` names.
    """
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def built_in(kind: str) -> Collection[str]:
    """
    The names no plug-in of a kind may take.
    """
    if kind not in BUILT_IN:
        return ()
    names: Collection[str] = found_at(BUILT_IN[kind])
    return names


# Where each kind of plug-in has its table of built-in ones.
BUILT_IN = {
    "steps": "enrich.steps:BUILT_IN",
    "collectors": "shipper.collectors:BUILT_IN",
    "sinks": "shipper.senders:SINKS",
    "readers": "enrich.backfill.readers:FORMATS",
    "notifiers": "leadline.alerts.notifiers:BUILT_IN",
}
