"""The embedded store: Delta tables by dataset and month, read by DuckDB."""

from leadline.store.lake.store import LakeStore

__all__ = ["LakeStore"]
