"""The server by itself, asked by who means no good: slowly, hugely, under false names and paths."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest

from leadline.web.accounts import hashed, write
from leadline.web.headers import HEADERS
from leadline.web.worker import PATIENCE
from tests.deploy.servers import get, leadline_serve, site

PASSWORD = "correct horse battery"
HOST = b"Host: stats.example.org\r\nConnection: close\r\n"
OURS = b"Origin: http://stats.example.org\r\n"
FORM = b"Content-Type: application/x-www-form-urlencoded\r\n"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """
    Pages with accounts, two threads, no proxy in front.
    """
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "secret").write_text("the-secret-of-this-site")
    write(folder / "accounts", {"alice": hashed(PASSWORD)})
    files = {"token_file": str(folder / "secret"), "accounts_file": str(folder / "accounts")}
    config = site(folder, access="accounts", threads=2, **files)
    with leadline_serve(config, below="") as address:
        yield address


def connect(address: str) -> socket.socket:
    to = urlsplit(address)
    return socket.create_connection((to.hostname or "", to.port or 0), timeout=20)


def raw(address: str, request: bytes) -> tuple[int, str, str]:
    """
    Status, head and body of the answer to bytes no client would send.
    """
    with closing(connect(address)) as sock:
        sock.sendall(request)
        told = b"".join(iter(lambda: sock.recv(65536), b"")).decode(errors="replace")
    head, _, body = told.partition("\r\n\r\n")
    return int(head.split()[1]), head, body


REQUESTS = {
    "no such page": (404, b"GET /none HTTP/1.1\r\n" + HOST),
    "trace": (403, b"TRACE / HTTP/1.1\r\n" + HOST),
    "put": (405, b"PUT /login HTTP/1.1\r\n" + OURS + HOST),
    "connect": (403, b"CONNECT evil.example:443 HTTP/1.1\r\n" + HOST),
    "two hosts": (400, b"GET / HTTP/1.1\r\nHost: evil.example\r\n" + HOST),
    "a large header": (431, b"GET / HTTP/1.1\r\nX-Large: " + b"a" * 9000 + b"\r\n" + HOST),
    "many headers": (431, b"GET / HTTP/1.1\r\n" + b"X-A: b\r\n" * 200 + HOST),
    "a long address": (414, b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n" + HOST),
    "a long question": (414, b"GET /usage?" + b"a" * 5000 + b" HTTP/1.1\r\n" + HOST),
    "two lengths": (
        400,
        b"POST /login HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n"
        + OURS
        + HOST,
    ),
    "a large form": (
        413,
        b"POST /login HTTP/1.1\r\nContent-Length: 50000000\r\n" + FORM + OURS + HOST,
    ),
    "no text": (404, b"GET /static/%00%ff HTTP/1.1\r\n" + HOST),
    "dots": (404, b"GET /static/../../../../etc/passwd HTTP/1.1\r\n" + HOST),
    "coded dots": (404, b"GET /static/..%2f..%2fapp.py HTTP/1.1\r\n" + HOST),
}


OLDER = {"two hosts": 303, "a long address": 400}  # gunicorn 23


@pytest.mark.parametrize("what", REQUESTS)
def test_every_refusal_is_guarded(address: str, what: str) -> None:
    """
    Whether the pages refuse it or the server below them: with its status, with every security
    header, and without a word of how it works inside.
    """
    wanted, request = REQUESTS[what]
    if wanted in (404, 405):
        request += f"Cookie: {signed_in(address)}\r\n".encode()
    status, head, body = raw(address, request + b"\r\n")
    assert status in (wanted, OLDER.get(what)), head
    for name, value in HEADERS.items():
        assert f"{name}: {value}\r\n" in head + "\r\n", what
    assert "Traceback" not in body
    assert "root:" not in body


def signed_in(address: str) -> str:
    form = urlencode({"name": "alice", "password": PASSWORD}).encode()
    cookie = get(f"{address}/login", {"Origin": address}, data=form)[1]["Set-Cookie"]
    assert cookie.split("; ")[1:] == [
        cookie.split("; ")[1], "Max-Age=2592000", "HttpOnly", "Path=/", "SameSite=Lax",
    ]  # fmt: skip
    return cookie.partition(";")[0]


def test_slow_readers_hold_nobody_up(address: str) -> None:
    """
    As many connections as there are threads send a header and a form a byte at a time: they are
    let go, and others are answered.
    """
    slow = [connect(address) for _ in range(2)]
    slow[0].sendall(b"GET / HTTP/1.1\r\nX-Slow: ")
    slow[1].sendall(
        b"POST /login HTTP/1.1\r\nContent-Length: 900\r\n" + FORM + OURS + HOST + b"\r\na="
    )
    time.sleep(0.3)
    begun, answered = time.monotonic(), 0.0
    with closing(connect(address)) as sock:
        sock.sendall(b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")
        sock.settimeout(0.4)
        while not answered and time.monotonic() - begun < 3 * PATIENCE:
            for one in slow:
                drip(one)
            try:
                assert sock.recv(100).startswith(b"HTTP/1.1 200")
                answered = time.monotonic() - begun
            except TimeoutError:
                continue
    for one in slow:
        one.close()
    assert 0.0 < answered < 2 * PATIENCE


def drip(sock: socket.socket) -> None:
    try:
        sock.sendall(b"a")
    except OSError:
        return  # let go


AWAY = (
    *("//evil.example/", "https://evil.example", "/\\evil.example", "\\/evil.example"),
    *("evil.example", "/\t/evil.example", "/\n/evil.example", "%2f%2fevil.example"),
    *("javascript:alert(1)", ""),
)


@pytest.mark.parametrize("to", [*AWAY, "/ok"])
def test_sign_in_leads_nowhere_else(address: str, to: str) -> None:
    """
    After the sign-in a reader is on a page of this site, whatever the address asked for.
    """
    form = urlencode({"name": "alice", "password": PASSWORD, "to": to}).encode()
    status, headers, _ = get(f"{address}/login", {"Origin": address}, data=form)
    assert (status, headers["Location"]) == (303, "/ok" if to == "/ok" else "/")


@pytest.mark.parametrize(
    "path", ["//evil.example/", "//evil.example/%2e%2e", "/\\evil.example", "/%5cevil"]
)
def test_a_path_that_looks_like_a_host_leads_nowhere(address: str, path: str) -> None:
    """
    Neither the way to the sign-in nor any link of a page leads to another host.
    """
    told = raw(address, f"GET {path} HTTP/1.1\r\n".encode() + HOST + b"\r\n")
    assert told[0] in (303, 308)
    where = re.search(r"Location: (\S+)", told[1])
    assert where, told[1]
    assert re.fullmatch(r"/[^/\\].*", where[1])
    cookie = f"Cookie: {signed_in(address)}\r\n".encode()
    shown = raw(address, f"GET {path} HTTP/1.1\r\n".encode() + cookie + HOST + b"\r\n")
    for link in re.findall(r'(?:href|src|action)="([^"]*)"', shown[2]):
        assert re.fullmatch(r"/([^/\\].*)?|#.*", link), link


@pytest.mark.parametrize("name", ["evil.example", "evil.example:80", "a b<script>", ""])
def test_a_false_host_is_in_no_link(address: str, name: str) -> None:
    """
    Links and redirects name no host, so a false one leads nobody away.
    """
    request = f"GET /usage HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n"
    request += f"Cookie: {signed_in(address)}\r\nX-Forwarded-Host: evil.example\r\n\r\n"
    status, head, body = raw(address, request.encode())
    assert status == 200, head
    assert not re.search(r'(href|src|action|content)="[^"]*evil', body)
    assert "<script>" not in body
    away = raw(
        address, f"GET /usage HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n".encode()
    )
    assert away[0] == 303
    assert "Location: /login?" in away[1]


def test_a_new_password_ends_what_the_old_one_began(tmp_path: Path) -> None:
    """
    A cookie is good while the password is the one that it was given for.
    """
    (tmp_path / "secret").write_text("the-secret-of-this-site")
    write(tmp_path / "accounts", {"alice": hashed(PASSWORD)})
    files = {"token_file": str(tmp_path / "secret"), "accounts_file": str(tmp_path / "accounts")}
    with leadline_serve(site(tmp_path, access="accounts", **files), below="") as address:
        known = {"Cookie": signed_in(address)}
        assert get(f"{address}/users", known)[0] == 200
        write(tmp_path / "accounts", {"alice": hashed(PASSWORD + "!")})
        assert get(f"{address}/users", known)[0] == 303
