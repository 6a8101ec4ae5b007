"""
Where documents go that no store will take: kept with the reason, until a person looks.

A folder of NDJSON, one file a day. Inputs are redacted before they come here.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path

import orjson

from leadline.errors import LeadlineError
from leadline.formats import SCHEMA_VERSION, Document
from leadline.formats.redact import redact, redact_line
from leadline.formats.times import from_epoch
from leadline.spool.segments import replace_durably

TAKEN = ".replaying"
REASON = 200  # characters of a reason in an event
MOST_REASONS = 10  # of a batch


class DeadLetterError(LeadlineError):
    """
    A dead letter that cannot be kept: the input must not be forgotten then.
    """


@dataclass(frozen=True, slots=True)
class DeadLetter:
    time: str
    source: str  # a file, or `receiver`
    reason: str
    input: str  # one line, redacted


def dead_letter(line: bytes, reason: str, source: str, when: float | None = None) -> DeadLetter:
    return DeadLetter(
        time=from_epoch(time.time() if when is None else when),
        source=source,
        reason=redact(reason),
        input=redact_line(line).decode(errors="replace"),
    )


def refusals(letters: Sequence[DeadLetter]) -> list[Document]:
    """
    Events that tell how many were refused and why: who looks at the store alone learns of them.
    """
    if not letters:
        return []
    counts = Counter((_cluster(letter), letter.reason[:REASON]) for letter in letters)
    told = counts.most_common(MOST_REASONS)
    if rest := len(letters) - sum(count for _, count in told):
        told.append((("-", "other reasons"), rest))
    now = time.time()
    return [
        {
            "dataset": "event",
            "@timestamp": from_epoch(now),
            "cluster": cluster,
            "rule.name": "dead letters",
            "event.object": reason,
            "event.kind": "notice",
            "event.severity": "warning",
            "event.count": count,
            "message": f"{count} documents refused: {reason}",
            "record.version": 1,
            "schema.version": SCHEMA_VERSION,
        }
        for (cluster, reason), count in told
    ]


def _cluster(letter: DeadLetter) -> str:
    try:
        said = orjson.loads(letter.input)
    except orjson.JSONDecodeError:
        return "-"
    cluster = said.get("cluster") if isinstance(said, dict) else None
    return cluster[:100] if isinstance(cluster, str) and cluster.isprintable() else "-"


class DeadLetters:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, letters: Sequence[DeadLetter]) -> None:
        """
        Keep LETTERS; they are on the disk when this returns.
        """
        if not letters:
            return
        try:
            with self._locked():
                for day, of_day in groupby(letters, lambda letter: letter.time[:10]):
                    self._append(day, list(of_day))
        except OSError as error:
            raise DeadLetterError(
                f"{self.folder}: cannot keep dead letters: {error.strerror}; make room or rights"
            ) from None

    def read(self) -> Iterator[DeadLetter]:
        for path in sorted(self.folder.glob("*.ndjson")):
            yield from read_file(path)

    def replay(self, take: Callable[[list[DeadLetter]], None]) -> int:
        """
        Hand every letter to TAKE, file by file, and forget the file when TAKE returns.

        What fails again is a new dead letter by then, added by TAKE. A crash leaves the file.
        """
        with self._locked():
            for path in sorted(self.folder.glob("*.ndjson")):
                path.rename(path.with_name(f"{path.name}.{time.time_ns()}{TAKEN}"))
        count = 0
        for path in sorted(self.folder.glob(f"*{TAKEN}")):
            letters = list(read_file(path))
            take(letters)
            count += len(letters)
            path.unlink()
        return count

    def rewrite(
        self, change: Callable[[DeadLetter], DeadLetter | None], *, dry_run: bool = False
    ) -> int:
        """
        Each letter as CHANGE makes it, None for those that go; how many it concerned.
        """
        if not self.folder.is_dir():
            return 0
        count = 0
        with self._locked():
            for path in sorted(self.folder.glob("*.ndjson*")):
                letters = list(read_file(path))
                changed = [(letter, change(letter)) for letter in letters]
                concerned = sum(letter is not kept for letter, kept in changed)
                count += concerned
                if concerned and not dry_run:
                    kept = [asdict(one) for _, one in changed if one is not None]
                    replace_durably(path, b"".join(orjson.dumps(one) + b"\n" for one in kept))
        return count

    def _append(self, day: str, letters: Sequence[DeadLetter]) -> None:
        data = b"".join(orjson.dumps(asdict(letter)) + b"\n" for letter in letters)
        handle = os.open(self.folder / f"{day}.ndjson", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(handle, "r+b", buffering=0) as file:
            if _torn(handle):
                file.write(b"\n")
            written = file.write(data)
            if written != len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(handle)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (self.folder / ".lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def read_file(path: Path) -> Iterator[DeadLetter]:
    """
    The letters of one file; a torn last line, left by a crash, is left out.
    """
    for line in path.read_bytes().splitlines():
        try:
            yield DeadLetter(**orjson.loads(line))
        except (orjson.JSONDecodeError, TypeError):
            continue


def _torn(handle: int) -> bool:
    """
    Whether the file ends within a line, as a crash or a full disk leaves it.
    """
    size = os.fstat(handle).st_size
    return size > 0 and os.pread(handle, 1, size - 1) != b"\n"
