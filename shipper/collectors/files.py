"""
Collector `files`: an event for each watched file that was made, changed or removed.
"""

from __future__ import annotations

from collections.abc import Iterator

from leadline.formats import Document
from leadline.formats.times import from_epoch
from shipper.collectors.contract import Collector, Gear, Tick, UnavailableError
from shipper.system import System

Mark = list[int]  # modification time in ns, size, inode, mode, owner


class FilesCollector:
    def __init__(self, gear: Gear) -> None:
        self._settings = gear.settings.files
        self._system = gear.system
        self._before: dict[str, Mark] | None = None

    def __call__(self, tick: Tick) -> Iterator[Document]:
        now: dict[str, Mark] = {}
        for watched in self._settings.paths:
            now.update(look(self._system, str(watched), self._settings.limit))
        before, self._before = self._before, now
        if before is None:
            return
        for path in sorted({*before, *now}):
            if (what := change(before.get(path), now.get(path))) is not None:
                yield {
                    "dataset": "event",
                    "rule.name": "shipper.files",
                    "event.object": f"{tick.host}:{path}",
                    "event.kind": "change",
                    "event.severity": "info",
                    "event.start": from_epoch(tick.wall),
                    "event.reason": what,
                    "file.path": path,
                    "message": f"{tick.host}: {path} was {what}"[:2000],
                }

    def dump(self) -> object:
        return self._before

    def restore(self, kept: object, looked_at: float | None) -> None:
        if isinstance(kept, dict):
            self._before = {str(path): list(mark) for path, mark in kept.items()}


def look(system: System, path: str, limit: int) -> dict[str, Mark]:
    """
    A file; of a folder the folder itself and what lies directly in it.
    """
    names = system.entries(path)[:limit]
    found: dict[str, Mark] = {}
    for each in (path, *(f"{path.rstrip('/')}/{name}" for name in names)):
        if (told := system.stat(each)) is not None and not (names and each == path):
            found[each] = [told.st_mtime_ns, told.st_size, told.st_ino, told.st_mode, told.st_uid]
    return found


def change(before: Mark | None, now: Mark | None) -> str | None:
    if before == now:
        return None
    if before is None:
        return "created"
    if now is None:
        return "removed"
    if before[2] != now[2]:
        return "replaced"
    return "modified" if before[:2] != now[:2] else "given other rights"


def build(gear: Gear) -> Collector:
    if not gear.settings.files.paths:
        raise UnavailableError("collect.files.paths names no file")
    return FilesCollector(gear)
