"""
How much no store would take: dead letters, a line each and a file a day, where the worker is.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path

from leadline.query.periods import Period


def rejected_in(folder: Path) -> Callable[[Period], int] | None:
    """
    Counts what was rejected on the days of a period; None where no worker keeps dead letters.
    """
    if not folder.is_dir():
        return None
    return lambda period: sum(
        _lines(path) for path in sorted(folder.glob("*.ndjson*")) if _in(path, period)
    )


def _in(path: Path, period: Period) -> bool:
    try:
        day = date.fromisoformat(path.name[:10])
    except ValueError:
        return False
    after = period.start is None or day >= period.start.date()
    return after and (period.end is None or day <= period.end.date())


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))
