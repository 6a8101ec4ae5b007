"""`leadline findings`: what somebody should look at."""

from __future__ import annotations

from datetime import UTC, datetime

import click
import orjson

from leadline.commands.clocks import by_own_clocks
from leadline.commands.context import Context, with_context
from leadline.commands.showing import listed, sure_of, tell_sure, waiting
from leadline.commands.usage import named_periods, zone_of
from leadline.formats.times import EARLIEST
from leadline.query import Filter, parse_period, question
from leadline.render import Table
from leadline.render.table import FORMATS
from leadline.reports.detectors import DETECTORS
from leadline.reports.finding import Case
from leadline.reports.findings import COLUMNS, rows
from leadline.reports.findings import findings as find
from leadline.reports.settings import FindingSettings
from leadline.store.plan import Condition, Op
from leadline.store.scope import EVERYTHING


@click.command()
@click.option("--kind", "-k", "kinds", multiple=True, type=click.Choice(list(DETECTORS)))
@click.option("--period", "-p", default="last 24 hours", show_default=True, metavar="PERIOD")
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
@with_context
def findings(context: Context, kinds: tuple[str, ...], period: str, form: str) -> None:
    """
    Strays, hogs, dead weight, idle GPUs, unused cores, silent nodes: with evidence and hours.

    Ends with 3 when something was found, so that scripts can tell.

    \b
    Examples:
        leadline findings
        leadline findings --kind 'idle GPUs' --period 'last 7 days' --format csv
    """
    now = datetime.now(UTC)
    span = parse_period(period, now, zone_of(context, question()), named_periods(context))
    where = (Condition("cluster", Op.IN, (context.cluster,)),) if context.cluster else ()
    start, end = max(span.start or EARLIEST, EARLIEST), min(span.end or now, now)
    limits = context.settings.get("findings", FindingSettings)
    with waiting("looking"):
        found = find(Case(context.store, EVERYTHING, start, end, now, where, limits), kinds)
    told = rows(found)
    if form == "json":
        click.echo(orjson.dumps(told, option=orjson.OPT_INDENT_2).decode())
    elif not told and form == "table":
        click.echo(f"Nothing found ({period}).")
    else:
        labels, clocks = by_own_clocks(told, ("since",), context.clusters)
        people = form in ("table", "markdown")
        listed(Table(COLUMNS, tuple(told), labels if people else ()), form)
        if people and clocks:
            click.echo(f"\n{clocks}")
    named = (Filter("cluster", (context.cluster,)),) if context.cluster else ()
    tell_sure(sure_of(context, named, span, now), form)
    if told:
        click.get_current_context().exit(3)
