"""
Who may see what: everybody, who holds the address, whom the site's single sign-on names, or who
has an account here.

Pages do not decide: they ask with the scope of this request, and the store leaves out the rest.
What a node as a whole does is shown to everybody who may see a page at all, the public aside; what
people ran only to those who may.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from flask import (
    Response,
    g,
    has_request_context,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from werkzeug.wrappers import Response as AnyResponse

from leadline.errors import NotAllowedError, SettingsError
from leadline.language import _, later
from leadline.store.scope import EVERYTHING, PUBLIC, Scope
from leadline.web import tokens
from leadline.web.accounts import Accounts
from leadline.web.problem import problem
from leadline.web.seals import SHORTEST, Tickets, said_in, sealed, unsealed
from leadline.web.settings import WebSettings
from leadline.web.speaking import for_programs, here

COOKIE = "leadline_seen"
PARAMETER = "token"
FREE = frozenset({"static", "vega", "healthz", "login", "logout"})
# What everybody may see where the site shows itself to everybody; the questions are few as well.
FOR_ALL = frozenset(
    {"overview", "usage", "programs", "api_usage"}
    | {"api_openapi", "api_measures", "api_dimensions"}
)
BY_SERVER = "REMOTE_USER"  # set by the web server that runs us in its own processes; no header is
LASTS = timedelta(days=30)
SOCKET = "unix"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_NAME = re.compile(r"[A-Za-z0-9._@+-]{1,64}")


class Door:
    """
    Lets a request in with its scope, or answers instead.
    """

    def __init__(self, settings: WebSettings, clock: Callable[[], datetime]) -> None:
        self.settings = settings
        self.clock = clock
        wanted = settings.access in ("token", "accounts")
        self._secret = read_secret(settings) if wanted else ""
        file = settings.token_file or Path("none")
        self.tickets = Tickets(self._secret, file.with_name(f"{file.name}.spent"), clock)
        if settings.tokens_file is not None:
            tokens.read(settings.tokens_file)  # a mistake in it is told now, not to a reader
        self.accounts = Accounts(_accounts(settings), clock)

    def enter(self) -> AnyResponse | None:
        """
        None when the request may go on; its scope is then `scope()`.
        """
        everybody = self.settings.access == "open"
        g.scope, g.reader, g.door = EVERYTHING if everybody else PUBLIC, "", self
        if (refusal := self._from_elsewhere()) is not None:
            return refusal
        if request.endpoint in FREE:
            return None
        token = tokens.shown(self.settings.tokens_file, request.headers.get("Authorization", ""))
        if token is not None:
            return self._by_program(token)
        ways = {"token": self._by_token, "proxy": self._by_proxy, "accounts": self._by_account}
        way = ways.get(self.settings.access)
        if way is not None and (answer := way()) is not None:
            return answer
        if g.scope.least and request.endpoint not in FOR_ALL and request.endpoint is not None:
            raise NotAllowedError(later("this is not shown to everybody; sign in to see it"))
        return None

    def _from_elsewhere(self) -> AnyResponse | None:
        """
        Another site may link here, but neither send a form nor pretend to be this machine.
        """
        if request.method not in ("GET", "HEAD", "OPTIONS"):
            origin = request.headers.get("Origin") or request.headers.get("Referer") or ""
            if urlsplit(origin).netloc != request.host:
                return refused(403, _("A form of another site is not taken."))
        known = self.settings
        listens, host = known.listen.rpartition(":")[0].strip("[]"), urlsplit(f"//{request.host}")
        own = known.access == "open" and listens in LOOPBACK and not known.proxies
        if own and host.hostname not in LOOPBACK:
            return refused(403, _("Open it as http://127.0.0.1, under no other name."))
        return None

    def _by_program(self, token: tokens.Token) -> AnyResponse | None:
        """
        With a token of its own a program needs no sign-on, and no cookie.
        """
        if not token.opens(request.endpoint):
            told = _("This token reads /metrics and /api/v1/constants, nothing else.")
            return refused(403, told)
        if token.name:
            self._known_as(token.name)
        else:
            g.scope = EVERYTHING  # it opens what names nobody
        return None

    def _by_token(self) -> AnyResponse | None:
        """
        The ticket in the address is taken once: the page is shown again without it, by a cookie.
        """
        if self.tickets.take(request.args.get(PARAMETER, "")):
            left = {k: v for k, v in request.args.items(multi=False) if k != PARAMETER}
            return self.remembered(redirect(_address(left), 303), "")
        bearer = request.headers.get("Authorization", "").removeprefix("Bearer ")
        known = hmac.compare_digest(bearer.encode(), self._secret.encode())
        if known or self._cookie("") is not None:
            g.scope = EVERYTHING
            return None
        told = _("Open the address that `leadline address` prints; each opens the pages once.")
        return refused(401, told)

    def _cookie(self, account: str) -> str | None:
        """
        What the cookie says, if we sealed it; with the hash of an ACCOUNT, while that is the same.
        """
        shown = request.cookies.get(COOKIE, "")
        return unsealed(self._secret + account, "cookie", shown, self.clock())

    def remembered(self, answer: AnyResponse, name: str) -> AnyResponse:
        """
        ANSWER with the cookie of who is called NAME; of nobody in particular where it is empty.
        """
        account = self.accounts.kept(name) if name else ""
        answer.set_cookie(
            COOKIE,
            sealed(self._secret + account, "cookie", name, self.clock() + LASTS),
            max_age=int(LASTS.total_seconds()),
            httponly=True,
            secure=request.is_secure,
            samesite="Lax",  # a mailed address opens; forms of other sites are refused by origin
            path=request.root_path or "/",
        )
        return answer

    def _by_account(self) -> AnyResponse | None:
        name = said_in(request.cookies.get(COOKIE, ""))
        if (account := self.accounts.kept(name)) and self._cookie(account) == name:
            self._known_as(name)
            return None
        if self.settings.public:
            return None
        if request.path.startswith(("/api/", "/metrics")) or request.method != "GET":
            return refused(401, _("Sign in."))
        return redirect(url_for("login", to=_address(dict(request.args))), 303)

    def _by_proxy(self) -> AnyResponse | None:
        """
        The name the trusted proxy gives; from anybody else the header is a forgery.
        """
        known = self.settings
        if known.user_header == BY_SERVER:
            name = str(request.environ.get(BY_SERVER) or "")
        elif peer() in known.trusted_peers:
            name = request.headers.get(known.user_header, "")
        else:
            return refused(403, _("Pages are reached through the site's sign-on only."))
        if not name and known.public:
            return None
        if not _NAME.fullmatch(name):
            return refused(401, _("The site's sign-on gave no user name."))
        self._known_as(name)
        return None

    def _known_as(self, name: str) -> None:
        g.scope, g.reader = scope_of(name, self.settings), name


def scope_of(name: str, settings: WebSettings) -> Scope:
    """
    A user sees her own jobs and command lines, a group's leader the group's, an admin everything.
    """
    if name in settings.admins:
        return EVERYTHING
    led = [entry.partition(":") for entry in settings.leaders]
    groups = frozenset(group for leader, _colon, group in led if leader == name and group)
    return Scope(users=frozenset({name}), groups=groups)


def scope(otherwise: Scope) -> Scope:
    """
    The scope of the request that is served; OTHERWISE outside of one.
    """
    found = g.get("scope", otherwise) if has_request_context() else otherwise
    assert isinstance(found, Scope)
    return otherwise if found.everything else found


def shown(endpoint: str, settings: WebSettings) -> bool:
    """
    Whether the reader of this request may go there.
    """
    return not scope(EVERYTHING).least or (settings.public and endpoint in FOR_ALL)


def signs_in(settings: WebSettings) -> str:
    """
    Where this reader signs in (login) or out (logout), if at all.
    """
    if settings.access != "accounts" or not has_request_context():
        return ""
    return "logout" if g.get("reader") else "login"


def peer() -> str:
    """
    Who really connected, whatever X-Forwarded-For says; `unix`: somebody who may open our socket.
    """
    original = request.environ.get("werkzeug.proxy_fix.orig")
    connected = original["REMOTE_ADDR"] if original else request.remote_addr
    return str(connected or SOCKET)


def _address(left: dict[str, str]) -> str:
    return f"{here()}?{urlencode(left)}" if left else here()


def read_secret(settings: WebSettings) -> str:
    if settings.token_file is None:
        raise SettingsError(f"web.access is {settings.access}, but web.token_file names no file")
    try:
        text = settings.token_file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{settings.token_file}: cannot be read: {error}") from None
    if len(text) < SHORTEST:
        raise SettingsError(f"{settings.token_file}: a token of 16 characters or more is wanted")
    return text


def _accounts(settings: WebSettings) -> Path:
    if settings.access == "accounts" and settings.accounts_file is None:
        raise SettingsError("web.access is accounts, but web.accounts_file names no file")
    return settings.accounts_file or Path()


def refused(code: int, message: str) -> Response:
    """
    Says nothing about what there is, not even the navigation.
    """
    if for_programs():
        answer = problem(code, "Refused", message)
    else:
        answer = make_response(render_template("refused.html", message=message), code)
    if code == 401:
        answer.headers["WWW-Authenticate"] = 'Bearer realm="leadline"'
    return answer
