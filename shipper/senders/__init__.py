"""Every sink by name. To add one: write its module, then its line here."""

from __future__ import annotations

from collections.abc import Callable

from shipper.senders import file, http, stdout
from shipper.senders.settings import ShipSettings
from shipper.senders.sink import Sink

SINKS: dict[str, Callable[[ShipSettings, str], Sink]] = {
    "http": http.build,
    "file": file.build,
    "stdout": stdout.build,
}


def build_sink(settings: ShipSettings, host: str) -> Sink:
    return SINKS[settings.sink](settings, host)
