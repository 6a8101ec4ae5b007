"""`leadline jobs`: runs of a period, one line each."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import click
import orjson

from leadline.commands import showing
from leadline.commands.clocks import MINUTE, by_own_clocks
from leadline.commands.context import Context, with_context
from leadline.commands.usage import named_periods, zone_of
from leadline.errors import QuestionError
from leadline.formats.times import parse_time
from leadline.query import Filter, Period, parse_filters, parse_period, question
from leadline.query.compile import conditions_of
from leadline.query.dimensions import dimension
from leadline.render import Table
from leadline.render.table import FORMATS, Value
from leadline.reports.jobs import COLUMNS, job_rows
from leadline.reports.waiting import (
    NOW,
    OVER_TIME,
    WAITING,
    edges,
    waiting_now,
    waiting_rows,
    waiting_series,
    waits,
)
from leadline.store.plan import Condition, Plan
from leadline.store.scope import EVERYTHING

NO_RUN = (
    "No accounted run that matches. Runs come from `leadline backfill` or a scheduler's reader;"
    " `leadline status` says what is heard."
)
NO_WAIT = (
    "No job waited, or nobody asked: one machine of each cluster must ask its scheduler,"
    " set collect.slurm_live.enabled there."
)
RECENT = "last 24 hours"  # what is said of the samples of jobs that run


@click.command()
@click.option("--where", "-w", "where", multiple=True, metavar="NAME=VALUE", help="Only these.")
@click.option("--period", "-p", default="last 7 days", show_default=True, help="Ended in it.")
@click.option("--running", is_flag=True, help="Those that have not ended.")
@click.option("--waiting", is_flag=True, help="Why jobs waited: reason, partition, QOS, how long.")
@click.option("--every", type=click.Choice(["hour", "day"]), help="With --waiting: over time.")
@click.option("--pending", is_flag=True, help="Jobs that wait now, by priority.")
@click.option(
    "--shortest",
    type=click.FloatRange(min=0),
    default=0,
    metavar="SECONDS",
    help="Leave out shorter ones.",
)
@click.option("--limit", "-n", type=click.IntRange(1, 100_000), default=50, show_default=True)
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
@with_context
def jobs(
    context: Context,
    where: tuple[str, ...],
    period: str,
    running: bool,
    waiting: bool,
    every: str | None,
    pending: bool,
    shortest: float,
    limit: int,
    form: str,
) -> None:
    """
    Runs that ended in a period, the newest first, with what they used of what they had.

    \b
    Examples:
        leadline jobs --where user=alice --period today
        leadline jobs --running --where partition=gpu
        leadline jobs --waiting --every day --where partition=gpu
    """
    showing.one_of(running=running, waiting=waiting, pending=pending)
    if every and not waiting:
        raise QuestionError("--every: only with --waiting")
    filters = tuple(known for part in where for known in parse_filters(part))
    if context.cluster is not None:
        filters = (*filters, Filter("cluster", (context.cluster,)))
    zone = zone_of(context, question(where=filters))
    span = parse_period(period, datetime.now(UTC), zone, named_periods(context))
    conditions: list[Condition] = []
    for known in filters:
        dimension(known.dimension)
        plan = Plan("job_state" if waiting or pending else "job", ())
        conditions += conditions_of(known, plan, context.store, EVERYTHING)
    if pending:
        _pending(context, conditions, limit, form)
        return
    if waiting:
        _waiting(context, conditions, span, zone, every, form)
        return
    ended, now = None if running else span, datetime.now(UTC)
    with showing.waiting("looking"):
        store, most = context.store, limit + 1
        rows = job_rows(
            store, EVERYTHING, conditions, ended, shortest=shortest, limit=most, now=now
        )
    if len(rows) > limit:
        click.echo(f"Shown: the newest {limit:,}; --limit shows more.", err=True)
    _listed(context, rows[:limit], form)
    looked_at = parse_period(RECENT, now, zone) if running else span
    showing.tell_sure(showing.sure_of(context, filters, looked_at, now), form)


def _listed(context: Context, rows: list[dict[str, Value]], form: str) -> None:
    if form == "json":
        click.echo(orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode())
        return
    if not rows and form == "table":
        click.echo(showing.prose([NO_RUN]))
        return
    labels, clocks = by_own_clocks(rows, ("end",), context.clusters)
    showing.listed(Table(COLUMNS, tuple(rows), labels), form)
    if clocks and form not in showing.BARE:
        click.echo(f"\n{clocks}")


def _pending(context: Context, where: list[Condition], limit: int, form: str) -> None:
    with showing.waiting("looking"):
        rows = waiting_now(context.store, EVERYTHING, datetime.now(UTC), where)
    if not rows and form == "table":
        click.echo(showing.prose([NO_WAIT.replace("waited", "waits")]))
        return
    if len(rows) > limit:
        click.echo(f"Shown: the first {limit:,}; --limit shows more.", err=True)
    showing.listed(Table(NOW, tuple(rows[:limit])), form)


def _waiting(
    context: Context,
    where: list[Condition],
    span: Period,
    zone: ZoneInfo,
    every: str | None,
    form: str,
) -> None:
    """
    Why jobs waited, and with EVERY how that changed.
    """
    now = datetime.now(UTC)
    if span.start is None:
        raise QuestionError("--period: name a beginning, like `last 30 days` or `this year`")
    end = min(now, span.end or now)
    with showing.waiting("adding up"):
        found = waits(context.store, EVERYTHING, span.start, end, where)
    if not found and form == "table":
        click.echo(showing.prose([NO_WAIT]))
        return
    if every is None:
        table = Table(WAITING, tuple(waiting_rows(found)))
    else:
        cuts = edges(span.start, end, every, zone)
        series = tuple(waiting_series(found, cuts))
        clock = tuple(
            {"time": f"{parse_time(row['time']).astimezone(zone):{MINUTE}}"} for row in series
        )
        table = Table(OVER_TIME, series, clock if form in ("table", "markdown") else ())
    showing.listed(table, form)
    if every is not None and form == "table":
        click.echo(f"\nTimes are {zone.key}.")
