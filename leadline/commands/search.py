"""`leadline search`: command lines by words, phrases, prefixes and exclusions."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import click
import orjson

from leadline.commands.clocks import MINUTE
from leadline.commands.context import Context, with_context
from leadline.commands.showing import listed, prose, sure_of, tell_sure, waiting
from leadline.commands.usage import named_periods, zone_of
from leadline.formats.counted import counted
from leadline.formats.times import parse_time
from leadline.query import Filter, parse_filters, parse_period, question
from leadline.query.compile import conditions_of
from leadline.query.dimensions import dimension
from leadline.render import Column, Table
from leadline.render.table import FORMATS, Value
from leadline.reports.answers import found_json
from leadline.store.contract import Found, Hit
from leadline.store.plan import Plan
from leadline.store.scope import EVERYTHING

COLUMNS = (
    Column("core_hours", "core hours", "hours"),
    Column("samples", "samples", ""),
    Column("users", "users"),
    Column("programs", "program"),
    Column("last_seen", "last seen"),
    Column("command_line", "command line", below=True),
)


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
@click.option("--where", "-w", "where", multiple=True, metavar="NAME=VALUE", help="Only these.")
@click.option("--period", "-p", default="last 30 days", show_default=True, metavar="PERIOD")
@click.option("--limit", "-n", type=click.IntRange(1, 10_000), default=20, show_default=True)
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
@with_context
def search(
    context: Context,
    words: tuple[str, ...],
    where: tuple[str, ...],
    period: str,
    limit: int,
    form: str,
) -> None:
    """
    Distinct command lines that hold WORDS, the best match first.

    A line matches when it holds at least one term; more terms rank higher, then core hours.
    Write 'word*' for a prefix, '"two words"' for a phrase, -word to leave lines out.
    Ends with 1 when nothing is found.

    \b
    Examples:
        leadline search gmx mdrun
        leadline search 'train*' -notebook --where user=alice --period 2026-10
    """
    filters = tuple(known for part in where for known in parse_filters(part))
    if context.cluster is not None:
        filters = (*filters, Filter("cluster", (context.cluster,)))
    zone = zone_of(context, question(where=filters))
    span = parse_period(period, datetime.now(UTC), zone, named_periods(context))
    plan = Plan("process", (), start=span.start, end=span.end)
    conditions = [
        condition
        for known in filters
        if dimension(known.dimension)
        for condition in conditions_of(known, plan, context.store, EVERYTHING)
    ]
    with waiting("searching"):
        found = context.store.search(
            " ".join(words),
            EVERYTHING,
            where=conditions,
            start=span.start,
            end=span.end,
            limit=limit,
        )
    known = sure_of(context, filters, span, datetime.now(UTC))
    if form == "json":
        click.echo(orjson.dumps(found_json(found, known), option=orjson.OPT_INDENT_2).decode())
    else:
        show(found, form, zone)
        tell_sure(known, form)
    if not found.hits:
        click.get_current_context().exit(1)


def show(found: Found, form: str, zone: ZoneInfo) -> None:
    if form == "table" and not found.hits:
        click.echo("No command line holds any of these words in the period.")
        return
    seen = tuple(_seen(hit, zone) for hit in found.hits)
    listed(Table(COLUMNS, tuple(map(_row, found.hits)), seen), form)
    if form != "table":
        return
    lines = [f"{len(found.hits):,} of {counted(found.total, 'distinct command line')}."]
    lines[-1] += f" Times are {zone.key}."
    for name, counts in found.facets.items():
        told = ", ".join(f"{value} {count:,}" for value, count in counts.items())
        lines.append(f"Samples by {name}: {told or 'not known'}.")
    click.echo(prose(["", *lines]))


def _seen(hit: Hit, zone: ZoneInfo) -> dict[str, str]:
    return {"last_seen": f"{parse_time(hit.last_seen).astimezone(zone):{MINUTE}}"}


def _row(hit: Hit) -> dict[str, Value]:
    return {
        "core_hours": hit.core_hours,
        "samples": hit.samples,
        "users": ", ".join(hit.users),
        "programs": ", ".join(hit.programs),
        "last_seen": hit.last_seen,
        "command_line": hit.command_line,
    }
