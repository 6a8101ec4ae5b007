"""
Sink `http`: gzip NDJSON to a worker, which answers 2xx only when the batch is safe in its spool.

An answer that does not look like a worker's (a captive portal, a proxy's page) counts as none: a
200 alone deletes nothing here.
"""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from leadline.errors import LeadlineError, SettingsError
from shipper.senders.clocks import http_date
from shipper.senders.settings import ShipSettings, TlsSettings
from shipper.senders.sink import Ahead, NotNow, Paused, Refused
from shipper.senders.wire import Answer, Connection, WireError

if TYPE_CHECKING:
    import ssl

PATH = "/api/v1/documents"
BACK_TO_FIRST = 600.0  # after a failover, look at the preferred endpoint again after this time
NOT_THIS = {400: False, 413: True}  # status: whether the size is what is wrong
AHEAD = 422
LATER = {408, 425, 429}


class HttpSink:
    def __init__(
        self,
        settings: ShipSettings,
        host: str,
        *,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._wall = wall
        first = zlib.crc32(host.encode()) if settings.loadbalance else 0
        first %= len(settings.endpoints)
        self._endpoints = settings.endpoints[first:] + settings.endpoints[:first]
        self._at = 0
        self._left_first = 0.0
        secure = any(url.startswith("https") for url in self._endpoints)
        self._tls = tls_context(settings.ssl) if secure else None
        self._connection: Connection | None = None
        self.clock_ahead: float | None = None  # this node's clock less the worker's, last answer

    @property
    def target(self) -> str:
        return self._endpoints[self._at]

    def send(self, data: bytes, count: int) -> None:
        """
        Offer the batch to each endpoint in turn, the one that took the last batch first.
        """
        body = gzip(data, self._settings.compression_level)
        if self._at and self._clock() - self._left_first > BACK_TO_FIRST:
            self._turn_to(0)
        problems: list[LeadlineError] = []
        for _ in self._endpoints:
            try:
                judge(self.target, self._offer(body), count)
                return
            except (NotNow, Paused) as problem:
                problems.append(problem)
                self._turn_to((self._at + 1) % len(self._endpoints))
        later = [problem for problem in problems if isinstance(problem, NotNow)]
        raise later[0] if later else problems[0]

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _turn_to(self, index: int) -> None:
        self.close()
        self._at = index
        self._left_first = self._clock()

    def _offer(self, body: bytes) -> Answer:
        headers = self._headers()
        fresh = self._connection is None
        try:
            return self._exchange(body, headers)
        except (WireError, OSError) as error:
            self.close()
            if fresh or isinstance(error, TimeoutError):
                raise NotNow(f"{self.target}: {what_happened(error)}") from None
        try:  # the worker may have closed a connection that was idle: that is no failure yet
            return self._exchange(body, headers)
        except (WireError, OSError) as error:
            self.close()
            raise NotNow(f"{self.target}: {what_happened(error)}") from None

    def _exchange(self, body: bytes, headers: dict[str, str]) -> Answer:
        if self._connection is None:
            self._connection = Connection(self.target, self._settings.timeout, self._tls)
        path = urlsplit(self.target).path.rstrip("/") + PATH
        answer = self._connection.post(path, body, headers)
        if (date := http_date(answer.headers.get("date"))) is not None:
            self.clock_ahead = round(self._wall() - date, 1)
        if not self._connection.is_open:
            self._connection = None
        return answer

    def _headers(self) -> dict[str, str]:
        headers = {
            "Content-Type": "application/x-ndjson",
            "User-Agent": "leadline-shipper",
        }
        if self._settings.compression_level:
            headers["Content-Encoding"] = "gzip"
        if token := read_token(self._settings):
            headers["Authorization"] = f"Bearer {token}"
        return headers


def judge(target: str, answer: Answer, count: int) -> None:
    """
    Return when the worker has the batch, raise what is to be done otherwise.
    """
    status, said = answer.status, gist(answer.body)
    if 200 <= status < 300:
        if not is_receipt(answer.body):
            raise NotNow(f"{target}: answers {status}, but not as a leadline worker: {said}")
        return
    reason = f"{target}: {status} {answer.phrase[:50]}: {said}".rstrip(": ")
    if status == AHEAD:
        raise Ahead(reason)
    if status in NOT_THIS:
        raise Refused(reason, too_large=NOT_THIS[status])
    if status in LATER or status >= 500 or status < 200:
        raise NotNow(reason, seconds(answer.headers.get("retry-after")))
    raise Paused(reason)


def is_receipt(body: bytes) -> bool:
    try:
        said = json.loads(body)
    except ValueError:
        return False
    return isinstance(said, dict) and isinstance(said.get("accepted"), int)


def gist(body: bytes) -> str:
    """
    The first words of an answer, fit for one line.
    """
    try:
        said = json.loads(body)
    except ValueError:
        said = body.decode(errors="replace")
    text = str(said.get("error") or said if isinstance(said, dict) else said)
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:200]


def gzip(data: bytes, level: int) -> bytes:
    if not level:
        return data
    packer = zlib.compressobj(level, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


def seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.strip().isdecimal() else None


def what_happened(error: Exception) -> str:
    if why := getattr(error, "verify_message", None):  # an ssl.SSLCertVerificationError
        return f"certificate not trusted: {why}"
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, OSError) and error.strerror:
        return str(error.strerror)
    return f"no proper answer ({error or type(error).__name__})"


def read_token(settings: ShipSettings) -> str:
    """
    The token as it is now: a file may be replaced while the shipper runs.
    """
    if settings.token_file is None:
        return settings.token
    try:
        token = settings.token_file.read_text(encoding="ascii").strip()
    except OSError as error:
        raise Paused(f"token file {settings.token_file}: {error.strerror}") from None
    except ValueError:
        token = ""
    if not token or not token.isprintable():
        raise Paused(f"token file {settings.token_file}: holds no token; write it on one line")
    return token


def tls_context(settings: TlsSettings) -> ssl.SSLContext:
    import ssl  # not at the top: OpenSSL is 5 MB that a node without TLS does without

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if not settings.certificate_authorities:
        context.load_default_certs()
    file: Path | None = None
    try:
        for file in settings.certificate_authorities:
            context.load_verify_locations(cafile=file)
        if file := settings.certificate:
            context.load_cert_chain(file, settings.key)
    except OSError as error:  # an SSLError is one
        raise SettingsError(
            f"ship.ssl: {file}: cannot be used: {error.strerror or error}"
        ) from None
    if settings.verification_mode != "full":
        context.check_hostname = False
    if settings.verification_mode == "none":
        context.verify_mode = ssl.CERT_NONE
    return context


def build(settings: ShipSettings, host: str) -> HttpSink:
    return HttpSink(settings, host)
