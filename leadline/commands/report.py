"""`leadline report`: what a leader holds once a month, as a file or to her by the notifiers."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from leadline.alerts.ledger import Ledger
from leadline.alerts.schedule import KINDS, letter
from leadline.commands.alerts import alerts_of
from leadline.commands.context import Context, with_context
from leadline.commands.showing import waiting
from leadline.commands.usage import grants_of, named_periods, zone_of
from leadline.errors import SettingsError
from leadline.query import Filter, Question, parse_filters
from leadline.query.zones import own_zones
from leadline.reports.monthly import Desk, Report, make
from leadline.reports.monthly_page import as_html, as_pdf, as_text
from leadline.reports.settings import AllocationSettings
from leadline.store.scope import EVERYTHING


@click.command()
@click.argument("kind", type=click.Choice(list(KINDS)))
@click.option(
    "--for", "about", multiple=True, metavar="NAME=VALUE", help="On what: project=chem-1."
)
@click.option("--period", "-p", metavar="PERIOD", help="Another than the last whole one: 2026-10.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write it there.")
@click.option("--pdf", is_flag=True, help="As PDF, printed by a Chromium of this machine.")
@click.option("--text", is_flag=True, help="As plain text, as a mail says it.")
@click.option("--send", metavar="PERSON", help="To a person of the settings, by the notifiers.")
@with_context
def report(
    context: Context,
    kind: str,
    about: tuple[str, ...],
    period: str | None,
    out: Path | None,
    pdf: bool,
    text: bool,
    send: str | None,
) -> None:
    """
    Figures, pictures and definitions of the last month or week in one file that fetches nothing.

    The section `reports` of the settings has it sent by itself, once per month or week.

    \b
    Examples:
        leadline report monthly --for project=chem-1 --out chem-1.html
        leadline report monthly --for project=chem-1 --period 2026-10 --pdf --out chem-1.pdf
        leadline report weekly --for group=ml --send head
    """
    if pdf and out is None:
        raise SettingsError("--pdf needs --out FILE: a PDF is nothing for a terminal")
    where = tuple(known for part in about for known in parse_filters(part))
    if context.cluster is not None:
        where = (*where, Filter("cluster", (context.cluster,)))
    desk = Desk(
        store=context.store,
        scope=EVERYTHING,
        now=datetime.now(UTC),
        zone=zone_of(context, Question(where=where)),
        own=own_zones(Question(where=where), context.clusters),
        named=named_periods(context),
        grants=grants_of(context),
        allocations=context.settings.get("allocations", AllocationSettings),
    )
    with waiting("adding up"):
        made = make(desk, where, period or f"previous {KINDS[kind]}")
    if send is not None:
        post(context, made, send, pdf=pdf)
        return
    write(made, out, pdf=pdf, text=text)


def write(made: Report, out: Path | None, *, pdf: bool, text: bool) -> None:
    if out is None:
        click.echo(as_text(made) if text else as_html(made), nl=False)
        return
    data = as_pdf(made) if pdf else (as_text(made) if text else as_html(made)).encode()
    out.write_bytes(data)
    click.echo(f"{out}: {made.title}, {len(data):,} bytes")


def post(context: Context, made: Report, person: str, *, pdf: bool) -> None:
    """
    Into the outbox: it is handed over at the next turn, by whoever does the alerts.
    """
    site = alerts_of(context)
    if person not in site.people:
        known = ", ".join(site.people) or "none yet"
        raise SettingsError(f"--send {person}: people of the settings are {known}")
    mail = letter(made, "report", pdf=pdf)
    ledger = Ledger(site.folder)
    try:
        box = site.outbox(ledger)
        box.post(f"by hand {datetime.now(UTC).isoformat()}", person, mail, datetime.now(UTC))
    finally:
        ledger.close()
    way = "goes out at the next turn of `leadline chores`" if site.settings.send else "a dry run"
    click.echo(f"{made.title}: for {person}, {way}")
