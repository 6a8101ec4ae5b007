"""
What goes wrong, as a page in the reader's language or as JSON: one line that says what, and the
way out.
"""

from __future__ import annotations

from collections.abc import Sequence

from flask import Flask, Response, current_app, make_response, render_template, request, url_for
from werkzeug.exceptions import HTTPException, MethodNotAllowed
from werkzeug.wrappers import Response as AnyResponse

from leadline.errors import (
    LeadlineError,
    NotAllowedError,
    NothingKnownError,
    QuestionError,
    SettingsError,
    StoreError,
)
from leadline.language import _, later, said
from leadline.store.scope import EVERYTHING
from leadline.web.access import scope
from leadline.web.problem import problem
from leadline.web.speaking import for_programs

# What web servers and ours refuse before any page is asked, by its status.
REFUSED = {
    400: later("That request is not one a browser sends."),
    405: later("Pages are only read; forms go to sign-in and sign-out."),
    413: later("That is larger than any form here."),
}

FORMS = ("usage", "jobs", "findings", "search", "compare")


def add_errors(app: Flask) -> None:
    app.register_error_handler(QuestionError, bad_question)
    app.register_error_handler(LeadlineError, out_of_order)
    app.register_error_handler(HTTPException, http_error)
    app.register_error_handler(500, broken)


def bad_question(error: QuestionError) -> Response:
    if isinstance(error, NothingKnownError):
        return failed(404, _("Nothing is known of it"), said(str(error)))
    return failed(400, _("That cannot be asked"), said(str(error)), again=asked_again())


def asked_again() -> list[tuple[str, str, str]]:
    """
    The fields of the form this came from, by their labels, so that one of them can be changed.
    """
    if request.endpoint not in FORMS:
        return []
    labels = {
        "measure": _("measure"),
        "by": _("by"),
        "and": _("and by"),
        "named": _("name or number"),
        "words": _("words"),
        "job": _("jobs"),
        "kind": _("kind"),
        "cluster": _("cluster"),
        "where": _("where"),
        "period": _("during"),
        "top": _("top"),
        "shortest": _("minutes at least"),
    }
    given = {name: " ".join(request.args.getlist(name)) for name in request.args}
    return [(label, name, given[name]) for name, label in labels.items() if name in given]


def out_of_order(error: LeadlineError) -> Response:
    if isinstance(error, NotAllowedError):
        return failed(403, _("That is not shown to everybody"), said(str(error)))
    if isinstance(error, StoreError):
        # The engine's own words, with its address in them, are for those who run it.
        told = str(error) if scope(EVERYTHING).everything else ""
        return failed(
            503, _("The store does not answer"), told, _("`leadline status` says more."), lang="en"
        )
    if isinstance(error, SettingsError) and not scope(EVERYTHING).everything:
        # A file of secrets that cannot be read: its path is for those who run it.
        current_app.logger.error("%s", error)
        told = _("The log of `leadline serve` says why.")
        return failed(500, _("That did not work"), told)
    return failed(500, _("That did not work"), said(str(error)))


def http_error(error: HTTPException) -> AnyResponse | Response:
    if error.code is None or error.code < 400:
        return error.get_response()
    if error.code == 404:
        told = _("Nothing lives at {path}.").format(path=request.path[:200])
        if request.path.startswith("/api/"):
            told += f" {url_for('api_openapi')} says what does."
        return failed(404, _("No such page"), told)
    if error.code in REFUSED:
        answer = failed(error.code, _("That did not work"), _(REFUSED[error.code]))
        if isinstance(error, MethodNotAllowed) and error.valid_methods:
            answer.headers["Allow"] = ", ".join(sorted(error.valid_methods))
        return answer
    return failed(error.code, _("That did not work"), f"{error.code} {error.name}", lang="en")


def broken(error: Exception) -> Response:
    told = _("An error in leadline itself; its traceback is in the log of `leadline serve`.")
    return failed(500, _("Something broke"), told)


def failed(
    code: int,
    title: str,
    message: str,
    hints: str = "",
    lang: str = "",
    again: Sequence[tuple[str, str, str]] = (),
) -> Response:
    """
    One clear line, as a page or as JSON, whichever was asked for; LANG, where it is not the
    reader's. What was asked can be asked AGAIN, otherwise.
    """
    if for_programs():
        return problem(code, title, message)
    page = render_template(
        "error.html", title=title, message=message, hints=hints, lang=lang, again=again
    )
    response = make_response(page)
    response.status_code = code
    return response
