"""
One run at a time: a cron job that is slow must not pile up.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType


class OneAtATime:
    """
    `with OneAtATime(folder) as mine:` – `mine` is False while another process is inside.

    Without a folder there is nothing to share, and everybody may enter.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._descriptor = -1

    def __enter__(self) -> bool:
        if self._folder is None:
            return True
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self._folder / "lock"
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
