"""
The section `ship`: how often, where to, how patiently. Names are those Filebeat's users know.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from leadline.settings import Duration, Size
from leadline.settings.plugins import plugged
from leadline.spool import SpoolSettings


@dataclass(frozen=True)
class BackoffSettings:
    init: Duration = Duration(1)  # wait up to this after the first failure, doubled after each …
    max: Duration = Duration(60)  # … up to this; the wait is drawn at random below it


@dataclass(frozen=True)
class FlushSettings:
    timeout: Duration = Duration(0)  # a batch that is not full waits this long for more


@dataclass(frozen=True)
class TlsSettings:
    certificate_authorities: tuple[Path, ...] = ()  # who may sign the worker; empty: the system's
    certificate: Path | None = None  # what this host shows to the worker
    key: Path | None = None  # its key; empty: in the certificate's file
    verification_mode: Literal["full", "certificate", "none"] = "full"  # certificate: any name


@dataclass(frozen=True)
class QueueSettings:
    disk: SpoolSettings = field(default_factory=SpoolSettings)  # where documents wait


@dataclass(frozen=True)
class ShipSettings:
    interval: Duration = Duration(60)  # time between samples
    jitter: Duration = Duration(0)  # spread the hosts' ticks over this window, by their names
    shutdown_timeout: Duration = Duration(5)  # at the end, go on sending for at most this long
    sink: str = "http"  # http, file, stdout, or a plug-in
    endpoints: tuple[str, ...] = ("http://127.0.0.1:8460",)  # workers; the next if one fails
    loadbalance: bool = False  # begin with an endpoint chosen by host name, not with the first
    token: str = ""  # what this host shows to the worker; better in a file
    token_file: Path | None = None  # holds the token
    path: Path | None = None  # sink file: where to append
    bulk_max_size: int = 5000  # documents in a batch
    bulk_max_bytes: Size = Size(256 << 10)  # bytes in a batch, before compression
    compression_level: int = 5  # gzip, 1 is fastest, 9 smallest, 0 off
    timeout: Duration = Duration(60)  # for an answer of the worker
    backoff: BackoffSettings = field(default_factory=BackoffSettings)
    flush: FlushSettings = field(default_factory=FlushSettings)
    ssl: TlsSettings = field(default_factory=TlsSettings)
    queue: QueueSettings = field(default_factory=QueueSettings)

    def __post_init__(self) -> None:
        if self.interval < 0.1:
            raise ValueError("interval is below 0.1 s")
        if not 0 <= self.jitter <= self.interval:
            raise ValueError("jitter is longer than interval")
        if self.bulk_max_size < 1:
            raise ValueError("bulk_max_size is below 1")
        if not 0 <= self.compression_level <= 9:
            raise ValueError("compression_level is not within 0 to 9")
        known = ("http", "file", "stdout", *plugged("sinks"))
        if self.sink not in known:
            raise ValueError(f"sink {self.sink!r} is none of {', '.join(known)}")
        if self.sink == "http" and not self.endpoints:
            raise ValueError("endpoints is empty; write http://HOST:8460")
        if self.sink == "file" and self.path is None:
            raise ValueError("path is missing; sink file needs one")
        for endpoint in self.endpoints:
            check_endpoint(endpoint)


def check_endpoint(endpoint: str) -> None:
    try:
        parts = urlsplit(endpoint)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise ValueError(f"endpoint {endpoint!r} is no address; write https://HOST:8460")
