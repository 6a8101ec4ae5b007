"""
What may be set about a spool.
"""

from dataclasses import dataclass
from pathlib import Path

from leadline.settings import Duration, Size


@dataclass(frozen=True)
class SpoolSettings:
    path: Path | None = None  # where the segments lie; empty: in the data folder
    max_size: Size = Size(1 << 30)  # more: the oldest segments are dropped, and counted
    max_age: Duration = Duration(7 * 86400)  # older: dropped too; 0 keeps any age
    segment_size: Size = Size(8 << 20)  # a new file after that much
    segment_age: Duration = Duration(3600)  # and at the latest after that time
    sync_every: Duration = Duration(0)  # 0 syncs each batch before it is accepted

    def __post_init__(self) -> None:
        if self.max_size < 1 << 16:
            raise ValueError("max_size is below 64KiB; a batch would not fit")
