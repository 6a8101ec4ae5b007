"""
Pages that were drawn already. One is shown again for the seconds that answers are remembered; for
some more it is shown at once as it was, while a newer one is drawn behind it: nobody waits for a
page that somebody looked at a moment ago. Every page says as of when it is.

By who asks, in which language and under which address; each process keeps its own.
"""

from __future__ import annotations

import io
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from datetime import datetime, timedelta
from functools import wraps
from threading import Lock
from typing import Any

from flask import Flask, current_app, g, request
from werkzeug.wrappers import Response

from leadline.language import current
from leadline.web.asking import Desk, desk, desk_of

MOST_KEPT = 256
BEHIND = 6  # times as long as answers are remembered a page may be shown while one is drawn
NAME = "leadline.kept"

View = Callable[..., str | Response]


class Kept:
    """
    Safe to share between threads.
    """

    def __init__(self, known: Desk) -> None:
        self._clock = known.site.clock
        self._fresh = known.remember
        self._pages: OrderedDict[Hashable, tuple[datetime, str]] = OrderedDict()
        self._drawing: set[Hashable] = set()
        self._lock = Lock()
        self._hand = ThreadPoolExecutor(1, thread_name_prefix="leadline-pages")

    def page(self, draw: Callable[[], str | Response]) -> str | Response:
        key = (request.url, current(), g.get("reader", ""), desk().scope)
        with self._lock:
            made, text = self._pages.get(key, (None, ""))
        age = timedelta.max if made is None else self._clock() - made
        if not timedelta() <= age <= BEHIND * self._fresh:
            return self._draw(key, draw)
        if age > self._fresh:
            self._draw_behind(key, draw)
        return text

    def _draw(self, key: Hashable, draw: Callable[[], str | Response]) -> str | Response:
        made = self._clock()
        page = draw()
        if isinstance(page, str):
            with self._lock:
                self._pages[key] = (made, page)
                self._pages.move_to_end(key)
                while len(self._pages) > MOST_KEPT:
                    self._pages.popitem(last=False)
        return page

    def _draw_behind(self, key: Hashable, draw: Callable[[], str | Response]) -> None:
        """
        For the same reader and address, without their connection. What goes wrong is left to who
        asks when the old page may no longer be shown.
        """
        with self._lock:
            if key in self._drawing:
                return
            self._drawing.add(key)
        app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]
        environ: dict[str, Any] = {k: v for k, v in request.environ.items() if type(v) is str}
        environ["wsgi.input"] = io.BytesIO()
        who = {name: g.get(name) for name in g}

        def work() -> None:
            try:
                with app.request_context(environ):
                    for name, value in who.items():
                        setattr(g, name, value)
                    self._draw(key, draw)
            finally:
                with self._lock:
                    self._drawing.discard(key)

        self._hand.submit(copy_context().run, work)


def add_kept(app: Flask) -> None:
    app.extensions[NAME] = Kept(desk_of(app))


def kept(view: View) -> View:
    """
    VIEW, whose pages are kept.
    """

    @wraps(view)
    def shown(**arguments: Any) -> str | Response:
        pages: Kept = current_app.extensions[NAME]
        return pages.page(lambda: view(**arguments))

    return shown
