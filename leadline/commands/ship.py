"""`leadline ship`: the daemon of a node, or one run for cron."""

from __future__ import annotations

from dataclasses import replace

import click

from leadline.commands.context import Context, with_context
from leadline.commands.sections import schema
from leadline.settings import load
from leadline.settings.common import PathSettings
from shipper.daemon import Post, run, run_once
from shipper.senders.settings import ShipSettings
from shipper.settings import CollectSettings
from shipper.snapshot import Snapshots
from shipper.system import System


@click.command()
@click.option("--once", is_flag=True, help="Look once, send what goes, and end: for cron.")
@with_context
def ship(context: Context, once: bool) -> None:
    """
    Sample this machine at every interval and send the samples to a worker.

    What cannot be sent waits on disk. SIGHUP reads the settings again, SIGTERM sends what goes
    within ship.shutdown_timeout and ends. With --once, counters carry over from run to run, and a
    run that finds the one before still at work ends without a word.

    \b
    Example:
        leadline ship
        leadline --set ship.endpoints=https://worker:8460 ship
        leadline --set ship.sink=stdout ship --once
    """

    if once:
        run_once(post(context), tell)
    else:
        run(lambda: post(context), tell)


def tell(text: str) -> None:
    click.echo(f"leadline ship: {text}", err=True)


def post(context: Context) -> Post:
    """
    What to ship, by the settings as they are now.
    """
    settings = load(schema(), file=context.config, overrides=context.overrides)
    collect = settings.get("collect", CollectSettings)
    if context.cluster:
        collect = replace(collect, cluster=context.cluster)
    paths = settings.get("paths", PathSettings)
    state = paths.state / "shipper"
    system = System()
    return Post(
        settings=settings.get("ship", ShipSettings),
        look=lambda: Snapshots(collect, system, state),
        host=(collect.host or system.host_name()).lower(),
        state=state,
        spool=paths.spool / "shipper",
    )
