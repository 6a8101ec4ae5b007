"""`leadline forget`: take one person out of everything that is kept here."""

from __future__ import annotations

import sys

import click
import orjson

from leadline.commands.context import Context, with_context
from leadline.commands.places import GROUPS, Person, Told, places
from leadline.commands.pseudonym import alias_of
from leadline.errors import SettingsError
from leadline.formats.pseudonyms import is_pseudonym
from leadline.render import safe_text


@click.command()
@click.argument("user")
@click.option("--pseudonym", is_flag=True, help="Keep the figures, under a pseudonym.")
@click.option("--dry-run", is_flag=True, help="Only say what is kept of USER, and where.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--only", multiple=True, type=click.Choice(GROUPS), help="Only these places.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table")
@with_context
def forget(
    context: Context,
    user: str,
    pseudonym: bool,
    dry_run: bool,
    yes: bool,
    only: tuple[str, ...],
    form: str,
) -> None:
    """
    Delete what is kept of USER in the store, spools, dead letters and alerts, or put a
    pseudonym in the place of her name.

    Says first how much is where, and asks. Stopped in the middle, the same command goes on; done
    again, it finds nothing. Ends with 3 when something had to be left for later.

    \b
    Examples:
        leadline forget alice --dry-run
        leadline forget alice --pseudonym
        leadline forget alice --yes
    """
    if not user.strip() or is_pseudonym(user):
        raise SettingsError(f"{user!r}: name a user as `leadline usage --by user` shows her")
    alias = alias_of(context) if pseudonym else None
    if pseudonym and alias is None:
        raise SettingsError("--pseudonym: no key; privacy.key names a file that holds one")
    person = Person(user, alias)
    found = list(places(context, person, only, dry_run=True))
    if dry_run or not any(told.count for told in found):
        show(found, form, "is kept")
        return
    if not yes:
        show(found, form, "is kept")
        if not sys.stdin.isatty():
            raise SettingsError("nothing was changed; --yes does it without asking")
        what = "hidden behind a pseudonym" if pseudonym else "deleted for good"
        if click.prompt(f"All this is {what}. Type {user} to go on", default="") != user:
            raise click.Abort
    done = list(places(context, person, only, dry_run=False))
    show(done, form, "hidden" if pseudonym else "deleted")
    if any(told.left for told in done):
        click.get_current_context().exit(3)


def show(found: list[Told], form: str, verdict: str) -> None:
    if form == "json":
        rows = [{"place": t.place, "count": t.count, "left": t.left} for t in found]
        click.echo(orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode())
        return
    for told in found:
        word = "left" if told.left else verdict
        why = f"  ({told.left})" if told.left else ""
        click.echo(safe_text(f"{told.count:>10,}  {word}  {told.place}{why}"))
    if not any(told.count for told in found):
        click.echo("Nothing is kept of that name.")
