"""
From the one table of retention to moments: since when each family is kept, and what may go.

Raw samples go only when the month is sealed, that is when its summaries are made for good.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from leadline.settings.common import RetentionSettings
from leadline.store.contract import Expired

RAW = ("process", "node", "gpu")  # what summaries are made from
NAMES = "names"  # not a family: how long documents keep names
NEVER = datetime(1970, 1, 1, tzinfo=UTC)


def kept_from(
    retention: RetentionSettings,
    now: datetime,
    sealed: Mapping[str, datetime] | None = None,
) -> dict[str, datetime]:
    """
    Family → the moment before which whole periods may go; `sealed` holds the end of the last
    sealed period of raw families. None of it: everything may go by age alone.
    """
    keep = {}
    for family, age in asdict(retention).items():
        if not age or family == NAMES:
            continue
        moment = now - timedelta(seconds=age)
        if sealed is not None and family in RAW:
            moment = min(moment, sealed.get(family, NEVER))
        keep[family] = moment
    return keep


def withheld(by_age: list[Expired], taken: list[Expired]) -> list[Expired]:
    """
    What is old enough but not sealed.
    """
    names = {item.name for item in taken}
    return [item for item in by_age if item.name not in names]


DATED_FILE = re.compile(
    r"[A-Za-z0-9_.-]*?(\d{4})-?(\d\d)-?(\d\d)\.(?:ndjson|json|tsv|csv)(?:\.(?:gz|zst))?", re.ASCII
)


@dataclass(frozen=True, slots=True)
class OldFile:
    path: Path
    day: date
    size: int


def old_files(folder: Path, before: date) -> Iterator[OldFile]:
    """
    Sample files directly in `folder` whose name ends in a day before `before`; no other file.
    """
    for path in sorted(folder.iterdir()):
        found = DATED_FILE.fullmatch(path.name)
        if found is None or path.is_symlink() or not path.is_file():
            continue
        try:
            day = date(*map(int, found.groups()))
        except ValueError:
            continue
        if day < before:
            yield OldFile(path, day, path.stat().st_size)
