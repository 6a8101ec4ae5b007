"""
Vega for pages whose reader asks for it: the library that draws charts here, as one script of ours
with all it needs, in the versions it has here.
"""

from __future__ import annotations

import gzip
import subprocess
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from threading import Lock

from flask import Flask, current_app, make_response, request
from werkzeug.wrappers import Response

from leadline.render.charts.render import VEGA_LITE

ENDPOINT = "vega"
SNIPPET = "export {vegaEmbed};"
PATIENCE = 60  # seconds to make it; it takes one or two
_MAKING = Lock()


def add_vega(app: Flask) -> None:
    app.add_url_rule(f"/static/{name()}", ENDPOINT, show)


@cache
def name() -> str:
    """
    The file's name, another one for each version of what is in it: browsers keep it for a month.
    """
    try:
        return f"vega-{version('vl-convert-python')}-{VEGA_LITE}.js"
    except PackageNotFoundError:  # nothing is drawn then, and no page asks for it
        return "vega.js"


def show() -> Response:
    packed = script()
    plain = request.accept_encodings["gzip"] <= 0
    response = make_response(gzip.decompress(packed) if plain else packed)
    if not plain:
        response.content_encoding = "gzip"
    response.content_type = "text/javascript; charset=utf-8"
    response.vary.add("Accept-Encoding")
    response.cache_control.public = True
    response.cache_control.max_age = current_app.config["SEND_FILE_MAX_AGE_DEFAULT"]
    response.add_etag()
    return response.make_conditional(request)


def script() -> bytes:
    """
    The script, packed: made when somebody first wants it, then kept.
    """
    with _MAKING:
        return _packed()


@cache
def _packed() -> bytes:
    return gzip.compress(_made(), mtime=0)


def _made() -> bytes:
    """
    By a process of its own: a second of it would hold up every other reader, and the engine keeps
    the memory it took. Where the server is no Python that could be started, it is done here.
    """
    command = [sys.executable, "-P", "-c", "from leadline.web import vega; vega.write()"]
    try:
        made = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        made = b""
    return made if made.endswith(b";") else bundle()


def bundle() -> bytes:
    import vl_convert

    return bytes(vl_convert.javascript_bundle(SNIPPET, vl_version=VEGA_LITE), "utf-8")


def write() -> None:
    sys.stdout.buffer.write(bundle())
