"""
The real sacct, asked in windows of time: never for more at once than slurmdbd answers quickly.

Each call begins a little before the last one ended, and once a day well before, so that records
which came late or were corrected are read again; what did not change is not written.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import orjson

from enrich.backfill.files import Source, SourceError
from enrich.backfill.sacct import SacctReader
from enrich.backfill.seen import Seen
from leadline.formats.sacct import COLUMNS, CUT, LARGEST

HOUR, DAY = 3600, 86400
SHORTEST, WINDOW, LONGEST = 600, 6 * HOUR, DAY  # of what is asked for at once
QUICK, SLOW = 1.0, 5.0  # seconds of an answer; the next window is longer or shorter
LARGE = 64 << 20  # bytes of an answer
PATIENCE = 120.0  # seconds; then slurmdbd is left alone
OVERLAP, LOOK_BACK = HOUR, 7 * DAY
FIRST = 30 * DAY  # where nothing is known and no --since was given
EXTRA = tuple(dict.fromkeys(name for names in LARGEST for name in names if name not in COLUMNS))
# Without states sacct leaves out what was cancelled before it could start.
STATES: tuple[tuple[str, ...], ...] = ((), ("-s", "CA"))


@dataclass(frozen=True, slots=True)
class Asked:
    """
    How far sacct was asked, and when it was last asked for what came late.
    """

    until: int = 0
    looked_back: int = 0
    window: int = WINDOW


class Live:
    def __init__(
        self,
        reader: SacctReader,
        place: Path | None,
        staging: Path,
        clock: Callable[[], float] = time.time,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._reader = reader
        self._place = place
        self._staging = staging
        self._clock = clock
        self._pause = pause

    def read(
        self, since: int, until: int, progress: Callable[[int, int], None] = lambda at, end: None
    ) -> None:
        """
        What happened from SINCE on, or (0) from where the last call ended, up to UNTIL or now.
        """
        asked, now = self._asked(), int(self._clock())
        end = min(until, now)
        begin = since or (asked.until - OVERLAP if asked.until else now - FIRST)
        if not since and asked.until and now - asked.looked_back >= DAY:
            begin = min(begin, now - LOOK_BACK)
        at = begin
        while at < end:
            to = min(at + asked.window, end)
            seconds, size = self._window(at, to)
            asked = replace(asked, window=_next(asked.window, seconds, size))
            if at <= asked.until or not asked.until:  # what lies between would never be asked
                asked = replace(asked, until=max(asked.until, to))
            self._save(asked)
            progress(to - begin, end - begin)
            at = to
            if at < end:
                self._pause(min(seconds, SLOW))  # slurmdbd is others' as well
        if begin <= now - LOOK_BACK or not asked.looked_back:
            self._save(replace(asked, looked_back=now))

    def _window(self, at: int, to: int) -> tuple[float, int]:
        """
        Seconds that the answers took, and their size.
        """
        seconds, size = 0.0, 0
        for states in STATES:
            path = self._staging / f"sacct-{os.getpid()}.txt"
            try:
                begun = time.monotonic()
                self._ask(path, at, to, states)
                seconds += time.monotonic() - begun
                size += path.stat().st_size
                with Source(str(path)) as source:
                    self._reader.read(source, Seen(None), lambda position: None)
            finally:
                path.unlink(missing_ok=True)
        return seconds, size

    def _ask(self, path: Path, at: int, to: int, states: tuple[str, ...]) -> None:
        try:
            with path.open("wb") as file:
                done = subprocess.run(
                    command(at, to, states),
                    env={**os.environ, "TZ": "UTC", "SLURM_TIME_FORMAT": "%s", "LC_ALL": "C"},
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=subprocess.PIPE,
                    timeout=PATIENCE,
                    check=False,
                )
        except FileNotFoundError:
            raise SourceError("no sacct here; --live runs where Slurm's commands are") from None
        except subprocess.TimeoutExpired:
            raise SourceError(
                f"sacct took more than {PATIENCE:.0f} s for {_shown(at)} to {_shown(to)};"
                " run it again, it goes on from there"
            ) from None
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            reason = said[-1].removeprefix("sacct: ") if said else f"exit {done.returncode}"
            raise SourceError(f"sacct: {reason}")

    def _asked(self) -> Asked:
        if self._place is None or not self._place.exists():
            return Asked()
        return Asked(**orjson.loads(self._place.read_bytes()))

    def _save(self, asked: Asked) -> None:
        if self._place is None:
            return
        self._place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = self._place.with_suffix(f".{os.getpid()}.new")
        with fresh.open("wb") as file:
            file.write(orjson.dumps(asdict(asked)))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._place)


def command(at: int, to: int, states: tuple[str, ...] = ()) -> list[str]:
    """
    Jobs that were pending, ran or ended between AT and TO; what people write freely comes last.
    """
    columns = ",".join((*EXTRA, *COLUMNS))
    asked = ["sacct", "-a", "-D", "-P", f"--delimiter={CUT}", "-o", columns]
    return [*asked, "-S", _shown(at), "-E", _shown(to), *states]


def _next(window: int, seconds: float, size: int) -> int:
    if seconds > SLOW or size > LARGE:
        return max(window // 2, SHORTEST)
    return min(window * 2, LONGEST) if seconds < QUICK and size < LARGE // 4 else window


def _shown(moment: int) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%S")
