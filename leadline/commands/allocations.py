"""`leadline allocations`: what was granted, what is used, what is left."""

from __future__ import annotations

from datetime import UTC, datetime

import click
import orjson

from leadline.commands.context import Context, with_context
from leadline.commands.showing import listed, prose, waiting
from leadline.commands.usage import grants_of
from leadline.render import Table
from leadline.render.table import FORMATS
from leadline.reports.allocations import COLUMNS, alike, columns, rows
from leadline.reports.allocations import allocations as find
from leadline.reports.settings import AllocationSettings
from leadline.store.scope import EVERYTHING


@click.command()
@click.option("--project", multiple=True, metavar="NAME", help="Grants of these projects only.")
@click.option("--all", "everything", is_flag=True, help="Grants that are over or not begun, too.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
@with_context
def allocations(context: Context, project: tuple[str, ...], everything: bool, form: str) -> None:
    """
    Core and GPU hours granted: used, left, the rate they go at, and where that ends.

    Grants stand in the settings, section `allocations`. Ends with 3 when one is used up or will
    be before its time, so that scripts can tell.

    \b
    Examples:
        leadline allocations
        leadline allocations --project nn1234 --all --format csv
    """
    now = datetime.now(UTC)
    settings = context.settings.get("allocations", AllocationSettings)
    grants = tuple(
        grant
        for grant in grants_of(context)
        if (not project or grant.project in project)
        and (everything or grant.start <= now < grant.end)
        and context.cluster in (None, grant.cluster)
    )
    with waiting("adding up"):
        found = find(context.store, EVERYTHING, grants, now, settings)
    told = rows(found)
    if form == "json":
        click.echo(orjson.dumps(told, option=orjson.OPT_INDENT_2).decode())
    elif not told and form == "table":
        click.echo(
            "No grant. Write them in the settings, section `allocations`; --all shows old ones."
        )
    else:
        shown = columns(told) if form == "table" else COLUMNS
        listed(Table(shown, tuple(told)), form)
        if form == "table" and (same := alike(told)):
            once = ", ".join(f"{name} {value}" for name, value in same.items())
            click.echo(prose(["", f"{once[:1].upper()}{once[1:]}."]))
    if any(known.alarming for known in found):
        click.get_current_context().exit(3)
