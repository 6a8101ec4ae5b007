"""`leadline accounts`: who may sign in to the pages, where they keep accounts of their own."""

from __future__ import annotations

from pathlib import Path

import click

from leadline.commands.context import Context, with_context
from leadline.errors import LeadlineError
from leadline.web import accounts as kept
from leadline.web.settings import WebSettings


@click.group()
def accounts() -> None:
    """
    Names and hashed passwords in the file that web.accounts_file names.

    \b
    Examples:
        leadline accounts add alice
        leadline accounts list
    """


@accounts.command()
@click.argument("name")
@click.password_option(help="Asked for when it is not given.")
@with_context
def add(context: Context, name: str, password: str) -> None:
    """
    Make an account called NAME, or give it another password.

    \b
    Example:
        leadline accounts add alice
    """
    if not kept.NAME.fullmatch(name):
        raise LeadlineError(f"name {name!r}: letters, digits and ._@+- only, 64 at most")
    if len(password) < kept.SHORTEST:
        raise LeadlineError(f"password: {kept.SHORTEST} characters or more are wanted")
    file = _file(context)
    known = kept.read(file) if file.exists() else {}
    kept.write(file, {**known, name: kept.hashed(password)})
    click.echo(f"{name} may sign in; what {name} sees goes by web.admins and web.leaders")


@accounts.command()
@click.argument("name")
@with_context
def remove(context: Context, name: str) -> None:
    """
    Take the account of NAME away, and let nobody in who is signed in under it.

    \b
    Example:
        leadline accounts remove alice
    """
    file = _file(context)
    known = kept.read(file)
    if name not in known:
        raise LeadlineError(f"no account {name!r} in {file}; `leadline accounts list` names them")
    kept.write(file, {other: text for other, text in known.items() if other != name})
    click.echo(f"{name} may not sign in any more")


@accounts.command("list")
@with_context
def list_(context: Context) -> None:
    """
    Names, and what each may see.

    \b
    Example:
        leadline accounts list
    """
    from leadline.web.access import scope_of

    settings = context.settings.get("web", WebSettings)
    for name in sorted(kept.read(_file(context))):
        groups = scope_of(name, settings).groups
        sees = "everything" if name in settings.admins else ", ".join(["own", *sorted(groups)])
        click.echo(f"{name}  {sees}")


def _file(context: Context) -> Path:
    file = context.settings.get("web", WebSettings).accounts_file
    if file is None:
        raise LeadlineError("web.accounts_file names no file; set it beside `web.access: accounts`")
    return file
