"""
gunicorn's threaded worker, with two things it leaves to a proxy in front: nobody holds a thread by
sending a request slowly, and what gunicorn itself refuses carries the headers of our own answers.
"""

from __future__ import annotations

from contextlib import suppress
from socket import SHUT_RD
from time import monotonic
from typing import Any

from gunicorn.workers.gthread import ThreadWorker

from leadline.web.headers import HEADERS

PATIENCE = 5.0  # seconds for the whole of a request, its form too


class Worker(ThreadWorker):  # type: ignore[misc]
    """
    Threads are few: a connection has one only while its request is being read or answered.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._reading: dict[Any, float] = {}

    def handle(self, conn: Any) -> Any:
        self._reading[conn] = monotonic()
        try:
            return super().handle(conn)
        finally:
            self._reading.pop(conn, None)

    def handle_request(self, req: Any, conn: Any) -> Any:
        if not _brings_more(req):
            self._reading.pop(conn, None)
        return super().handle_request(req, conn)

    def murder_keepalived(self, *args: Any, **kwargs: Any) -> None:
        """
        Called every second, in the thread that accepts: who takes too long is read no further.
        """
        late = monotonic() - PATIENCE
        for conn, begun in list(self._reading.items()):
            if begun < late and self._reading.pop(conn, None) is not None:
                _end(conn)
        super().murder_keepalived(*args, **kwargs)

    def handle_error(self, req: Any, client: Any, addr: Any, exc: BaseException) -> None:
        super().handle_error(req, _Guarded(client), addr, exc)


def _brings_more(req: Any) -> bool:
    return any(name in ("CONTENT-LENGTH", "TRANSFER-ENCODING") for name, _value in req.headers)


def _end(conn: Any) -> None:
    with suppress(OSError):  # it may have gone by itself
        conn.sock.shutdown(SHUT_RD)


class _Guarded:
    """
    A socket that puts our headers into the one answer it sends.
    """

    def __init__(self, client: Any) -> None:
        self._client = client

    def sendall(self, data: bytes) -> None:
        told = "".join(f"{name}: {value}\r\n" for name, value in HEADERS.items()).encode()
        first, end, rest = data.partition(b"\r\n")
        self._client.sendall(first + end + told + rest)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)
