"""
Which language a page is written in: the one its address names, else the one chosen before, else
what the browser asks for. The API and what programs read stay as they are.
"""

from __future__ import annotations

from urllib.parse import quote, urlencode

from babel import Locale
from flask import Flask, Response, redirect, request
from werkzeug.wrappers import Response as AnyResponse

from leadline.language import ENGLISH, current, gettext, languages, ngettext, use
from leadline.web.spoken import spoken_period, written_period

PARAMETER = "lang"
PERIOD = "period"
COOKIE = "leadline_language"
YEAR = 365 * 86400
SPEECHLESS = ("static", "vega")  # the same in every language


def add_languages(app: Flask) -> None:
    app.jinja_env.globals.update(_=gettext, ngettext=ngettext, spoken=spoken_period)
    app.before_request(choose)
    app.before_request(rewrite)
    app.after_request(remember)


def choose() -> None:
    use(
        ENGLISH
        if for_programs()
        else asked() or request.accept_languages.best_match(languages()) or ENGLISH
    )


def rewrite() -> AnyResponse | None:
    """
    A period that was chosen in the reader's words is asked for in the question's: an address can be
    mailed to whoever reads another language.
    """
    text = request.args.get(PERIOD, "").strip()
    if not text or for_programs() or (known := written_period(text)) == text:
        return None
    left = [(n, known if n == PERIOD else v) for n, v in request.args.items(multi=True)]
    return redirect(f"{here()}?{urlencode(left)}", 302)


def for_programs() -> bool:
    return request.path.startswith(("/api/", "/metrics", "/healthz"))


def asked() -> str | None:
    """
    The language named in the address or kept from before, if there is such a one.
    """
    named = (request.args.get(PARAMETER, ""), request.cookies.get(COOKIE, ""))
    return next((code for code in named if code in languages()), None)


def remember(response: Response) -> Response:
    if for_programs() or request.endpoint in SPEECHLESS:
        return response
    response.vary.update(("Accept-Language", "Cookie"))
    response.headers.setdefault("Content-Language", current())
    code = request.args.get(PARAMETER, "")
    if code in languages():
        response.set_cookie(
            COOKIE,
            code,
            max_age=YEAR,
            httponly=True,
            secure=request.is_secure,
            samesite="Lax",
            path=request.root_path or "/",
        )
    return response


def links() -> list[tuple[str, str, str]]:
    """
    This page in every language: code, the language's own name, address.
    """
    kept = [(n, v) for n, v in request.args.items(multi=True) if n not in (PARAMETER, "token")]
    return [
        (
            code,
            name_of(code),
            f"{here()}?{urlencode([*kept, (PARAMETER, code)])}",
        )
        for code in languages()
    ]


def here() -> str:
    """
    The path of this request, as a path of this site whatever it begins with.
    """
    inside = request.path.lstrip("/\\")
    return f"{request.root_path}/{quote(inside, safe='/@+,:=~')}"


def name_of(code: str) -> str:
    return str(Locale.parse(code).get_display_name(code)).capitalize()
