"""`leadline address`: an address that opens the pages of this machine once."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from leadline.commands.context import Context, with_context
from leadline.errors import LeadlineError
from leadline.settings.common import PathSettings
from leadline.settings.secret import secret
from leadline.web.seals import ticket
from leadline.web.settings import WebSettings


@click.command()
@with_context
def address(context: Context) -> None:
    """
    Print an address that opens the pages of `leadline up` or `leadline serve` in one browser.

    It is good for a day and for one browser, which then is let in for a month; ask for another
    one for another browser. Only who may read the secret of the pages can make one.

    \b
    Examples:
        leadline address
        LEADLINE_DATA=/scratch/leadline leadline address
    """
    settings = context.settings.get("web", WebSettings)
    named = settings.token_file if settings.access == "token" else None
    file = named or web_secret(context.paths)
    if not file.exists():
        raise LeadlineError(
            f"{file}: no secret of pages; `leadline up` makes one, web.token_file names another"
        )
    shown = where(context.paths, settings)
    click.echo(with_ticket(shown or f"{settings.prefix}/", file))


def web_secret(paths: PathSettings) -> Path:
    """
    Where `leadline up` keeps what its pages are opened with.
    """
    return paths.state / "web.token"


def where(paths: PathSettings, settings: WebSettings) -> str:
    """
    The pages of the `leadline up` that runs, else those of the settings; nothing where these listen
    on a socket, which a web server shows under an address of its own.
    """
    lock = paths.data / "up.lock"
    running = lock.read_text(encoding="utf-8").strip() if lock.exists() else ""
    if settings.listen.startswith("unix:") and not running:
        return ""
    return running or f"http://{settings.listen}{settings.prefix}/"


def with_ticket(address: str, file: Path) -> str:
    return f"{address}?token={ticket(secret(file), datetime.now(UTC))}"
