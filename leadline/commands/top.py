"""`leadline top`: a live screen of who runs what where, over the API of the pages."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import click

from leadline.commands.context import Context, with_context
from leadline.commands.remote import pages_api
from leadline.errors import LeadlineError
from leadline.top.look import look
from leadline.top.settings import ClientSettings


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
