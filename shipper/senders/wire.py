"""
The little of HTTP that handing over a batch takes, on a plain socket.

http.client brings OpenSSL and a mail parser along, 6 MB on every node; here TLS is loaded only for
an endpoint that wants it, and the time-out holds for the whole answer, however slowly it drips.
"""

from __future__ import annotations

import contextlib
import re
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import ssl

STATUS_LINE = re.compile(rb"HTTP/1\.([01]) ([1-9][0-9][0-9])(?: ([^\r\n]*))?\r?")
HEAD_LIMIT = 16 << 10
BODY_LIMIT = 64 << 10  # what is longer is cut, and costs the connection
AT_ONCE = 16 << 10
NO_BODY = (204, 304)


class WireError(Exception):
    """
    What came is no answer in HTTP.
    """


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    phrase: str
    body: bytes
    headers: Mapping[str, str]  # names in lower case


class Connection:
    """
    A connection to ADDRESS, kept for the next request where the other side agrees.
    """

    def __init__(self, address: str, timeout: float, tls: ssl.SSLContext | None) -> None:
        parts = urlsplit(address)
        self._host = parts.netloc.rpartition("@")[2]
        self._timeout = timeout
        self._until = time.monotonic() + timeout
        self._got = bytearray()
        self.is_open = True
        secure = parts.scheme == "https"
        place = parts.hostname or "", parts.port or (443 if secure else 80)
        self.socket = socket.create_connection(place, timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if secure:
            assert tls is not None
            try:
                self.socket = tls.wrap_socket(self.socket, server_hostname=parts.hostname)
            except BaseException:
                self.socket.close()
                raise

    def post(self, path: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        """
        Raises OSError and WireError; the connection is then of no more use.
        """
        self._until = time.monotonic() + self._timeout
        told = {"Host": self._host, **headers, "Content-Length": str(len(body))}
        head = "".join(f"{name}: {value}\r\n" for name, value in told.items())
        self.socket.settimeout(self._timeout)
        # One that will not have the batch may say so and hang up before it is all sent.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.socket.sendall(f"POST {path} HTTP/1.1\r\n{head}\r\n".encode("latin-1"))
            self.socket.sendall(body)
        return self._answer()

    def close(self) -> None:
        self.is_open = False
        self.socket.close()

    def _answer(self) -> Answer:
        minor, status, phrase, headers = self._head()
        while status < 200:  # 100 Continue and the like: the answer proper comes after
            minor, status, phrase, headers = self._head()
        body, whole = b"", True
        if "chunked" in headers.get("transfer-encoding", "").lower():
            body, whole = self._chunks()
        elif status not in NO_BODY:
            length = headers.get("content-length")
            body, whole = self._counted(length) if length is not None else (self._rest(), False)
        last = "close" if minor == b"0" else ""
        if not whole or "close" in headers.get("connection", last).lower() or self._got:
            self.close()
        return Answer(status, phrase, body, headers)

    def _head(self) -> tuple[bytes, int, str, dict[str, str]]:
        lines = [self._line()]
        while lines[-1]:
            lines.append(self._line())
            if sum(map(len, lines)) > HEAD_LIMIT:
                raise WireError("endless headers")
        match = STATUS_LINE.fullmatch(lines[0])
        if match is None:
            raise WireError("no status")
        headers: dict[str, str] = {}
        for line in lines[1:-1]:
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
        return match[1], int(match[2]), (match[3] or b"").decode("latin-1").strip(), headers

    def _counted(self, length: str) -> tuple[bytes, bool]:
        if not length.isdecimal():
            raise WireError("no length")
        wanted = int(length)
        return self._take(min(wanted, BODY_LIMIT)), wanted <= BODY_LIMIT

    def _chunks(self) -> tuple[bytes, bool]:
        body = b""
        while True:
            size = self._line().partition(b";")[0].strip()
            try:
                length = int(size, 16)
            except ValueError:
                raise WireError("no chunk") from None
            if length <= 0:
                break
            room = BODY_LIMIT - len(body)
            if length > room:
                return body + self._take(room), False
            body += self._take(length)
            self._line()
        while self._line():
            pass  # trailers
        return body, True

    def _rest(self) -> bytes:
        """
        All until the other side hangs up.
        """
        while len(self._got) < BODY_LIMIT and self._more():
            pass
        return self._cut(min(len(self._got), BODY_LIMIT))

    def _line(self) -> bytes:
        while (end := self._got.find(b"\n")) < 0:
            if len(self._got) > HEAD_LIMIT:
                raise WireError("endless line")
            if not self._more():
                raise WireError("ended early")
        return self._cut(end + 1).rstrip(b"\r\n")

    def _take(self, count: int) -> bytes:
        while len(self._got) < count:
            if not self._more():
                raise WireError("ended early")
        return self._cut(count)

    def _cut(self, count: int) -> bytes:
        taken = bytes(self._got[:count])
        del self._got[:count]
        return taken

    def _more(self) -> bool:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self.socket.settimeout(left)
        some = self.socket.recv(AT_ONCE)
        self._got += some
        return bool(some)
