"""
What may be set about a spool.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class SpoolSettings:
    folder: str = ""  # where the segments lie; empty: `spool` in the state folder
    max_bytes: int = 1 << 30  # more than that: the oldest segments are dropped, and counted
    max_age_seconds: float = 7 * 86400.0  # older than that: the same; 0: any age
    segment_bytes: int = 8 << 20  # a new file after that many bytes
    segment_seconds: float = 3600.0  # and at the latest after that time
    sync_seconds: float = 0.0  # 0: fsync each batch before it counts as accepted; else that often
