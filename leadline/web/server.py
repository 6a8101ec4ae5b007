"""
The production server: threads, in one process or several, warm before they take a request.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flask import Flask
from gunicorn.app.base import BaseApplication
from gunicorn.config import KNOWN_SETTINGS

from leadline.errors import LeadlineError
from leadline.web.app import create_app
from leadline.web.site import Site
from leadline.web.worker import Worker

SOCKET = "unix:"
KNOWN = frozenset(setting.name for setting in KNOWN_SETTINGS)


class Server(BaseApplication):  # type: ignore[misc]
    """
    gunicorn with our settings and nothing from its environment or files.
    """

    def __init__(self, site: Site) -> None:
        self.site = site
        super().__init__()

    def load_config(self) -> None:
        for name, value in options(self.site).items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        """
        In the process that serves: stores and the chart engine hold threads, no fork has them.
        """
        app = create_app(self.site)
        warm(app)
        return app


def warm(app: Flask) -> None:
    """
    Ready before anybody waits. What goes wrong here is logged and told on the pages to who asks: it
    is no reason not to serve them.
    """
    try:
        prepare(app)
    except LeadlineError as error:
        app.logger.warning("the first page could not be drawn beforehand: %s", error)
    except Exception:  # whatever a store or the chart engine may raise
        app.logger.exception("the first page could not be drawn beforehand")


def prepare(app: Flask) -> None:
    """
    Start the chart engine, compile the templates, open the store and draw the first page.
    """
    from leadline.render.charts import warm_up
    from leadline.web.asking import desk_of
    from leadline.web.pages import overview

    warm_up()
    for name in app.jinja_env.list_templates(["html"]):
        app.jinja_env.get_template(name)
    desk_of(app).open()
    with app.test_request_context("/"):
        overview.show()


def options(site: Site) -> dict[str, object]:
    wanted: dict[str, object] = {
        "bind": bound(site.settings.listen),
        "umask": 0o117,  # of a socket: for its owner and the group that the web server is in
        "worker_class": Worker,
        "workers": site.settings.processes,
        "threads": site.settings.threads,
        "timeout": 60,
        "graceful_timeout": 5,
        "keepalive": 15,
        "loglevel": "warning",
        "errorlog": "-",
        "limit_request_line": 8190,
        # What a proxy forwards is read by web.proxies alone; no header becomes a path.
        "forwarded_allow_ips": "",
        "forwarder_headers": "",
        "header_map": "drop",
        "proc_name": "leadline-web",
        "control_socket_disable": True,  # newer versions open one unless told not to
    }
    return {name: value for name, value in wanted.items() if name in KNOWN}


def bound(listen: str) -> str:
    """
    What to listen on: a socket by its path, unix:/run/leadline/web.sock, or an address and port.
    """
    if listen.startswith(SOCKET):
        if not Path(listen.removeprefix(SOCKET)).is_absolute():
            raise LeadlineError(f"--listen {listen!r}: name the socket by its whole path")
        return listen
    host, port = address(listen)
    return f"{host}:{port}"


def address(listen: str) -> tuple[str, int]:
    host, _, port = listen.rpartition(":")
    if not host or not port.isdigit() or not 0 <= int(port) < 65536:
        raise LeadlineError(
            f"--listen {listen!r} is no address; write 127.0.0.1:8470, or unix:/PATH"
        )
    return host, int(port)
