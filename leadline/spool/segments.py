"""
The files of a spool: how segments are named, listed, counted and repaired, and how small files are
replaced so that a crash leaves either the old or the new one.

A segment's name says where it starts in the stream (byte and line) and when it was begun, so that a
folder can be understood without opening a file: `<byte>-<line>-<unix time>.ndjson`.
"""

import contextlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

SUFFIX = ".ndjson"
NAME = re.compile(r"(\d{20})-(\d{16})-(\d{10})\.ndjson")
READER_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
CHUNK = 1 << 20
LARGEST = 10**20 - 1  # what fits into a name

# macOS has no fdatasync
sync_data = getattr(os, "fdatasync", os.fsync)


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """
    A place between two lines of the stream.
    """

    offset: int = 0  # bytes since the spool began; gaps are allowed, so only good for comparing
    line: int = 0  # documents since the spool began


@dataclass(frozen=True, slots=True)
class Segment:
    path: Path
    start: Position
    created: float  # unix time

    def size(self) -> int:
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0


def segment_at(folder: Path, start: Position, created: float) -> Segment:
    seconds = min(max(int(created), 0), 10**10 - 1)
    name = f"{start.offset:020d}-{start.line:016d}-{seconds:010d}{SUFFIX}"
    return Segment(folder / name, start, float(seconds))


def list_segments(folder: Path) -> list[Segment]:
    """
    All segments, oldest first. Files that are named otherwise are not ours and are left alone.
    """
    found = []
    for path in sorted(folder.iterdir()):
        if match := NAME.fullmatch(path.name):
            offset, line, created = map(int, match.groups())
            found.append(Segment(path, Position(offset, line), float(created)))
    return found


def count_lines(path: Path, start: int = 0) -> tuple[int, int]:
    """
    Complete lines after byte `start`, and the byte after the last of them; none of a lost file.
    """
    lines, end, at = 0, start, start
    with contextlib.suppress(FileNotFoundError), path.open("rb", buffering=0) as file:
        file.seek(start)
        while chunk := file.read(CHUNK):
            newlines = chunk.count(b"\n")
            if newlines:
                lines += newlines
                end = at + chunk.rfind(b"\n") + 1
            at += len(chunk)
    return lines, end


def sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def replace_durably(path: Path, data: bytes, sync: bool = True) -> None:
    """
    Write a small file so that after a crash either the old or the new content is there.
    """
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        with beside.open("wb", buffering=0) as file:
            file.write(data)
            if sync:
                os.fsync(file.fileno())
        beside.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
    if sync:
        sync_folder(path.parent)


def position_path(folder: Path, name: str) -> Path:
    return folder / f"reader-{name}.json"


def read_position(path: Path) -> Position | None:
    """
    None when the file is not there or not readable as a position: the reader then starts over.
    """
    try:
        found = json.loads(path.read_bytes())
        offset, line = found["offset"], found["line"]
    except (FileNotFoundError, ValueError, TypeError, KeyError):
        return None
    if type(offset) is not int or type(line) is not int:
        return None
    return Position(offset, line) if 0 <= offset <= LARGEST and 0 <= line < 10**16 else None


def write_position(path: Path, position: Position, sync: bool = True) -> None:
    text = json.dumps({"offset": position.offset, "line": position.line})
    replace_durably(path, text.encode(), sync)


def read_positions(folder: Path) -> dict[str, Position]:
    """
    Where every registered reader is; one with a broken file is at the beginning.
    """
    return {
        path.name.removeprefix("reader-").removesuffix(".json"): read_position(path) or Position()
        for path in folder.glob("reader-*.json")
    }
