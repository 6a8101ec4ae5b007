"""
Settings section `opensearch`: how indices are cut and how they are fed.
"""

from __future__ import annotations

from dataclasses import dataclass

from leadline.formats.templates import families
from leadline.settings import Duration


@dataclass(frozen=True)
class OpenSearchSettings:
    shards: int = 1  # of each index; see docs/scale.md before raising it
    replicas: str = "0-1"  # copies, as index.auto_expand_replicas
    refresh: str = "30s"  # how soon new documents are seen
    codec: str = "best_compression"  # or zstd_no_dict where the plug-in is there
    daily: tuple[str, ...] = ()  # families whose indices are cut by day, not month or year
    worker: int = 2  # connections that send
    compress: bool = False  # gzip bodies: for a remote engine behind a slow line
    timeout: Duration = Duration(60)  # of one question

    def __post_init__(self) -> None:
        if unknown := set(self.daily) - set(families()):
            raise ValueError(
                f"daily: {', '.join(sorted(unknown))} is none of {', '.join(families())}"
            )
        if self.shards < 1 or self.worker < 1:
            raise ValueError("shards and worker must be 1 or more")
