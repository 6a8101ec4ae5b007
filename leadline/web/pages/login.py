"""
Signing in and out, where the site keeps accounts of its own.
"""

from __future__ import annotations

from flask import abort, g, make_response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from leadline.language import _
from leadline.web.access import COOKIE, Door

LONGEST = 1024  # characters of a password


def show() -> str | Response:
    door: Door = g.door
    if door.settings.access != "accounts":
        abort(404)
    to = _inside(request.values.get("to", ""))
    if request.method == "GET":
        return render_template("login.html", to=to, wrong="")
    name, password = request.form.get("name", "").strip(), request.form.get("password", "")
    if len(password) <= LONGEST and door.accounts.lets_in(name, password):
        return door.remembered(redirect(to, 303), name)
    wrong = _("Name and password do not fit.")
    if door.accounts.tries.waits(name):
        wrong = _("Too many wrong tries for this name: wait five minutes.")
    answer = make_response(render_template("login.html", to=to, wrong=wrong))
    answer.status_code = 403
    return answer


def leave() -> Response:
    answer = redirect(url_for("overview"), 303)
    answer.delete_cookie(COOKIE, path=request.root_path or "/")
    return answer


def _inside(to: str) -> str:
    """
    A page of this site; anything else is the first one.
    """
    plain = to.startswith("/") and not to.startswith(("//", "/\\")) and to.isprintable()
    return to if plain and "\\" not in to else url_for("overview")
