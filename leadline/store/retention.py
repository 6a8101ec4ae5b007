"""
From the one table of retention to moments: since when each family is kept, and what may go.

Raw samples go only when the month is sealed, that is when its summaries are made for good.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from leadline.formats import DATASETS
from leadline.settings.common import RetentionSettings
from leadline.store.contract import Expired

RAW = ("process", "node", "gpu")  # what summaries are made from
NAMES = "names"  # not a family: how long documents keep names
WIDTHS = {"month": 7, "year": 4}  # of 2026-11-21
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


@dataclass(frozen=True, slots=True)
class Gone:
    """
    Periods that are kept no longer: a document of one comes too late, it has expired.
    """

    before: Mapping[str, str] = field(default_factory=dict)  # family → the first month still kept
    sealed: frozenset[tuple[str, str]] = frozenset()  # families and months of raw samples

    def takes(self, dataset: str, time: str) -> bool:
        family = DATASETS[dataset].family
        before = self.before.get(family)
        if before is None:
            return False
        month = time[: WIDTHS[DATASETS[dataset].period]]
        if month >= before[: len(month)]:
            return False
        return family not in RAW or (family, month) in self.sealed

    @property
    def horizon(self) -> str:
        """
        Nothing from then on has expired.
        """
        return max(self.before.values(), default="")


def gone(retention: RetentionSettings, now: datetime, sealed: frozenset[tuple[str, str]]) -> Gone:
    """
    By age, but of raw samples only the SEALED months: others are still to be summarised.
    """
    moments = kept_from(retention, now)
    return Gone({family: f"{moment:%Y-%m}" for family, moment in moments.items()}, sealed)


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
