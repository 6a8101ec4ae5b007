"""
The truth a fleet was made from: what really happened, and what ideal shippers could see of it.
"""

from __future__ import annotations

from collections import defaultdict

from leadline.simulate.activity import Activity, Job
from leadline.simulate.catalogue import UNMATCHED

HOUR = 360_000  # hundredths of a second
DIMENSIONS = ("program", "user", "group", "project", "partition", "host", "job")

Sums = dict[str, dict[str, dict[str, int]]]


def _sums() -> Sums:
    return defaultdict(lambda: defaultdict(lambda: defaultdict(int)))


def keys(activity: Activity, cluster: str) -> dict[str, str]:
    """
    Where an activity counts; a dimension it does not have is left out.
    """
    found = {
        "program": activity.recipe.program or UNMATCHED,
        "user": activity.user.name,
        "host": activity.host.name,
    }
    if activity.job is not None:
        found |= {
            "group": activity.user.group,
            "project": activity.user.project,
            "partition": activity.job.partition,
            "job": f"{cluster}/{activity.job.number}",
        }
    return found


class Ledger:
    """
    Whole numbers summed by measure, dimension and name.
    """

    def __init__(self) -> None:
        self.sums = _sums()
        self.peaks: dict[str, int] = {}
        self.totals: dict[str, int] = defaultdict(int)

    def add(self, names: dict[str, str], amounts: dict[str, int]) -> None:
        for measure, amount in amounts.items():
            self.totals[measure] += amount
            for dimension, name in names.items():
                self.sums[measure][dimension][name] += amount

    def peak(self, program: str, resident: int) -> None:
        self.peaks[program] = max(self.peaks.get(program, 0), resident)

    def as_dict(self) -> dict[str, object]:
        answer: dict[str, object] = {
            measure: {
                dimension: {name: _scaled(measure, n) for name, n in sorted(names.items())}
                for dimension, names in dimensions.items()
            }
            for measure, dimensions in self.sums.items()
        }
        answer["totals"] = {measure: _scaled(measure, n) for measure, n in self.totals.items()}
        if self.peaks:
            answer["memory_max"] = {"program": dict(sorted(self.peaks.items()))}
        return answer


def _scaled(measure: str, amount: int) -> float:
    return round(amount / HOUR, 5) if "hours" in measure else amount


def real_amounts(activity: Activity, start: float, end: float) -> dict[str, int]:
    """
    What an activity used between two moments, seen or not.
    """
    begin, stop = max(start, activity.start), min(end, activity.end)
    if stop <= begin:
        return {}
    used = activity.core_ticks(stop) - activity.core_ticks(begin)
    amounts = {"core_hours_used": used, "processes": 1}
    if activity.cards:
        busy = activity.card_ticks(stop) - activity.card_ticks(begin)
        amounts["gpu_hours_busy"] = busy * len(activity.cards)
        amounts["gpu_hours_held"] = int(100 * (stop - begin)) * len(activity.cards)
    return amounts


def findings(
    activities: list[Activity], jobs: list[Job], start: float, end: float
) -> dict[str, object]:
    """
    What a good report would find, told from what was planned, not from samples.
    """
    seen = [a for a in activities if a.end > start and a.start < end]
    login = [a for a in seen if a.host.kind == "login"]
    strays = [a for a in seen if a.job is None and a.host.kind != "login"]
    idle = [j for j in jobs if j.idle_cards and j.hosts and j.end > start]
    return {
        "hogs": [_told(a) for a in login if a.load > 0.4 * a.host.cores],
        "strays": [_told(a) for a in strays],
        "zombies": [_told(a) for a in seen if a.zombie],
        "idle_gpu_jobs": [str(job.number) for job in idle],
        "silent": [
            {"host": host.name, "from": host.down[0], "to": host.down[1]}
            for host in {a.host.name: a.host for a in activities}.values()
            if host.down
        ],
    }


def _told(activity: Activity) -> dict[str, object]:
    return {
        "host": activity.host.name,
        "user": activity.user.name,
        "pid": activity.pid,
        "program": activity.recipe.program or UNMATCHED,
        "from": round(activity.start, 3),
        "to": round(activity.end, 3),
        "core_hours": round(activity.core_ticks(activity.end) / HOUR, 3),
    }
