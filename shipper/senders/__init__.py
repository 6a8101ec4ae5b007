"""Every sink by name. To add one: write its module, then its line here."""

from __future__ import annotations

from collections.abc import Callable

from leadline.settings.plugins import plugged
from shipper.senders import file, http, stdout
from shipper.senders.settings import ShipSettings
from shipper.senders.sink import Sink

SINKS: dict[str, Callable[[ShipSettings, str], Sink]] = {
    "http": http.build,
    "file": file.build,
    "stdout": stdout.build,
}


def build_sink(settings: ShipSettings, host: str) -> Sink:
    """
    The sink the settings choose; a plug-in of a kind is built as the built-in ones are.
    """
    plugins = plugged("sinks")
    build = plugins[settings.sink].build if settings.sink in plugins else SINKS[settings.sink]
    made: Sink = build(settings, host)
    return made
