"""
`leadline serve`: the pages and the API of one store.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import click

from leadline.commands.context import Context, secret, with_context
from leadline.errors import LeadlineError
from leadline.web.settings import WebSettings


@click.command()
@click.option("--listen", metavar="HOST:PORT", help="Address to listen on.")
@with_context
def serve(context: Context, listen: str | None) -> None:
    """
    Serve the pages, until stopped.

    \b
    Example:
        leadline serve --listen 127.0.0.1:8470
    """
    try:
        from leadline.web.server import Server, address
        from leadline.web.site import site_of
    except ImportError as error:
        raise LeadlineError(
            f"the web pages need {error.name}: pip install 'leadline[server]'"
        ) from None

    settings = context.settings.get("web", WebSettings)
    if listen:
        settings = replace(settings, listen=listen)
    refuse_taken(*address(settings.listen))
    site = replace(site_of(context.settings, lambda: context.store), settings=settings)
    # The token is for who starts it, not for a log that others may read.
    shown = f"?token={secret(settings.token_file or Path())}" if _shows_token(settings) else ""
    click.echo(f"leadline serves http://{settings.listen}{settings.prefix}/{shown}", err=True)
    Server(site).run()


def _shows_token(settings: WebSettings) -> bool:
    return settings.access == "token" and sys.stderr.isatty()


def refuse_taken(host: str, port: int) -> None:
    import socket

    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise LeadlineError(
                f"{host} port {port}: {error.strerror}; choose another one with --listen HOST:PORT"
            ) from None
