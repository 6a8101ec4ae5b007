"""
Files of records, plain or packed, as slices that end where a line ends.

Cumulative files are read again and again: a file is known again by its content (the hash of its
head, and of the bytes before the place where reading ended), not by its name or inode.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import lzma
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import IO, cast

from leadline.errors import FormatError, LeadlineError

HEAD = 64 << 10
TAIL = 4 << 10
CHUNK = 4 << 20
LONGEST_LINE = 4 << 20  # a "line" beyond it is no record of any format
STDIN = "-"
PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zXZ": "xz"}
BROKEN = (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError)


class SourceError(LeadlineError):
    """
    A file that cannot be read.
    """


@dataclass(frozen=True, slots=True)
class Slice:
    """
    Whole lines from a file up to its unpacked byte `end`; `line` is the first one's number.
    """

    data: bytes
    end: int
    line: int
    lines: int  # how many it holds
    tail: str  # hash of the last bytes before `end`
    head: str  # hash of the file's first bytes
    head_size: int


def find_files(names: Sequence[str]) -> list[str]:
    """
    The files behind NAMES: files, folders with all below them, globs, `-` for standard input.
    """
    found: list[str] = []
    for name in names:
        path = Path(name).expanduser()
        if name == STDIN or path.is_file() or path.is_fifo():
            found.append(name if name == STDIN else str(path))
        elif path.is_dir():
            found += sorted(str(p) for p in path.rglob("*") if p.is_file())
        elif matches := sorted(glob(str(path), recursive=True)):  # noqa: PTH207 - absolute globs too
            found += [match for match in matches if Path(match).is_file()]
        else:
            raise SourceError(f"{name}: no such file or folder")
    return list(dict.fromkeys(found))


def fingerprint(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


class Source:
    """
    One file, opened and unpacked by what it holds.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._raw: IO[bytes] = sys.stdin.buffer if name == STDIN else _open(name)
        magic = self._raw.peek(6)[:6] if isinstance(self._raw, io.BufferedReader) else b""
        self.packed = next((kind for sign, kind in PACKED.items() if magic.startswith(sign)), "")
        self._stream = _unpack(self._raw, self.packed, name)
        self.head = self._read(HEAD)
        self.size = Path(name).stat().st_size if name != STDIN else 0

    def slices(
        self, start: int, size: int, *, line: int = 1, whole: bool = True
    ) -> Iterator[Slice]:
        """
        From byte START on, some SIZE bytes each. Unless `whole`, a last line without its end
        stays for the next time.
        """
        waiting, tail = self._skip(start)
        position, ended = start, False
        while not ended:
            more = self._read(max(size - len(waiting), min(size, CHUNK)))
            ended = not more
            data, waiting = _whole_lines(waiting, more)
            del more  # `data` is large enough to hold for two
            if data:
                position += len(data)
                tail = (tail + data[-TAIL:])[-TAIL:]
                yield (piece := self._slice(data, position, line, tail))
                line += piece.lines
                del data, piece
        if waiting and whole:
            tail = (tail + waiting)[-TAIL:]
            yield self._slice(waiting + b"\n", position + len(waiting), line, tail)

    def tail_before(self, position: int) -> str | None:
        """
        Hash of the bytes before POSITION of a plain file; None where it is shorter.
        """
        if self.packed or self.name == STDIN:
            return None
        with Path(self.name).open("rb") as file:
            file.seek(max(position - TAIL, 0))
            data = file.read(min(TAIL, position))
        return fingerprint(data) if len(data) == min(TAIL, position) else None

    def close(self) -> None:
        if self.name != STDIN:
            self._raw.close()

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _slice(self, data: bytes, end: int, line: int, tail: bytes) -> Slice:
        head = fingerprint(self.head)
        return Slice(data, end, line, data.count(b"\n"), fingerprint(tail), head, len(self.head))

    def _skip(self, start: int) -> tuple[bytes, bytes]:
        """
        What was read beyond START already, and the bytes before START.
        """
        if start <= len(self.head):
            return self.head[start:], self.head[max(start - TAIL, 0) : start]
        if not self.packed and self.name != STDIN:
            self._stream.seek(start - TAIL)
            return b"", self._stream.read(TAIL)
        left, tail = start - len(self.head), self.head[-TAIL:]
        while left and (chunk := self._read(min(left, CHUNK))):
            left -= len(chunk)
            tail = (tail + chunk)[-TAIL:]
        return b"", tail

    def _read(self, size: int) -> bytes:
        parts, wanted = [], size
        try:
            while wanted > 0 and (part := self._stream.read(wanted)):
                parts.append(part)
                wanted -= len(part)
        except BROKEN as error:
            if not parts:
                raise FormatError(f"broken {self.packed}: {error or 'it ends too early'}") from None
        except OSError as error:
            raise SourceError(f"{self.name}: cannot be read: {error.strerror or error}") from None
        return b"".join(parts)


def _whole_lines(waiting: bytes, more: bytes) -> tuple[bytes, bytes]:
    """
    What of WAITING and MORE ends where a line ends, and the rest; copied once, as it is large.
    """
    cut = more.rfind(b"\n") + 1
    if cut == len(more) and not waiting:
        return more, b""
    if cut:
        return b"".join((waiting, memoryview(more)[:cut])), more[cut:]
    waiting += more
    cut = waiting.rfind(b"\n") + 1
    if not cut and len(waiting) >= LONGEST_LINE:
        cut = len(waiting)
    return waiting[:cut], waiting[cut:]


def _open(name: str) -> IO[bytes]:
    try:
        return Path(name).open("rb")
    except OSError as error:
        raise SourceError(f"{name}: cannot be read: {error.strerror or error}") from None


def _unpack(raw: IO[bytes], kind: str, name: str) -> IO[bytes]:
    if kind == "gzip":
        return cast(IO[bytes], gzip.GzipFile(fileobj=raw))
    if kind == "xz":
        return cast(IO[bytes], lzma.LZMAFile(raw))
    if kind == "zstd":
        try:
            import zstandard
        except ImportError:
            raise SourceError(
                f"{name}: zstd needs zstandard: pip install 'leadline[server]'"
            ) from None
        reader = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)
        return cast(IO[bytes], reader)
    return raw
