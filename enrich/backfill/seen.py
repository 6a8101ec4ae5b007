"""
How far each file was read, so that a cumulative file costs only its tail the next time.

Kept beside what was imported: a new store knows nothing. The place is saved after each slice, so
an import that was killed goes on where it was.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from enrich.backfill.files import Slice, Source, fingerprint

KEPT = 1000  # files remembered


@dataclass(frozen=True, slots=True)
class Place:
    head: str  # hash of the first `head_size` bytes
    head_size: int
    tail: str  # hash of the bytes before `position`
    position: int
    line: int
    waiting: tuple[str, ...] = ()  # records whose run had not ended


class Seen:
    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._places: list[Place] = []
        if path is not None and path.exists():
            self._places = [
                Place(**{**item, "waiting": tuple(item["waiting"])})
                for item in orjson.loads(path.read_bytes())
            ]

    def find(self, source: Source) -> Place | None:
        """
        Where reading ended, for a file that still begins and goes on as it did.
        """
        for place in reversed(self._places):
            if place.head_size > len(source.head):
                continue
            if fingerprint(source.head[: place.head_size]) != place.head:
                continue
            if source.packed or source.tail_before(place.position) == place.tail:
                return place
        return None

    def save(self, found: Place | None, piece: Slice, line: int, waiting: tuple[str, ...]) -> Place:
        """
        PIECE is in the store: FOUND, the place known before it, is moved on.
        """
        place = Place(piece.head, piece.head_size, piece.tail, piece.end, line, waiting)
        if found in self._places:
            self._places.remove(found)
        self._places = [*self._places, place][-KEPT:]
        if self._path is not None:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            fresh = self._path.with_suffix(f".{os.getpid()}.new")
            with fresh.open("wb") as file:
                file.write(orjson.dumps([asdict(item) for item in self._places]))
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self._path)
        return place
