"""`leadline identities`: who belongs where, and the same for what is stored already."""

from __future__ import annotations

import hashlib
from collections import Counter
from datetime import UTC, datetime

import click

from enrich.identity import UNKNOWN, IdentitySettings, read_identities
from enrich.reapply import DAY, Place
from enrich.reidentify import Moves, Reidentify
from enrich.rules import Rules
from enrich.step import Context as StepContext
from leadline.commands.context import Context, with_context
from leadline.commands.programs import since_day
from leadline.formats.counted import counted
from leadline.query.periods import parse_period
from leadline.render import number, safe_text
from leadline.settings.zones import local_zone
from leadline.store.plan import Aggregate, Condition, Function, Group, Op, Plan
from leadline.store.scope import EVERYTHING


@click.group()
def identities() -> None:
    """
    Users, their groups, and groups of groups.

    \b
    Example:
        leadline identities apply --since 2026-01-01 --dry-run
    """


@identities.command()
@click.argument("user")
@click.option("--day", help="On this day; today without it.")
@with_context
def show(context: Context, user: str, day: str | None) -> None:
    """
    The group and metagroups of USER.

    \b
    Example:
        leadline identities show alice --day 2026-03-01
    """
    known = read_identities(context.settings.get("identity", IdentitySettings))
    when = since_day(day) if day else datetime.now(UTC)
    found = known.of(user, f"{when:%Y-%m-%d}", context.cluster or "")
    click.echo(f"group       {found.group or 'none'}")
    click.echo(f"metagroups  {' '.join(found.metagroups) or 'none'}")


@identities.command()
@click.option("--period", "-p", default="last 30 days", show_default=True, metavar="PERIOD")
@with_context
def unknown(context: Context, period: str) -> None:
    """
    Users whom neither tables nor the directory know, by core hours.

    \b
    Example:
        leadline identities unknown --period 'last 7 days'
    """
    span = parse_period(period, datetime.now(UTC), local_zone())
    plan = Plan(
        "process",
        (Aggregate("seconds", Function.SUM, "core_seconds"),),
        (Group("user.name"), Group("cluster")),
        (Condition("user.group", Op.IN, (UNKNOWN,)),),
        span.start,
        span.end,
    )
    rows = context.store.ask(plan, EVERYTHING)
    click.echo(f"{counted(len(rows), 'unknown user')} ({span.text}).")
    if rows:
        click.echo(f"{'core hours':>12}  cluster  user")
    for row in sorted(rows, key=lambda row: -float(row["seconds"] or 0)):
        click.echo(
            f"{number(float(row['seconds'] or 0) / 3600, 'hours'):>12}  {row['cluster']!s:7}"
            f"  {safe_text(str(row['user.name']))}"
        )


@identities.command()
@click.option("--since", required=True, metavar="DAY|AGE", help="2026-03-01, or 30d.")
@click.option("--dry-run", is_flag=True, help="Say what would change; write nothing.")
@with_context
def apply(context: Context, since: str, dry_run: bool) -> None:
    """
    Give stored documents the groups that the tables of today give to their day.

    Without this, history keeps what was said when it came in.

    \b
    Example:
        leadline identities apply --since 90d
    """
    settings = context.settings.get("identity", IdentitySettings)
    known = read_identities(settings)
    files = (*settings.users, *settings.metagroups)
    version = hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()[:12]
    place = Place(context.paths.state / "identities-apply.json", version)
    work = Reidentify(
        context.store,
        StepContext(rules=Rules([]), clusters=context.clusters, identities=known),
        write=not dry_run,
    )
    start = since_day(since)
    moves: Moves = Counter()
    for moved in work.days(start, datetime.now(UTC) + DAY, place):
        moves.update(moved)
    place.forget()
    verb = "would change" if dry_run else "changed"
    click.echo(f"{counted(moves.total(), 'document')} {verb} since {start:%Y-%m-%d}")
    for (user, before, after), count in moves.most_common():
        change = "metagroups" if before == after else f"{before} → {after}"
        click.echo(f"{count:12,}  {safe_text(f'{user}: {change}')}")
