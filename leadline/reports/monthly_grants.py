"""
The grants of whom a report is about: granted, used, left, and where that leads, as of the end of
the report's time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from leadline.query import Filter, Period
from leadline.render import Column, Table
from leadline.render.charts import draw_svg
from leadline.render.table import Value
from leadline.reports.allocations import Allocation, allocations, rows
from leadline.reports.burndown import MOST_DRAWN, dated, drawn, whose
from leadline.reports.grants import Grant
from leadline.reports.settings import AllocationSettings
from leadline.store.contract import Store
from leadline.store.scope import Scope

COLUMNS = (
    Column("grant", "Grant"),
    Column("granted", "granted", "hours"),
    Column("used", "used", "hours"),
    Column("share", "used", "percent"),
    Column("elapsed", "time gone", "percent"),
    Column("left", "left", "hours"),
    Column("projected", "at the end", "hours"),
    Column("verdict", "Verdict"),
)
WORDS = (
    ("granted", "Hours the project may use over the whole period of the grant."),
    ("used", "Hours charged to the grant from its first day until this report's last."),
    ("left", "Granted less used; below zero more was used than granted."),
    ("time gone", "Share of the grant's period that was over by then."),
    ("even pace", "The dashed line: what uses a grant up exactly at its end."),
    ("at the end", "What will be used at the grant's end, going on as in its last {days:g} days."),
)


@dataclass(frozen=True, slots=True)
class Granted:
    title: str
    table: Table
    picture: str  # SVG, or empty
    words: tuple[tuple[str, str], ...]


def granted(
    store: Store,
    scope: Scope,
    grants: Sequence[Grant],
    settings: AllocationSettings,
    where: Sequence[Filter],
    span: Period,
    now: datetime,
) -> Granted | None:
    """
    None where nothing was granted to whom the filters of a report name, in its time.
    """
    until = min(now, span.end or now)
    begin = span.start or until
    fits = [g for g in grants if g.start < until and g.end > begin and _is_of(g, where)]
    if not fits:
        return None
    found = allocations(store, scope, fits, until, settings)
    curves = [one for one in found if one.by_day][:MOST_DRAWN]
    title = f"Grants, as of {_day(until, span)}"
    return Granted(
        title=title,
        table=Table(COLUMNS, tuple(_row(one) for one in found)),
        picture=draw_svg(drawn(curves, until), title) if curves else "",
        words=tuple((word, text.format(days=settings.recent_days)) for word, text in WORDS),
    )


def _is_of(grant: Grant, where: Sequence[Filter]) -> bool:
    """
    A grant of the projects asked about, or of all together where none is; on the clusters asked
    about. Of a part of a project nothing is granted.
    """
    named = {known.dimension: known.values for known in where}
    if not named.keys() <= {"project", "cluster"} or any(known.negated for known in where):
        return False
    on = grant.cluster is None or grant.cluster in named.get("cluster", (grant.cluster,))
    return on and grant.project in named.get("project", (None,))


def _row(one: Allocation) -> dict[str, Value]:
    (known,) = rows([one])
    verdict = ", ".join(str(known[name]) for name in ("verdict", "runs_out") if known[name])
    return {**known, "grant": _named(one.grant), "verdict": verdict}


def _day(moment: datetime, span: Period) -> str:
    last = moment.astimezone(span.zone) - timedelta(microseconds=1)
    return f"{last:%Y-%m-%d}"


def _named(grant: Grant) -> str:
    """
    chem-1 on fox, core hours, 2026-10-01 – 2027-03-31.
    """
    hours = "core hours" if grant.resource == "core" else "GPU hours"
    return f"{whose(grant)}, {hours}, {dated(grant)}"
