"""
`leadline serve`: the pages and the API of one store.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import click

from enrich.deadletters import DeadLetters
from leadline.commands.address import with_ticket
from leadline.commands.context import Context, with_context
from leadline.errors import LeadlineError
from leadline.query.rejected import rejected_in
from leadline.web.settings import WebSettings

MOST_REASONS = 20


@click.command()
@click.option("--listen", metavar="HOST:PORT", help="Address to listen on; unix:/PATH is a socket.")
@with_context
def serve(context: Context, listen: str | None) -> None:
    """
    Serve the pages, until stopped.

    \b
    Example:
        leadline serve --listen 127.0.0.1:8470
    """
    try:
        from leadline.web.server import SOCKET, Server, bound
        from leadline.web.site import site_of
    except ImportError as error:
        raise LeadlineError(
            f"the web pages need {error.name}: pip install 'leadline[server]'"
        ) from None

    settings = context.settings.get("web", WebSettings)
    if listen:
        settings = replace(settings, listen=listen)
    place = bound(settings.listen)
    refuse_taken(place)
    site = replace(
        site_of(context.settings, lambda: context.own_store),
        settings=settings,
        demo=context.paths.demo,
        rejected=rejected(context.paths.dead_letters),
        rejected_in=rejected_in(context.paths.dead_letters),
    )
    shown = place if place.startswith(SOCKET) else f"http://{place}{settings.prefix}/"
    if settings.access == "token" and settings.token_file and sys.stderr.isatty():
        # For who starts it, not for a log that others may read.
        shown = with_ticket(shown, settings.token_file)
    click.echo(f"leadline serves {shown}", err=True)
    Server(site).run()


def rejected(folder: Path) -> Callable[[], Sequence[tuple[str, int]]] | None:
    """
    The commonest reasons why documents were rejected, where a worker of this machine keeps them.
    """
    if not folder.is_dir():
        return None
    letters = DeadLetters(folder)
    return lambda: Counter(letter.reason for letter in letters.read()).most_common(MOST_REASONS)


def refuse_taken(place: str) -> None:
    import socket

    if place.startswith("unix:"):
        with socket.socket(socket.AF_UNIX) as probe:
            if probe.connect_ex(place.removeprefix("unix:")) == 0:
                raise LeadlineError(f"{place}: somebody serves there already; choose another one")
        return
    host, _, port = place.rpartition(":")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, int(port)))
        except OSError as error:
            raise LeadlineError(
                f"{host} port {port}: {error.strerror}; choose another one with --listen HOST:PORT"
            ) from None
