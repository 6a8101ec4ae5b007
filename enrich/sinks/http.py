"""
Sink `http`: a worker hands what it took to the next worker, which has the store.

To the delivery it is a store that answers accepted, rejected or kept. What the next worker has
acknowledged is in that worker's spool; whether it was new is for that worker to say.
"""

from __future__ import annotations

import http.client
import ssl
import threading
import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import orjson

from enrich.settings import ForwardSettings
from leadline.errors import StoreError
from leadline.formats import Document
from leadline.store.contract import Health, Mode, Outcome, Ready

PATH = "/api/v1/documents"
LEVEL = 3  # of compression: fast, and NDJSON shrinks to a tenth already
REFUSED = {400, 413, 422}  # this body never: find the document that is at fault
LATER = {408, 425, 429}


class HttpSink:
    def __init__(self, settings: ForwardSettings) -> None:
        self._settings = settings
        self._parts = urlsplit(settings.endpoint)
        self._guard = threading.Lock()
        self._connection: http.client.HTTPConnection | None = None
        self._problem = ""

    def write(self, documents: Sequence[Document], mode: Mode) -> Outcome:
        return self._send(b"\n".join(map(orjson.dumps, documents)), lambda: documents, mode)

    def write_ready(self, lines: Iterable[Ready]) -> Outcome:
        data = b"\n".join([line.data for line in lines])
        return self._send(data, lambda: list(map(orjson.loads, data.split(b"\n"))), "create")

    def _send(
        self, data: bytes, documents: Callable[[], Sequence[Document]], mode: Mode
    ) -> Outcome:
        if not data:
            return Outcome()
        packer = zlib.compressobj(LEVEL, zlib.DEFLATED, 31)
        try:
            status, body = self._post(packer.compress(data) + packer.flush())
        except (OSError, http.client.HTTPException) as error:
            return self._kept(documents(), f"{self._settings.endpoint}: {_what(error)}", pause=True)
        if 200 <= status < 300 and isinstance(_said(body).get("accepted"), int):
            self._problem = ""
            return Outcome(accepted=data.count(b"\n") + 1)
        return self._judge(documents(), mode, status, body)

    def health(self) -> Health:
        problems = (self._problem,) if self._problem else ()
        return Health(f"worker {self._settings.endpoint}", not problems, problems, {})

    def close(self) -> None:
        with self._guard:
            self._hang_up()

    def _judge(
        self, documents: Sequence[Document], mode: Mode, status: int, body: bytes
    ) -> Outcome:
        said = _said(body)
        reason = f"{self._settings.endpoint}: {status}: {said.get('error', '')}".rstrip(": ")
        if 200 <= status < 300:
            return self._kept(documents, f"{self._settings.endpoint}: no worker answers there")
        if status in REFUSED:
            return self._halves(documents, mode, reason)
        return self._kept(documents, reason, pause=status not in LATER)

    def _halves(self, documents: Sequence[Document], mode: Mode, reason: str) -> Outcome:
        """
        One document spoils a batch: the half without it is taken, and so on down to that one.
        """
        if len(documents) == 1:
            return Outcome(rejected=[(documents[0], reason)])
        middle = len(documents) // 2
        outcome = self.write(documents[:middle], mode)
        outcome.add(self.write(documents[middle:], mode))
        return outcome

    def _kept(self, documents: Sequence[Document], reason: str, *, pause: bool = True) -> Outcome:
        self._problem = reason
        return Outcome(kept=list(documents), reason=reason, pause=pause)

    def _post(self, body: bytes) -> tuple[int, bytes]:
        headers = {"Content-Type": "application/x-ndjson", "Content-Encoding": "gzip"}
        if self._settings.token_file:
            headers["Authorization"] = f"Bearer {_token(self._settings.token_file)}"
        path = self._parts.path.rstrip("/") + PATH
        with self._guard:
            fresh = self._connection is None
            try:
                return self._exchange(path, body, headers)
            except (http.client.HTTPException, OSError):
                self._hang_up()
                if fresh:
                    raise
            try:  # it was idle and the other side had closed it
                return self._exchange(path, body, headers)
            except (http.client.HTTPException, OSError):
                self._hang_up()
                raise

    def _exchange(self, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
        connection = self._connection = self._connection or self._connect()
        connection.request("POST", path, body, headers)
        response = connection.getresponse()
        data = response.read(65536)
        if response.will_close:
            self._hang_up()
        return response.status, data

    def _connect(self) -> http.client.HTTPConnection:
        host, port = self._parts.hostname or "", self._parts.port
        if self._parts.scheme == "https":
            context = ssl.create_default_context(cafile=self._settings.ca_file)
            return http.client.HTTPSConnection(
                host, port, timeout=self._settings.timeout, context=context
            )
        return http.client.HTTPConnection(host, port, timeout=self._settings.timeout)

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _said(body: bytes) -> dict[str, object]:
    try:
        said = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return said if isinstance(said, dict) else {}


def _token(path: Path) -> str:
    try:
        words = path.read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise StoreError(f"forward.token_file {path}: {reason}") from None
    if not words:
        raise StoreError(f"forward.token_file {path}: holds no token")
    return words[0]


def _what(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error or type(error).__name__)
