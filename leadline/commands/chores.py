"""`leadline chores`: roll-ups and upkeep, done once however many do them."""

from __future__ import annotations

import signal
import threading
from datetime import UTC, datetime

import click

from leadline.chores.run import CHORES, Work, do
from leadline.chores.settings import ChoreSettings
from leadline.commands.alerts import alerts_of
from leadline.commands.context import Context, with_context
from leadline.commands.pseudonym import alias_of
from leadline.reports.inventory import InventorySettings, read_inventory
from leadline.reports.settings import FindingSettings
from leadline.settings.common import RetentionSettings
from leadline.settings.zones import cluster_zone

PAUSE = 60.0


@click.command()
@click.option("--once", is_flag=True, help="Do each chore now, and end.")
@click.option(
    "--only", type=click.Choice([chore.name for chore in CHORES]), help="This chore alone."
)
@with_context
def chores(context: Context, once: bool, only: str | None) -> None:
    """
    Roll up, seal and retire samples, merge small files, send alerts; part of `leadline up`.

    Runs until it is told to end. Any number may run beside each other: each turn is done by one.

    \b
    Examples:
        leadline chores
        leadline chores --once --only rollup
    """
    stop = threading.Event()
    if not once:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
    kept = context.settings.get("chores", ChoreSettings)
    retention = context.settings.get("retention", RetentionSettings)
    inventory = read_inventory(context.settings.get("inventory", InventorySettings))
    alias = alias_of(context)
    wanted = [chore for chore in CHORES if only in (None, chore.name)]
    while True:
        for chore in wanted:
            work = Work(
                context.own_store,
                datetime.now(UTC),
                lambda cluster: cluster_zone(context.clusters, cluster),
                alerts_of(context),
                retention if kept.retain else None,
                inventory,
                context.settings.get("findings", FindingSettings),
                alias,
            )
            try:
                said = do(chore, work, forced=once)
            except Exception as error:  # one chore that fails must not keep the others from theirs
                if once:
                    raise
                said = f"{chore.name}: {type(error).__name__}: {str(error).splitlines()[0]}"
            if said:
                click.echo(said)
            if stop.is_set():
                return
        if once or stop.wait(PAUSE):
            return
