"""`leadline size`: how big a store must be for a site, from measured figures."""

from __future__ import annotations

import click

from leadline.errors import SettingsError
from leadline.settings.typed import parse_duration
from leadline.store.sizing import Site, plan_size


@click.command()
@click.option("--nodes", type=click.IntRange(1), required=True, help="Nodes that send samples.")
@click.option("--every", default="60s", show_default=True, help="Time between samples.")
@click.option("--processes", default=15.0, show_default=True, help="Process documents a sample.")
@click.option("--cards", default=0.0, show_default=True, help="GPUs a node, on average.")
@click.option("--jobs", default=5000, show_default=True, help="Jobs that end in a day.")
@click.option("--keep", default="90d", show_default=True, help="How long raw samples are kept.")
@click.option("--copies", type=click.IntRange(0), default=1, show_default=True, help="Replicas.")
def size(
    nodes: int, every: str, processes: float, cards: float, jobs: int, keep: str, copies: int
) -> None:
    """
    Reckon disk, documents per second, shards and heap, on OpenSearch and in the lake.

    The bytes per document were measured (docs/scale.md says how); how many processes a sample
    holds is yours to know: `leadline sample | wc -l` on a busy node tells.

    \b
    Examples:
        leadline size --nodes 1000 --every 60s
        leadline size --nodes 200 --every 15s --cards 4 --keep 180d
    """
    try:
        site = Site(
            nodes, parse_duration(every), processes, cards, jobs, parse_duration(keep), copies
        )
    except ValueError as error:
        raise SettingsError(f"--every, --keep: {error}") from None
    for line in plan_size(site).lines():
        click.echo(line)
