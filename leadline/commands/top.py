"""`leadline top`: a live screen of who runs what where, over the API of the pages."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import click

from leadline.commands.address import web_secret
from leadline.commands.context import Context, secret, with_context
from leadline.errors import LeadlineError
from leadline.top.client import Api
from leadline.top.look import look
from leadline.top.settings import ClientSettings
from leadline.web.settings import WebSettings


@click.command()
@click.option("--pages", metavar="URL", help="Where the pages are.  [default: client.pages]")
@click.option("--token-file", type=click.Path(path_type=Path), help="The token they want.")
@click.option("--every", type=click.FloatRange(1, 300), help="Seconds between two looks.")
@with_context
def top(context: Context, pages: str | None, token_file: Path | None, every: float | None) -> None:
    """
    Who runs what where, nodes, GPUs and findings, live on this terminal.

    Sees what its asker may see, as the pages do. Keys: 1-4 lists, / filter, s sort, r reverse,
    p pause, Enter all of a row, ? help, q quit.

    \b
    Examples:
        leadline top
        leadline --cluster fox top --pages https://leadline.uni.no --token-file ~/.leadline.token
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise LeadlineError("top needs a terminal; `leadline usage` and `leadline nodes` print")
    try:
        from leadline.top.screen import Top
    except ImportError as error:
        raise LeadlineError(f"top needs {error.name}: pip install 'leadline[top]'") from None
    client = context.settings.get("client", ClientSettings)
    api = pages_api(context, pages, token_file)
    screen = Top(
        partial(look, api, cluster=context.cluster),
        context.cluster or "leadline",
        every or float(client.every),
    )
    screen.run()
    sys.exit(screen.return_code or 0)


def pages_api(context: Context, pages: str | None, token_file: Path | None) -> Api:
    """
    The pages named, else those of the settings, else this machine's own.
    """
    client = context.settings.get("client", ClientSettings)
    web = context.settings.get("web", WebSettings)
    address = pages or client.pages or f"http://{_reached(web.listen)}{web.prefix}"
    own = web_secret(context.paths)  # of `leadline up`, where that is what is asked
    named = token_file or client.token_file or web.token_file
    if named is None and not (pages or client.pages) and own.exists():
        named = own
    return Api(address, secret(named) if named else "")


def _reached(listen: str) -> str:
    """
    An address to go to, of one to listen on: nobody can go to 0.0.0.0.
    """
    host, _, port = listen.rpartition(":")
    host = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]", "": "127.0.0.1"}.get(host, host)  # noqa: S104 - not bound here
    return f"{host}:{port}"
