"""Every collector by name. To add one: write its module, then its line here."""

from __future__ import annotations

from shipper.collectors import node, process
from shipper.collectors.contract import (
    Collector,
    CollectorModule,
    NoticeError,
    Tick,
    UnavailableError,
)

BUILT_IN: dict[str, CollectorModule] = {
    "process": process,
    "node": node,
}

__all__ = ["BUILT_IN", "Collector", "CollectorModule", "NoticeError", "Tick", "UnavailableError"]
