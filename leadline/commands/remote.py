"""
Where the pages are that commands ask, and the token for them.
"""

from __future__ import annotations

from pathlib import Path

from leadline.commands.address import web_secret, where
from leadline.commands.context import Context
from leadline.errors import LeadlineError
from leadline.settings.secret import secret
from leadline.top.client import Api
from leadline.top.settings import ClientSettings
from leadline.web.settings import WebSettings


def pages_api(context: Context, pages: str | None = None, token_file: Path | None = None) -> Api:
    """
    The pages named, else those of the settings, else this machine's own. The secret of this
    machine's pages is shown to nobody else.
    """
    client = context.settings.get("client", ClientSettings)
    web = context.settings.get("web", WebSettings)
    here = _reached(where(context.paths, web))
    address = (pages or client.pages or here).rstrip("/")
    if not address:
        raise LeadlineError(
            f"the pages listen on {web.listen}; --pages URL, or client.pages, names them"
        )
    named = token_file or client.token_file
    own = web.token_file or web_secret(context.paths)
    if named is None and address == here and own.exists():
        named = own
    return Api(address, secret(named) if named else "")


def _reached(address: str) -> str:
    """
    An address to go to, of one to listen on: nobody can go to 0.0.0.0.
    """
    for listens, goes in (
        ("//0.0.0.0:", "//127.0.0.1:"),
        ("//[::]:", "//[::1]:"),
        ("//:", "//127.0.0.1:"),
    ):
        address = address.replace(listens, goes)
    return address.rstrip("/")
