"""
Every section of the settings file, and the class that checks it.

To add one: declare its frozen dataclass in its own room, then its line here.
"""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module

from enrich.identity import IdentitySettings
from enrich.settings import EnrichSettings, WorkerSettings
from leadline.alerts.settings import (
    AlertSettings,
    NotifierSettings,
    PersonSettings,
    ScheduleSettings,
)
from leadline.chores.settings import ChoreSettings
from leadline.reports.settings import AdviceSettings, AllocationSettings, FindingSettings
from leadline.settings.common import COMMON_SECTIONS
from leadline.settings.plugins import PluginSettings
from leadline.store.opensearch.settings import OpenSearchSettings
from leadline.web.settings import ConstantSettings, WebSettings
from shipper.senders.settings import ShipSettings
from shipper.settings import CollectSettings


def schema() -> dict[str, object]:
    return {
        **COMMON_SECTIONS,
        "collect": CollectSettings,
        "ship": ShipSettings,
        "worker": WorkerSettings,
        "enrich": EnrichSettings,
        "identity": IdentitySettings,
        "plugins": PluginSettings,
        "opensearch": OpenSearchSettings,
        "web": WebSettings,
        "constants": dict[str, ConstantSettings],
        "advice": AdviceSettings,
        "findings": FindingSettings,
        "allocations": AllocationSettings,
        "periods": dict[str, str],
        "alerts": AlertSettings,
        "chores": ChoreSettings,
        "people": dict[str, PersonSettings],
        "notifiers": NotifierSettings,
        "reports": dict[str, ScheduleSettings],
    }


def built_in(kind: str) -> Collection[str]:
    """
    The names no plug-in of a kind may take.
    """
    if kind not in BUILT_IN:
        return ()
    module, _, table = BUILT_IN[kind].partition(":")
    names: Collection[str] = getattr(import_module(module), table)
    return names


# Where each kind of plug-in has its table of built-in ones.
BUILT_IN = {
    "steps": "enrich.steps:BUILT_IN",
    "collectors": "shipper.collectors:BUILT_IN",
    "sinks": "shipper.senders:SINKS",
    "readers": "enrich.backfill.readers:FORMATS",
    "notifiers": "leadline.alerts.notifiers:BUILT_IN",
}
