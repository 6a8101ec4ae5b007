"""
Where documents wait: append-only segments with durable read positions.

One process writes (`Spool`), any number read (`Reader`), each from its own position; docs/spool.md
shows the folder.
"""

from leadline.spool.reader import Batch, Pending, Reader, pending
from leadline.spool.segments import Position
from leadline.spool.settings import SpoolSettings
from leadline.spool.writer import Counters, Spool

__all__ = [
    "Batch",
    "Counters",
    "Pending",
    "Position",
    "Reader",
    "Spool",
    "SpoolSettings",
    "pending",
]
