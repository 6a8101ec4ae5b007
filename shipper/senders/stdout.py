"""
Sink `stdout`: write the documents to standard output, for pipes and for looking at them.
"""

from __future__ import annotations

import sys
from typing import BinaryIO

from shipper.senders.settings import ShipSettings
from shipper.senders.sink import NotNow


class StdoutSink:
    target = "stdout"

    def __init__(self, out: BinaryIO) -> None:
        self._out = out

    def send(self, data: bytes, count: int) -> None:
        try:
            self._out.write(data)
            self._out.flush()
        except (OSError, ValueError) as error:
            raise NotNow(f"standard output: {error}") from None

    def close(self) -> None: ...


def build(settings: ShipSettings, host: str) -> StdoutSink:
    return StdoutSink(sys.stdout.buffer)
