"""
Who may see what: everybody, who holds the token, or whom the site's single sign-on names.

Pages do not decide: they ask with the scope of this request, and the store leaves out the rest.
What a node as a whole does is shown to everybody who may see a page at all; what people ran only to
those who may.
"""

from __future__ import annotations

import hmac
import re
from hashlib import sha256

from flask import Response, g, has_request_context, make_response, redirect, request
from werkzeug.wrappers import Response as AnyResponse

from leadline.errors import SettingsError
from leadline.store.scope import EVERYTHING, Scope
from leadline.web.problem import problem
from leadline.web.settings import WebSettings

COOKIE = "leadline_seen"
PARAMETER = "token"
FREE = frozenset({"static", "healthz"})
DAYS = 30
_NAME = re.compile(r"[A-Za-z0-9._@+-]{1,64}")


class Door:
    """
    Lets a request in with its scope, or answers instead.
    """

    def __init__(self, settings: WebSettings) -> None:
        self.settings = settings
        self._token = _token(settings) if settings.access == "token" else ""

    def enter(self) -> AnyResponse | None:
        """
        None when the request may go on; its scope is then `scope()`.
        """
        g.scope = EVERYTHING
        if request.endpoint in FREE or self.settings.access == "open":
            return None
        if self.settings.access == "token":
            return self._by_token()
        return self._by_proxy()

    def _by_token(self) -> AnyResponse | None:
        """
        The token in the address is taken once: the page is shown again without it, by a cookie.
        """
        shown = request.args.get(PARAMETER, "")
        if shown and self._is(shown, self._token):
            left = {k: v for k, v in request.args.items(multi=False) if k != PARAMETER}
            answer = redirect(_address(left), 303)
            secure, path = request.is_secure, request.root_path or "/"
            answer.set_cookie(
                COOKIE,
                self._seal(),
                max_age=DAYS * 86400,
                httponly=True,
                secure=secure,
                samesite="Strict",
                path=path,
            )
            return answer
        bearer = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if self._is(bearer, self._token) or self._is(request.cookies.get(COOKIE, ""), self._seal()):
            return None
        return refused(401, "Open the address that `leadline up` or `leadline serve` printed.")

    def _seal(self) -> str:
        return hmac.new(self._token.encode(), b"leadline cookie", sha256).hexdigest()

    @staticmethod
    def _is(shown: str, wanted: str) -> bool:
        return bool(wanted) and hmac.compare_digest(shown.encode(), wanted.encode())

    def _by_proxy(self) -> AnyResponse | None:
        """
        The name the trusted proxy gives; from anybody else the header is a forgery.
        """
        known = self.settings
        if peer() not in known.trusted_peers:
            return refused(403, "Pages are reached through the site's sign-on only.")
        name = request.headers.get(known.user_header, "")
        if not _NAME.fullmatch(name):
            return refused(401, "The site's sign-on gave no user name.")
        g.scope = scope_of(name, known)
        return None


def scope_of(name: str, settings: WebSettings) -> Scope:
    """
    A user sees her own jobs and command lines, a group's leader the group's, an admin everything.
    """
    if name in settings.admins:
        return EVERYTHING
    led = [entry.partition(":") for entry in settings.leaders]
    groups = frozenset(group for leader, _, group in led if leader == name and group)
    return Scope(users=frozenset({name}), groups=groups)


def scope(otherwise: Scope) -> Scope:
    """
    The scope of the request that is served; OTHERWISE outside of one.
    """
    found = g.get("scope", otherwise) if has_request_context() else otherwise
    assert isinstance(found, Scope)
    return otherwise if found.everything else found


def peer() -> str:
    """
    Who really connected, whatever X-Forwarded-For says.
    """
    original = request.environ.get("werkzeug.proxy_fix.orig", {})
    return str(original.get("REMOTE_ADDR") or request.remote_addr or "")


def _address(left: dict[str, str]) -> str:
    from urllib.parse import urlencode

    base = f"{request.root_path}{request.path}"
    return f"{base}?{urlencode(left)}" if left else base


def _token(settings: WebSettings) -> str:
    if settings.token_file is None:
        raise SettingsError("web.access is token, but web.token_file names no file")
    try:
        text = settings.token_file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{settings.token_file}: cannot be read: {error}") from None
    if len(text) < 16:
        raise SettingsError(f"{settings.token_file}: a token of 16 characters or more is wanted")
    return text


def refused(code: int, message: str) -> Response:
    """
    Says nothing about what there is, not even the navigation.
    """
    if request.path.startswith("/api/"):
        return problem(code, "Refused", message)
    answer = make_response(f"{message}\n", code)
    answer.headers["Content-Type"] = "text/plain; charset=utf-8"
    return answer
