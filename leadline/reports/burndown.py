"""
What was used of grants day by day, against the pace that would use them up evenly.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from leadline.formats.times import format_time
from leadline.language import _
from leadline.render import Column, Table
from leadline.render.charts.spans import burndown
from leadline.reports.allocations import Allocation
from leadline.reports.grants import Grant
from leadline.reports.picture import Spec, shown

MOST_DRAWN = 20  # grants, one below the other
DAY = timedelta(days=1)
WHOSE = ("project", "cluster", "partition", "gpu_model", "resource", "period")
COLUMNS = tuple(Column(name, name) for name in (*WHOSE, "day", "used", "even_pace", "granted"))


def table(found: Sequence[Allocation], now: datetime) -> Table:
    rows = [
        {
            "project": one.grant.project,
            "cluster": one.grant.cluster,
            "partition": one.grant.partition,
            "gpu_model": one.grant.gpu_model,
            "resource": one.grant.resource,
            "period": one.grant.period.text,
            "day": day,
            "used": used,
            "even_pace": even_pace(one, end_of(one, day, now)),
            "granted": one.grant.hours,
        }
        for one in found
        for day, used in one.by_day
    ]
    return Table(COLUMNS, tuple(rows))


def drawn(found: Sequence[Allocation], now: datetime) -> Spec:
    """
    Used and even pace of each grant; of one that is spent the line goes on above the pace.
    """
    return burndown(
        [
            (
                f"{whose(one.grant)}, {dated(one.grant)}",
                [
                    {"time": _drawn(one, one.grant.start), "value": 0.0},
                    *(
                        {"time": _drawn(one, end_of(one, day, now)), "value": used}
                        for day, used in one.by_day
                    ),
                ],
                [
                    {"time": _drawn(one, one.grant.start), "value": 0.0},
                    {"time": _drawn(one, one.grant.end), "value": one.grant.hours},
                ],
            )
            for one in found
        ]
    )


def whose(grant: Grant) -> str:
    place = _(" on {places}").format(places=grant.cluster) if grant.cluster else ""
    narrower = "".join(f", {name}" for name in (grant.partition, grant.gpu_model) if name)
    return f"{grant.project or _('all projects')}{place}{narrower}"


def dated(grant: Grant) -> str:
    """
    2026-10-01 – 2027-03-31.
    """
    zone = grant.period.zone
    last = grant.end.astimezone(zone) - timedelta(microseconds=1)
    return f"{grant.start.astimezone(zone):%Y-%m-%d} – {last:%Y-%m-%d}"


def end_of(one: Allocation, day: str, now: datetime) -> datetime:
    midnight = datetime.fromisoformat(day).replace(tzinfo=one.grant.period.zone) + DAY
    return min(midnight, one.grant.end, max(now, one.grant.start))


def even_pace(one: Allocation, moment: datetime) -> float:
    return one.grant.hours * ((moment - one.grant.start) / (one.grant.end - one.grant.start))


def _drawn(one: Allocation, moment: datetime) -> str:
    return shown(format_time(moment), one.grant.period.zone)
