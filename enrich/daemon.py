"""
The worker as a daemon: gunicorn receives, a thread beside it delivers, in one process.

Gunicorn's first process only watches: it opens nothing, and starts the working one again when
that one dies.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from enrich.app import create_app
from enrich.chain import Chain, build_chain
from enrich.counters import Counters
from enrich.deadletters import DeadLetters
from enrich.delivery import Delivery, Sink
from enrich.expiry import Expiry, nothing
from enrich.grants import Grants
from enrich.interpreter import make_fit
from enrich.receiver import Receiver
from enrich.run_days import days_by, no_days
from enrich.seen import Seen
from enrich.settings import EnrichSettings, WorkerSettings
from enrich.sinks import HttpSink
from enrich.step import Context
from enrich.warm import warm_now
from enrich.worker import Engine, WorkerSpool
from leadline.errors import LeadlineError, SettingsError
from leadline.settings.common import PathSettings
from leadline.store.contract import Store
from leadline.store.retention import Gone

DRAIN_SECONDS = 10.0
HEALTH_SECONDS = 30.0
CANNOT_LOAD = 4  # gunicorn's first process gives up instead of trying for ever


@dataclass(frozen=True, kw_only=True)
class Setup:
    """
    All a worker is made of. The store is opened late, in the process that uses it.
    """

    context: Context
    worker: WorkerSettings
    enrich: EnrichSettings
    paths: PathSettings
    open_store: Callable[[], Store]
    gone: Callable[[], Gone] = nothing  # what the store keeps no longer
    notice: Callable[[str], None]

    @property
    def spool(self) -> Path:
        return self.paths.data / "worker" / "spool"


class Worker:
    """
    Everything of one running worker, so that it can be started and ended as a whole.
    """

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._started = time.time()
        self._stop = threading.Event()
        self._problem = ""
        self._health: tuple[float, dict[str, object]] = (0.0, {})
        state = setup.paths.data / "worker"
        self.grants = Grants(setup.context.clusters, setup.worker.workers_token_file)
        self.chain: Chain = build_chain(setup.context, setup.enrich)
        self.sink: Sink = (
            HttpSink(setup.worker.forward) if setup.worker.forward.endpoint else setup.open_store()
        )
        self.queue = WorkerSpool(setup.spool, setup.worker)
        self.seen = Seen(state / "hosts.json")
        self.counters = Counters(state / "counters.json", self.queue.reader.position)
        self.receiver = Receiver(self.queue, setup.context, setup.worker, self.seen)
        delivery = Delivery(
            store=self.sink,
            chain=self.chain,
            letters=DeadLetters(setup.paths.dead_letters),
            backoff=setup.worker.backoff,
            wait=self._stop.wait,
            notice=self._notice,
            expiry=nothing if setup.worker.forward.endpoint else Expiry(setup.gone),
            days=no_days if setup.worker.forward.endpoint else days_by(setup.context.zone),
            tells=not setup.worker.forward.endpoint,
        )
        self.engine = Engine(
            self.queue, delivery, self.counters, self.seen, setup.worker, self._stop
        )
        self._thread = threading.Thread(target=self._run, name="delivery", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """
        Deliver what can be delivered soon; the rest waits in the spool for the next start.
        """
        self._stop.set()
        self.queue.arrived.set()
        self._thread.join(DRAIN_SECONDS)
        if not self._thread.is_alive():
            self.engine.drain(DRAIN_SECONDS)
            self.sink.close()
        self.queue.close()

    def _run(self) -> None:
        try:
            if not self._setup.worker.forward.endpoint:
                warm_now(self.chain, self._setup.open_store())
        except (LeadlineError, OSError) as error:
            self._setup.notice(f"jobs of the last days are not known: {error}")
        self.engine.run()

    def healthy(self) -> bool:
        return self._thread.is_alive()

    def status(self) -> dict[str, object]:
        tally = self.counters.tally
        pending = self.queue.pending()
        return {
            "role": "worker",
            "version": version("leadline"),
            "started": self._started,
            "uptime_seconds": round(time.time() - self._started, 1),
            "rules_version": self._setup.context.rules.version,
            "counters": {"read": tally.total + pending, **asdict(tally), "pending": pending},
            "received": dict(self.receiver.counts),
            "delivery": {"problem": self._problem, "faults": self.engine.faults},
            "cache": {
                name: {"asked": asked, "missed": missed}
                for name, (asked, missed) in self.chain.cached().items()
            },
            "hosts": self.seen.hosts(),
            "store": self._store_health(),
        }

    def _notice(self, text: str) -> None:
        self._problem = "" if text.endswith("again") else text
        self._setup.notice(text)

    def _store_health(self) -> dict[str, object]:
        when, health = self._health
        if time.monotonic() - when > HEALTH_SECONDS or not health:
            try:
                health = asdict(self.sink.health())
            except (LeadlineError, OSError) as error:
                health = {"ok": False, "problems": [str(error)]}
            self._health = (time.monotonic(), health)
        return health


def serve(setup: Setup) -> None:
    """
    Run until SIGTERM. What cannot work is refused here, in one line, before anything starts.
    """
    try:
        from gunicorn.app.base import BaseApplication
    except ImportError:
        raise SettingsError("the worker needs gunicorn: pip install 'leadline[server]'") from None
    check(setup)
    running: list[Worker] = []

    def end_all(server: object, worker: object) -> None:
        for one in running:
            one.end()

    class Application(BaseApplication):  # type: ignore[misc]
        def load_config(self) -> None:
            for name, value in gunicorn_settings(setup.worker).items():
                self.cfg.set(name, value)
            self.cfg.set("worker_exit", end_all)

        def load(self) -> Any:
            try:
                worker = Worker(setup)
            except LeadlineError as error:
                setup.notice(str(error))
                sys.exit(CANNOT_LOAD)
            running.append(worker)
            make_fit()
            worker.start()
            longest = setup.worker.max_request
            return create_app(
                worker.receiver, worker.grants, worker.status, worker.healthy, longest
            )

    Application().run()


def check(setup: Setup) -> None:
    host, _, port = setup.worker.listen.rpartition(":")
    host = host.strip("[]")
    if Grants(setup.context.clusters, setup.worker.workers_token_file).open and not _is_loopback(
        host
    ):
        raise SettingsError(
            f"worker.listen {setup.worker.listen}: no cluster has a token, so anybody could send;"
            " set clusters.NAME.token_file, or listen on 127.0.0.1"
        )
    build_chain(setup.context, setup.enrich)
    WorkerSpool(setup.spool, setup.worker).close()
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, int(port)))
        except OSError as error:
            raise SettingsError(
                f"worker.listen {setup.worker.listen}: {error.strerror}; --listen takes another one"
            ) from None


def gunicorn_settings(worker: WorkerSettings) -> dict[str, object]:
    settings: dict[str, object] = {
        "bind": worker.listen,
        "workers": 1,  # the spool has one writer
        "worker_class": "gthread",
        "threads": worker.threads,
        "timeout": 120,
        "graceful_timeout": 20,
        "keepalive": 75,
        "loglevel": os.environ.get("LEADLINE_LOG", "warning"),
        "proc_name": "leadline-worker",
    }
    if worker.certificate:
        settings |= {"certfile": str(worker.certificate), "keyfile": str(worker.key or "") or None}
    if worker.client_ca:
        settings |= {"ca_certs": str(worker.client_ca), "cert_reqs": ssl.CERT_REQUIRED}
    return settings


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
