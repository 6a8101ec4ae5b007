"""
What would have sufficed: worked out once, for the advice, for `--scale` and for the pages.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence

from leadline.reports.job import JobView, number
from leadline.reports.settings import AdviceSettings

SLOWER = 0.02  # with what sufficed, a run takes no more than so much longer
GIB = 2**30


def saw_enough(view: JobView, limits: AdviceSettings) -> bool:
    """
    Whether samples know what the run needed at most, and what it never used.
    """
    seen = view.profile.watched >= limits.shortest and (view.covered or 0) >= limits.seen_share
    return seen and (view.agreed is None or view.agreed >= limits.seen_share)


def enough_cores(view: JobView, limits: AdviceSettings) -> int | None:
    """
    The fewest with which it would hardly have taken longer; None: too little was seen of it.
    """
    busy = [value for value in view.profile.cores if value is not None]
    if not busy or not saw_enough(view, limits):
        return None
    seen = sum(busy) / len(busy)
    missed = max(1.0, view.cpu.mean / seen) if view.cpu.mean and seen else 1.0
    return fewest([missed * value for value in busy])


def fewest(busy: Sequence[float]) -> int:
    """
    An interval in which more cores were BUSY than there are takes longer in proportion.
    """

    def fits(cores: int) -> bool:
        return sum(max(1.0, one / cores) for one in busy) <= (1 + SLOWER) * len(busy)

    most = max(1, math.ceil(max(busy)))
    return 1 + bisect_left(range(1, most), True, key=fits)


def enough_memory(view: JobView, limits: AdviceSettings) -> float | None:
    """
    Bytes on all its nodes together, the peak and some room; None where the peak is not known.
    """
    peak = view.memory.peak
    if peak is None or not (_accounted_memory(view) or saw_enough(view, limits)):
        return None
    each = memory_each(view, limits)
    return float(GIB * (_rounded(peak, limits) if each is None else each * max(1, len(view.nodes))))


def memory_each(view: JobView, limits: AdviceSettings) -> int | None:
    """
    GiB on each node, as Slurm asks memory: the node that held most decides. None: nobody knows.
    """
    count = view.record.get("job.node.count")
    most = max((node.peak_memory or 0 for node in view.nodes), default=0)
    if count != 1 and not saw_enough(view, limits):
        return None
    if count == 1 or (not most and len(view.nodes) == 1):
        most = view.memory.peak or most
    return _rounded(most, limits) if most else None


def _rounded(peak: float, limits: AdviceSettings) -> int:
    return max(1, math.ceil(peak * limits.head_room / GIB))


def _accounted_memory(view: JobView) -> bool:
    accounted = number(view.record, "job.memory.peak.bytes") is not None
    return accounted and view.record.get("job.memory.basis") != "virtual"
