"""
The application: pages, API and what every answer carries, be it a page or an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version

from flask import Flask, Response, g, request
from werkzeug.middleware.proxy_fix import ProxyFix

from leadline.language import ENGLISH, _, current
from leadline.render import safe_text
from leadline.web.access import Door, shown, signs_in
from leadline.web.headers import HEADERS
from leadline.web.settings import WebSettings
from leadline.web.site import Site, read_site
from leadline.web.speaking import add_languages, links
from leadline.web.trouble import add_errors, failed
from leadline.web.vega import add_vega
from leadline.web.words import stamp, states

_PLAIN_PATH = re.compile(r"((/[\w~-][\w.~-]*)*/?)?", re.ASCII)
LARGEST_FORM = 16 * 1024  # bytes: a name, a password, and where to go
LONGEST_QUESTION = 4000  # characters after the ? of an address


def own_version() -> str:
    try:
        return version("leadline")
    except PackageNotFoundError:
        return "0"


def create_app(site: Site | None = None) -> Flask:
    """
    The WSGI application of SITE; without one of what the settings file describes, so that any WSGI
    server can be told `leadline.web:create_app()`.
    """
    site = site or read_site()
    from leadline.web.api import add_api
    from leadline.web.asking import Desk
    from leadline.web.pages import NAVIGATION, add_pages

    app = Flask(__name__, static_folder="static", template_folder="templates")
    app.jinja_env.trim_blocks = True
    app.jinja_env.lstrip_blocks = True
    app.jinja_env.finalize = plainly
    app.config["MAX_CONTENT_LENGTH"] = app.config["MAX_FORM_MEMORY_SIZE"] = LARGEST_FORM
    app.config["SEND_FILE_MAX_AGE_DEFAULT"] = 86400 * 30
    app.extensions["leadline"] = Desk(site)
    app.config["VERSION"] = own_version()

    @app.context_processor
    def common() -> dict[str, object]:
        return {
            "version": app.config["VERSION"],
            "zone": str(site.zone).removeprefix("Etc/"),
            "as_of": f"{g.get('as_of', site.clock()).astimezone(site.zone):%H:%M:%S}",
            "printed": stamp(site.clock().astimezone(site.zone)),
            "language": current(),
            "languages": links(),
            "navigation": [known for known in NAVIGATION if shown(known[0], site.settings)],
            "reader": g.get("reader", ""),
            "states": {} if current() == ENGLISH else states(),
            "signs_in": signs_in(site.settings),
        }

    add_languages(app)
    app.before_request(refuse_long)
    app.before_request(Door(site.settings, site.clock).enter)
    app.after_request(guard)
    add_pages(app)
    add_vega(app)
    add_api(app)
    add_errors(app)
    app.wsgi_app = under_prefix(app.wsgi_app, site.settings)  # type: ignore[assignment, method-assign]
    return app


def plainly(value: object) -> object:
    """
    Names are shown as they are written: nothing in them turns the line around or hides a part.
    """
    return safe_text(value) if type(value) is str else value


def under_prefix(wsgi: Callable[..., object], settings: WebSettings) -> Callable[..., object]:
    """
    Behind a proxy, and below a path, as the settings say.
    """
    prefix = settings.prefix
    if settings.proxies:
        count = settings.proxies
        named = 0 if prefix else count  # what the settings say, nobody says otherwise
        wsgi = ProxyFix(wsgi, x_for=count, x_proto=count, x_host=count, x_prefix=named)  # type: ignore[arg-type]
    if not prefix:
        return only_paths(wsgi) if settings.proxies else wsgi

    def below(environ: dict[str, object], start: object) -> object:
        path = str(environ.get("PATH_INFO", ""))
        if path == prefix or path.startswith(prefix + "/"):
            environ["PATH_INFO"] = path[len(prefix) :] or "/"
        environ["SCRIPT_NAME"] = prefix
        return wsgi(environ, start)

    return below


def only_paths(wsgi: Callable[..., object]) -> Callable[..., object]:
    """
    A forwarded prefix that is no plain path is not believed: every link would lead there.
    """

    def checked(environ: dict[str, object], start: object) -> object:
        told = str(environ.get("HTTP_X_FORWARDED_PREFIX", ""))
        if not all(_PLAIN_PATH.fullmatch(part.strip()) for part in told.split(",")):
            del environ["HTTP_X_FORWARDED_PREFIX"]
        return wsgi(environ, start)

    return checked


def refuse_long() -> Response | None:
    if len(request.query_string) <= LONGEST_QUESTION:
        return None
    return failed(414, _("That question is too long"), _("Ask with fewer filters."))


def guard(response: Response) -> Response:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    if request.endpoint != "static":
        response.headers.setdefault("Cache-Control", "private, no-cache")
    return response
