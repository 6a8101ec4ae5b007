"""`leadline up`: shipper, worker and web of one machine, in one process group."""

from __future__ import annotations

import fcntl
import os
import secrets
import signal
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from leadline.commands.address import web_secret, with_ticket
from leadline.commands.context import Context, with_context
from leadline.commands.supervise import Group, Part, last_words
from leadline.errors import LeadlineError
from leadline.settings.common import PathSettings, RetentionSettings
from leadline.web.settings import WebSettings

if TYPE_CHECKING:
    from leadline.store.opensearch.node import Node

READY_WAIT = 60.0
STOPPING = "(stopping)"


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8470, show_default=True, help="Port of the web pages.")
@click.option("--worker-port", default=8460, show_default=True, help="Port shippers send to.")
@click.option("--interval", default="15s", show_default=True, help="Time between samples.")
@click.option("--demo", is_flag=True, help="Load a simulated month of a 40-node cluster as well.")
@click.option("--opensearch", is_flag=True, help="Keep documents in a local OpenSearch node.")
@click.option("--open", "opened", is_flag=True, help="Show the pages to all who reach the port.")
@with_context
def up(
    context: Context,
    host: str,
    port: int,
    worker_port: int,
    interval: str,
    demo: bool,
    opensearch: bool,
    opened: bool,
) -> None:
    """
    Start everything on this machine: a shipper that samples it, the worker, and the web pages.

    The address it prints opens the pages once, in your browser, for on a machine with many users
    127.0.0.1 is all of them; `leadline address` prints another one. Ctrl-C stops everything; what
    was stored stays. Everything lies in one folder, which `leadline doctor` names.

    \b
    Examples:
        leadline up
        leadline up --demo
    """
    context.paths.data.mkdir(parents=True, exist_ok=True, mode=0o700)
    lock = take_lock(context.paths)
    for number, what in ((port, "--port"), (worker_port, "--worker-port")):
        refuse_taken(host, number, what)
    common = base_arguments(context)
    node = start_opensearch(context) if opensearch else None
    if node is not None:
        common += ["--store", f"opensearch={node.url}"]
    token = local_token(context.paths.state / "local.token")
    started = parts(context.paths, common, host, port, worker_port, interval, token)
    guarded = not opened and context.settings.get("web", WebSettings).access == "open"
    if guarded:
        started = [with_words(part, guard(context.paths)) for part in started]
    group = Group(started, notice)
    stop_on_signals(group)
    try:
        group.start()
        address = f"http://{host}:{port}/"
        wait_ready(group, address, f"http://{host}:{worker_port}/healthz")
        shown = with_ticket(address, web_secret(context.paths)) if guarded else address
        click.echo(f"leadline is up: {shown}")
        click.echo(f"  data    {context.paths.data}\n  logs    {context.paths.data / 'log'}")
        lock.write(address)
        lock.flush()
        if demo:
            threading.Thread(target=load_demo, args=(context, common), daemon=True).start()
        group.watch()
    finally:
        lock.truncate(0)
        lock.write(STOPPING)
        lock.flush()
        group.stop()
        if node is not None:
            node.stop()
        lock.close()


def notice(text: str) -> None:
    click.echo(f"leadline: {text}", err=True)


def base_arguments(context: Context) -> list[str]:
    """
    The options of this call that every part must be given again.
    """
    arguments = ["--config", str(context.config)] if context.config else []
    for override in (*context.overrides, f"paths.data={context.paths.data}"):
        arguments += ["--set", override]
    if context.store_option:
        arguments += ["--store", context.store_option]
    return arguments


def take_lock(paths: PathSettings) -> IO[str]:
    """
    Hold the data folder: two groups on one spool would send everything twice.
    """
    lock = (paths.data / "up.lock").open("a+", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        where = lock.read().strip() or "(starting)"
        if where == STOPPING:
            raise LeadlineError(
                f"leadline still stops for {paths.data}; try again in seconds"
            ) from None
        raise LeadlineError(
            f"leadline is up already for {paths.data}: {where}; "
            "LEADLINE_DATA=FOLDER starts another one"
        ) from None
    lock.truncate(0)
    return lock


def refuse_taken(host: str, port: int, option: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise LeadlineError(
                f"{host} port {port}: {error.strerror}; choose another one with {option} NUMBER"
            ) from None


def local_token(file: Path) -> Path:
    """
    A secret of this machine's own, between shipper and worker or for the pages, made on first use.
    """
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as out:
            out.write(secrets.token_urlsafe(32) + "\n")
    return file


def guard(paths: PathSettings) -> list[str]:
    """
    What lets only those into the pages who were given an address.
    """
    file = local_token(web_secret(paths))
    return ["--set", "web.access=token", "--set", f"web.token_file={file}"]


def with_words(part: Part, words: list[str]) -> Part:
    return replace(part, arguments=[*words, *part.arguments]) if part.name == "web" else part


def local_cluster() -> str:
    """
    A machine without a cluster is one of its own, called as the machine is.
    """
    return socket.gethostname().split(".")[0].lower() or "local"


def parts(
    paths: PathSettings,
    common: list[str],
    host: str,
    port: int,
    worker_port: int,
    interval: str,
    token: Path,
) -> list[Part]:
    worker = f"{host}:{worker_port}"
    cluster = f"clusters.{local_cluster()}.token_file={token}"
    shipper = [
        *("--set", f"ship.interval={interval}"),
        *("--set", f"ship.endpoints=http://{worker}"),
        *("--set", f"ship.token_file={token}"),
    ]
    commands = {
        "worker": [*common, "--set", cluster, "enrich", "--listen", worker],
        "web": [*common, "serve", "--listen", f"{host}:{port}"],
        "shipper": [*common, *shipper, "ship"],
        "chores": [*common, "chores"],
    }
    log = paths.data / "log"
    return [Part(name, words, log / f"{name}.log") for name, words in commands.items()]


def stop_on_signals(group: Group) -> None:
    def end(_number: int, _frame: object) -> None:
        group.stopping.set()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=2) as answer:  # noqa: S310 - our own http
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def wait_ready(group: Group, address: str, worker: str) -> None:
    """
    Wait until pages and worker answer; a part that fell tells why.
    """
    waiting = [f"{address}healthz", worker]
    end = time.monotonic() + READY_WAIT
    while time.monotonic() < end and not group.stopping.is_set():
        waiting = [one for one in waiting if not answers(one)]
        if not waiting:
            return
        for part in group.parts:
            if part.process is not None and part.process.poll() is not None:
                raise LeadlineError(
                    f"{part.name} did not start: {last_words(part.log)}; more in {part.log}"
                )
        time.sleep(0.1)
    if waiting and not group.stopping.is_set():
        raise LeadlineError(f"no answer from {waiting[0]} within {READY_WAIT:.0f} s")


def start_opensearch(context: Context) -> Node:
    from leadline.store.opensearch.local import start_local
    from leadline.store.opensearch.settings import OpenSearchSettings

    click.echo("starting a local OpenSearch node (first time: about 130 MB to fetch) …")
    settings = context.settings.get("opensearch", OpenSearchSettings)
    retention = context.settings.get("retention", RetentionSettings)
    node = start_local(context.paths.data / "opensearch", settings, retention)
    click.echo(f"  opensearch  {node.url}, data in {node.folder}")
    return node


def load_demo(context: Context, common: list[str]) -> None:
    """
    Simulate a month and take it in through the same chain as everything else.
    """
    from leadline.commands.demo import load

    try:
        load(context.paths, [sys.executable, "-m", "leadline.commands", *common], notice)
    except LeadlineError as error:
        notice(f"demo: {error}")
