"""
What may be set about the worker, in the words Filebeat's users know.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from leadline.settings import Duration, Size
from leadline.spool import SpoolSettings

SEGMENT = 64 << 20


@dataclass(frozen=True)
class BackoffSettings:
    init: Duration = Duration(1)  # the first wait after a failure
    max: Duration = Duration(60)  # the longest


@dataclass(frozen=True)
class FlushSettings:
    timeout: Duration = Duration(1)  # a batch that is not full waits so long for more


@dataclass(frozen=True)
class DiskSettings:
    max_size: Size = Size(10 << 30)  # of the worker's spool; full: shippers are told to wait


@dataclass(frozen=True)
class QueueSettings:
    disk: DiskSettings = field(default_factory=DiskSettings)


@dataclass(frozen=True)
class ForwardSettings:
    endpoint: str = ""  # https://worker:8460; empty: deliver to the store
    token_file: Path | None = None  # holds the token shown to the next worker
    ca_file: Path | None = None  # the authority that signed the next worker's certificate
    timeout: float = 60.0  # seconds for an answer

    def __post_init__(self) -> None:
        parts = urlsplit(self.endpoint)
        if self.endpoint and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise ValueError(f"endpoint {self.endpoint!r}: write it as https://worker:8460")


@dataclass(frozen=True)
class WorkerSettings:
    listen: str = "127.0.0.1:8460"  # address and port that shippers send to
    bulk_max_size: int = 20_000  # documents in one write to the store
    worker: int = 1  # batches under way to the store at once
    threads: int = 8  # requests served at once
    backoff: BackoffSettings = field(default_factory=BackoffSettings)
    flush: FlushSettings = field(default_factory=FlushSettings)
    queue: QueueSettings = field(default_factory=QueueSettings)
    max_request: Size = Size(32 << 20)  # a request's body as it comes
    max_batch: Size = Size(128 << 20)  # the same unpacked
    max_line: Size = Size(1 << 20)  # one document
    ahead: Duration = Duration(3600)  # a batch further in the future is refused
    certificate: Path | None = None  # serve https with it
    key: Path | None = None  # of the certificate
    client_ca: Path | None = None  # shippers must show a certificate signed by it
    workers_token_file: Path | None = None  # tokens of workers that forward for any cluster
    forward: ForwardSettings = field(default_factory=ForwardSettings)  # to the next worker

    def __post_init__(self) -> None:
        if self.bulk_max_size < 1 or self.worker < 1 or self.threads < 1:
            raise ValueError("bulk_max_size, worker and threads must be at least 1")
        host, colon, port = self.listen.rpartition(":")
        if not (host and colon and port.isdigit() and int(port) < 65536):
            raise ValueError(f"listen {self.listen!r}: write it as 127.0.0.1:8460")


@dataclass(frozen=True)
class EnrichSettings:
    steps: tuple[str, ...] = ()  # the chain's steps in order; empty: all that are built in
    rules: tuple[Path, ...] = ()  # files of program rules, asked before those shipped
    cache_entries: int = 200_000  # distinct commands remembered


def worker_spool(settings: WorkerSettings) -> SpoolSettings:
    """
    The worker's spool: the receiver refuses before its bound drops what was acknowledged, and
    nothing ages away.
    """
    beyond = 2 * settings.max_batch + 2 * SEGMENT
    return SpoolSettings(
        max_size=Size(settings.queue.disk.max_size + beyond),
        max_age=Duration(0),
        segment_size=Size(SEGMENT),
    )
