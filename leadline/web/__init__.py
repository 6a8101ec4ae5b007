"""
Pages and API: server-rendered, complete without JavaScript.

Nothing is imported until it is asked for: the settings file's section lives in this room, and a
node that reads it has no Flask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leadline.web.app import create_app
    from leadline.web.site import Site

__all__ = ["Site", "create_app"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from leadline.web import app

    return getattr(app, name)
