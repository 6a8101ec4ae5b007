"""`leadline enrich`: the worker, as a daemon or over files."""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import replace
from datetime import UTC, datetime

import click

from enrich.chain import build_chain
from enrich.counters import Tally
from enrich.deadletters import DeadLetters
from enrich.delivery import Delivery
from enrich.expiry import Expiry
from enrich.identity import IdentitySettings, read_identities
from enrich.ingest import Ingested, ingest
from enrich.interpreter import make_fit
from enrich.rules import read_rules
from enrich.run_days import days_by
from enrich.settings import EnrichSettings, WorkerSettings
from enrich.sources import find_sources
from enrich.step import Context as StepContext
from enrich.warm import warm_for
from leadline.chores.seal import gone
from leadline.commands.context import Context, with_context
from leadline.errors import SettingsError
from leadline.settings.common import RetentionSettings
from leadline.store.retention import Gone

FILE_TRIES = 8  # with the default backoff about four minutes


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option("--listen", metavar="HOST:PORT", help="Be the daemon: take what shippers send.")
@with_context
def enrich(context: Context, files: tuple[str, ...], listen: str | None) -> None:
    """
    Name what ran, and hand it to the store.

    FILE is NDJSON, plain, .gz or .zst; a folder, a pattern, or - for standard input. Without
    a FILE this is the daemon that shippers send to. Reading a file twice changes nothing.

    \b
    Examples:
        leadline enrich /var/spool/samples/*.ndjson.gz
        leadline --cluster fox enrich old-samples/
        leadline enrich --listen 127.0.0.1:8460
    """
    if files and listen:
        raise click.UsageError("--listen is for the daemon, which reads no files; leave one out")
    if not files:
        _serve(context, listen)
        return
    sources = find_sources(files)
    worker = context.settings.get("worker", WorkerSettings)
    steps = step_context(context)
    chain = build_chain(steps, context.settings.get("enrich", EnrichSettings))
    delivery = Delivery(
        store=context.own_store,
        chain=chain,
        letters=DeadLetters(context.paths.dead_letters),
        backoff=worker.backoff,
        wait=threading.Event().wait,
        notice=lambda text: click.echo(f"leadline: {text}", err=True),
        tries=FILE_TRIES,
        expiry=Expiry(lambda: no_longer_kept(context)),
        days=days_by(steps.zone),
        tells=True,
    )
    make_fit()
    warm_for(chain, context.own_store, sources)
    started = time.monotonic()
    done = ingest(delivery, sources, worker.bulk_max_size, Progress())
    _report(context, done, time.monotonic() - started)


def no_longer_kept(context: Context) -> Gone:
    retention = context.settings.get("retention", RetentionSettings)
    return gone(context.own_store, retention, datetime.now(UTC))


def step_context(context: Context) -> StepContext:
    settings = context.settings.get("enrich", EnrichSettings)
    return StepContext(
        rules=read_rules(settings.rules),
        clusters=context.clusters,
        cluster=context.cluster,
        identities=read_identities(context.settings.get("identity", IdentitySettings)),
    )


class Progress:
    """
    A line that grows, for people only.
    """

    def __init__(self) -> None:
        self._last = time.monotonic()

    def __call__(self, tally: Tally) -> None:
        now = time.monotonic()
        if sys.stderr.isatty() and now - self._last >= 1:
            self._last = now
            click.echo(f"\r{tally.total:,} read", err=True, nl=False)


def _report(context: Context, done: Ingested, seconds: float) -> None:
    tally = done.tally
    click.echo(
        f"read {tally.total}  accepted {tally.stored}  duplicate {tally.duplicate}"
        f"  rejected {tally.dead_lettered}"
        + (f"  expired {tally.expired}" if tally.expired else "")
        + f"  in {seconds:.1f} s"
    )
    if tally.expired:
        click.echo(
            f"leadline: {tally.expired} are of periods that are kept no longer; they were left out",
            err=True,
        )
    if tally.dead_lettered:
        click.echo(
            f"leadline: {tally.dead_lettered} rejected, with reasons in"
            f" {context.paths.dead_letters}; `leadline deadletters list` shows them",
            err=True,
        )
    for error in done.failed:
        click.echo(f"leadline: {error}", err=True)
    if done.failed:
        raise click.exceptions.Exit(1)


def _serve(context: Context, listen: str | None) -> None:
    try:
        from enrich.daemon import Setup, serve
    except ImportError as error:
        raise SettingsError(
            f"the worker needs {error.name}: pip install 'leadline[server]'"
        ) from None
    worker = context.settings.get("worker", WorkerSettings)
    if listen:
        try:
            worker = replace(worker, listen=listen)
        except ValueError as error:
            raise click.UsageError(f"--{error}") from None
    serve(
        Setup(
            context=step_context(context),
            worker=worker,
            enrich=context.settings.get("enrich", EnrichSettings),
            paths=context.paths,
            open_store=lambda: context.own_store,
            gone=lambda: no_longer_kept(context),
            notice=lambda text: click.echo(f"leadline: {text}", err=True),
        )
    )
