"""
What the projects of a simulated cluster were granted, as a file that `allocations.files` reads.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import cycle

from leadline.simulate.activity import Job

HOUR = 3600
MONTHS = 3
HEAD = "project,cluster,period,core_hours,gpu_hours,note"
# Of what a project will have used in the end at its pace: each way a grant can go is seen.
GENEROUS = (1.0, 0.7, 1.6, 1.05, 0.25)


def grants(jobs: Iterable[Job], cluster: str, start: int, end: int) -> str:
    """
    A line for each project, over the three months that begin with the first one simulated.
    """
    first = datetime.fromtimestamp(start, UTC).date().replace(day=1)
    after = first
    for _ in range(MONTHS):
        after = (after + timedelta(days=31)).replace(day=1)
    period = f"{first}..{after - timedelta(days=1)}"
    over = datetime(after.year, after.month, after.day, tzinfo=UTC).timestamp()
    whole = (over - start) / (end - start)  # of what was used until the end
    held = _held(jobs, start, end)
    lines = [HEAD]
    for project, share in zip(sorted(held), cycle(GENEROUS), strict=False):
        cores, cards = (_rounded(one * whole * share) for one in held[project])
        lines.append(f"{project},{cluster},{period},{cores or ''},{cards or ''},simulated")
    return "\n".join(lines) + "\n"


def _held(jobs: Iterable[Job], start: int, end: int) -> dict[str, tuple[float, float]]:
    """
    Core hours and card hours of each project between START and END.
    """
    found: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for job in jobs:
        hours = max(0.0, min(job.end, end) - max(job.start, start)) / HOUR
        if hours:
            found[job.user.project][0] += job.cores * len(job.hosts) * hours
            found[job.user.project][1] += job.cards * len(job.hosts) * hours
    return {project: (cores, cards) for project, (cores, cards) in found.items()}


def _rounded(hours: float) -> int:
    """
    To two figures, as grants are given.
    """
    if hours < 1:
        return 0
    step = int(10 ** max(0, len(str(int(hours))) - 2))
    return round(hours / step) * step
