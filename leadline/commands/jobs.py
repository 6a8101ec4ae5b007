"""`leadline jobs`: runs of a period, one line each."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime

import click
import orjson

from leadline.commands.context import Context, with_context
from leadline.commands.usage import zone_of
from leadline.query import Filter, parse_filters, parse_period, question
from leadline.query.compile import conditions_of
from leadline.query.dimensions import dimension
from leadline.render import Table, render
from leadline.render.table import FORMATS
from leadline.reports.jobs import COLUMNS, job_rows
from leadline.store.plan import Condition, Plan
from leadline.store.scope import EVERYTHING


@click.command()
@click.option("--where", "-w", "where", multiple=True, metavar="NAME=VALUE", help="Only these.")
@click.option("--period", "-p", default="last 7 days", show_default=True, help="Ended in it.")
@click.option("--running", is_flag=True, help="Those that have not ended.")
@click.option(
    "--shortest", type=float, default=0, metavar="SECONDS", help="Leave out shorter ones."
)
@click.option("--limit", "-n", type=click.IntRange(1, 100_000), default=50, show_default=True)
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
@with_context
def jobs(
    context: Context,
    where: tuple[str, ...],
    period: str,
    running: bool,
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
    """
    filters = tuple(known for part in where for known in parse_filters(part))
    if context.cluster is not None:
        filters = (*filters, Filter("cluster", (context.cluster,)))
    span = parse_period(period, datetime.now(UTC), zone_of(context, question(where=filters)))
    conditions: list[Condition] = []
    for known in filters:
        dimension(known.dimension)
        conditions += conditions_of(known, Plan("job", ()), context.store, EVERYTHING)
    rows = job_rows(
        context.store,
        EVERYTHING,
        conditions,
        None if running else span,
        shortest=shortest,
        limit=limit,
    )
    if form == "json":
        click.echo(orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode())
        return
    width = shutil.get_terminal_size((100, 24)).columns
    if not rows and form == "table":
        click.echo("No accounted run. Runs come from `leadline backfill` or a scheduler's reader.")
        return
    click.echo(render(Table(COLUMNS, tuple(rows)), form, width=width))
