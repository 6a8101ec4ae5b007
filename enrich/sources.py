"""
Where lines come from besides the receiver: files, folders, globs, compressed or not, and stdin.
"""

from __future__ import annotations

import io
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from glob import glob
from pathlib import Path
from typing import IO, Protocol

from leadline.errors import LeadlineError

SUFFIXES = tuple(
    f"{kind}{packed}" for kind in (".ndjson", ".jsonl") for packed in ("", ".gz", ".zst")
)
CHUNK = 4 << 20
PACKED_CHUNK = 64 << 10
LONGEST_LINE = 1 << 20
STDIN = "-"


class SourceError(LeadlineError):
    """
    A file that cannot be read, or is no file of documents.
    """


def find_sources(names: Sequence[str]) -> list[str]:
    """
    The files behind NAMES: files as they are, folders with all below them, globs, `-` for stdin.
    """
    found: list[str] = []
    for name in names:
        path = Path(name).expanduser()
        if name == STDIN or path.is_file() or path.is_fifo():
            found.append(name if name == STDIN else str(path))
        elif path.is_dir():
            inner = sorted(str(p) for p in path.rglob("*") if p.name.endswith(SUFFIXES))
            if not inner:
                raise SourceError(f"{name}: no file in it ends in .ndjson, .jsonl, .gz or .zst")
            found += inner
        elif matches := sorted(glob(str(path), recursive=True)):  # noqa: PTH207 - absolute globs too
            found += [match for match in matches if Path(match).is_file()]
        else:
            raise SourceError(f"{name}: no such file or folder")
    return list(dict.fromkeys(found))


def read_lines(name: str, longest: int = LONGEST_LINE) -> Iterator[list[bytes]]:
    """
    The lines of a source, many at a time, without newlines and without empty ones.

    A line longer than LONGEST comes cut, so that it is refused like any other broken line.
    """
    rest = b""
    skipping = False  # inside a line of which the beginning was already given
    for chunk in _chunks(name):
        *lines, last = (rest + chunk).split(b"\n")
        if skipping and lines:
            del lines[0]
            skipping = False
        rest = b"" if skipping else last
        if len(rest) > longest:
            lines.append(rest)
            rest, skipping = b"", True
        yield [line if len(line) <= longest else line[:longest] for line in lines if line.strip()]
    if rest.strip():
        yield [rest]


def _chunks(name: str) -> Iterator[bytes]:
    try:
        with _open(name) as file:
            magic = file.peek(4)[:4] if isinstance(file, io.BufferedReader) else b""
            if magic[:2] == b"\x1f\x8b":
                yield from _unpacked(name, file, "gzip", lambda: zlib.decompressobj(31), zlib.error)
            elif magic == b"\x28\xb5\x2f\xfd":
                yield from _zstd(name, file)
            else:
                while chunk := file.read(CHUNK):
                    yield chunk
    except OSError as error:
        raise SourceError(f"{name}: cannot be read: {error.strerror or error}") from None


@contextmanager
def _open(name: str) -> Iterator[IO[bytes]]:
    if name == STDIN:
        yield sys.stdin.buffer
        return
    with Path(name).open("rb") as file:
        yield file


class Frame(Protocol):
    """
    One packed frame of a file, as zlib and zstandard show it.
    """

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, /) -> bytes: ...


def _unpacked(
    name: str, file: IO[bytes], kind: str, begin: Callable[[], Frame], broken: type[Exception]
) -> Iterator[bytes]:
    """
    What FILE holds, frame after frame; all there is before the place where it is broken.
    """
    whole = True
    frame = begin()
    try:
        while chunk := file.read(PACKED_CHUNK):
            while chunk:
                if unpacked := frame.decompress(chunk):
                    yield unpacked
                whole, chunk = frame.eof, frame.unused_data.lstrip(b"\0")  # tapes pad with zeros
                if whole:
                    frame = begin()
    except broken as error:
        raise SourceError(f"{name}: broken {kind}: {error}; what came before was taken") from None
    if not whole:
        raise SourceError(f"{name}: broken {kind}: it ends early; what came before was taken")


def _zstd(name: str, file: IO[bytes]) -> Iterator[bytes]:
    try:
        import zstandard
    except ImportError:
        raise SourceError(f"{name}: zstd needs zstandard: pip install 'leadline[server]'") from None
    unpacker = zstandard.ZstdDecompressor()
    yield from _unpacked(name, file, "zstd", unpacker.decompressobj, zstandard.ZstdError)
