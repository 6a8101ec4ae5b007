"""
Sink `file`: append the documents to a file, one JSON object per line.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from shipper.senders.settings import ShipSettings
from shipper.senders.sink import NotNow


class FileSink:
    """
    The file is opened for each batch, so that it may be moved away at any time.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def target(self) -> str:
        return str(self.path)

    def send(self, data: bytes, count: int) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o640)
            try:
                append(handle, data)
            finally:
                os.close(handle)
        except OSError as error:
            raise NotNow(f"{self.path}: {error.strerror}") from None

    def close(self) -> None: ...


def append(handle: int, data: bytes) -> None:
    """
    All of it or nothing, as far as the file system can take back what it began.
    """
    before = os.fstat(handle).st_size
    left = memoryview(data)
    try:
        while left:
            left = left[os.write(handle, left) :]
        os.fsync(handle)
    except OSError:
        with contextlib.suppress(OSError):
            os.ftruncate(handle, before)
        raise


def build(settings: ShipSettings, host: str) -> FileSink:
    assert settings.path is not None
    return FileSink(settings.path)
