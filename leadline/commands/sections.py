"""
Every section of the settings file, and the class that checks it.

To add one: declare its frozen dataclass in its own room, then its line here.
"""

from __future__ import annotations

from enrich.identity import IdentitySettings
from enrich.settings import EnrichSettings, WorkerSettings
from leadline.settings.common import COMMON_SECTIONS
from leadline.store.opensearch.settings import OpenSearchSettings
from leadline.web.settings import WebSettings
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
        "opensearch": OpenSearchSettings,
        "web": WebSettings,
    }
