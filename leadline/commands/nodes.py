"""`leadline nodes`: nodes as the scheduler saw them, now and over time."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from leadline.commands.clocks import by_own_clocks
from leadline.commands.context import Context, with_context
from leadline.commands.showing import listed, one_of, prose, waiting
from leadline.commands.usage import named_periods, zone_of
from leadline.errors import QuestionError
from leadline.query import Filter, parse_period, question
from leadline.render import Table, safe_text
from leadline.render.table import FORMATS, Column
from leadline.reports import reservations as reserved
from leadline.reports import unused
from leadline.reports.cards import card_rows, failing_cards
from leadline.reports.inventory import InventorySettings, read_inventory
from leadline.reports.names import differences
from leadline.reports.nodes import (
    Fleet,
    fleet,
    group_rows,
    node_rows,
)
from leadline.reports.timeline import by_state
from leadline.store.contract import Store
from leadline.store.plan import Condition, Op
from leadline.store.scope import EVERYTHING, Scope

Asked = tuple[Store, Scope, datetime, datetime, tuple[Condition, ...]]

TIMES = tuple(
    Column(f"{name}_seconds", name.capitalize(), "seconds")
    for name in ("up", "drained", "down", "unknown")
)
NOBODY = (
    "No node states in that time. One machine of each cluster must ask its scheduler:"
    " set collect.slurm_live.enabled there."
)
MOMENTS = ("start", "end", "since", "last_used")
AVAILABLE = Column("availability", "Available", "percent", bars=True)
CLUSTER = Column("cluster", "Cluster")
COLUMNS: dict[str, tuple[Column, ...]] = {
    "nodes": (
        Column("node", "Node"),
        CLUSTER,
        Column("state", "State"),
        AVAILABLE,
        Column("gpus", "GPUs", ""),
        Column("cores", "Cores", ""),
        Column("partitions", "Partitions"),
        Column("since", "Since"),
        Column("by", "By"),
        Column("reason", "Reason", below=True),
        *TIMES,
    ),
    "cluster": (CLUSTER, Column("nodes", "Nodes", ""), AVAILABLE, *TIMES),
    "partition": (
        Column("partition", "Partition"),
        CLUSTER,
        Column("nodes", "Nodes", ""),
        AVAILABLE,
        *TIMES,
    ),
    "gpus": (
        Column("model", "Model"),
        CLUSTER,
        *(Column(n, n.capitalize(), "") for n in ("total", "allocated", "idle", "unusable")),
        Column("why", "Why unusable", below=True),
    ),
    "never used": (
        Column("name", "Never used"),
        Column("kind", "Kind"),
        CLUSTER,
        Column("up_seconds", "Up", "seconds"),
        Column("cores", "Cores", ""),
        Column("last_used", "Last job ended"),
    ),
    "reservations": reserved.COLUMNS,
    "timeline": (
        Column("start", "From"),
        Column("seconds", "For", "seconds"),
        Column("state", "State"),
        Column("counts", "Counts as"),
        Column("by", "By"),
        Column("reason", "Reason", below=True),
        Column("reservations", "Reservations", below=True),
    ),
    "states": (Column("state", "State"), Column("seconds", "Time", "seconds", bars=True)),
}


@click.command()
@click.argument("node", required=False)
@click.option("--period", "-p", default="last 7 days", show_default=True, help="Which time.")
@click.option("--by", type=click.Choice(["cluster", "partition"]), help="Availability of these.")
@click.option("--gpus", is_flag=True, help="Cards by model: total, allocated, idle, unusable.")
@click.option("--never-used", is_flag=True, help="Nodes and queues that no job used.")
@click.option("--reservations", is_flag=True, help="Reservations: when, where, for whom.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
@with_context
def nodes(
    context: Context,
    node: str | None,
    period: str,
    by: str | None,
    gpus: bool,
    never_used: bool,
    reservations: bool,
    form: str,
) -> None:
    """
    States of nodes with every flag and the reason, and how long they were up. With NODE, its
    timeline. Time when nobody asked the scheduler is unknown, and no part of the availability.

    \b
    Examples:
        leadline nodes --period "last 30 days"
        leadline nodes gpu-2
        leadline nodes --by partition --period "this year"
        leadline nodes --gpus
        leadline nodes --never-used --period "this year"
    """
    one_of(by=by, gpus=gpus, never_used=never_used, reservations=reservations)
    if node is not None and (by or gpus or never_used or reservations):
        raise QuestionError(f"node {node}: its timeline is told alone; leave the option out")
    asked = _asked(context, period)
    if never_used:
        inventory = read_inventory(context.settings.get("inventory", InventorySettings))
        with waiting("looking"):
            rows = unused.never_used(*asked, inventory=inventory)
        _told("never used", rows, form, "Each node and queue that is known was used.")
    elif reservations:
        rows = reserved.reservations(*asked)
        _told("reservations", rows, form, "No reservation is known of in that time.")
    else:
        _states(asked, node, by, gpus, form)


def _asked(context: Context, period: str) -> Asked:
    """
    What every report is asked with.
    """
    cluster = context.cluster
    where = (Condition("cluster", Op.IN, (cluster,)),) if cluster else ()
    filters = (Filter("cluster", (cluster,)),) if cluster else ()
    now = datetime.now(UTC)
    zone = zone_of(context, question(where=filters))
    span = parse_period(period, now, zone, named_periods(context))
    if span.start is None:
        raise QuestionError("--period: name a beginning, like `last 30 days` or `this year`")
    return context.store, EVERYTHING, span.start, min(now, span.end or now), where


def _states(asked: Asked, node: str | None, by: str | None, gpus: bool, form: str) -> None:
    store, scope, start, end, where = asked
    if node is not None:
        where = (*where, Condition("host.name", Op.IN, (node.partition(".")[0].lower(),)))
    with waiting("looking"):
        found = fleet(store, scope, start, end, where)
    if not found.changes:
        unknown = f"No state of {node} in that time; `leadline nodes` lists those there are."
        click.echo(prose([NOBODY if node is None else unknown]), err=form != "table")
        if form != "table":  # what reads rows gets none, rather than nothing
            _print("nodes" if node is None else "timeline", [], form)
    elif node is not None:
        _timeline(found, form)
    elif gpus:
        _print("gpus", card_rows(found, failing_cards(store, scope, end, where)), form)
    elif by is not None:
        _print(by, group_rows(found, by), form)
    else:
        _print("nodes", node_rows(found), form)
        for line in differences(found) if form == "table" else ():
            click.echo(safe_text(line))


def _told(kind: str, rows: list[dict[str, object]], form: str, none: str) -> None:
    if rows or form != "table":
        _print(kind, rows, form)
    else:
        click.echo(none)


def _timeline(found: Fleet, form: str) -> None:
    for host in found.hosts():
        timeline = found.timeline(host)
        rows: list[dict[str, object]] = [
            {
                "cluster": host[0],
                "start": datetime.fromtimestamp(s.start, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
                "seconds": s.seconds,
                "state": s.state or "(nobody looked)",
                "counts": s.time,
                "by": s.reason_user or None,
                "reason": s.reason or None,
                "reservations": ",".join(s.reservations) or None,
            }
            for s in timeline
        ]
        if form == "table":
            click.echo(safe_text(f"{host[0]}/{host[1]}"))
        _print("timeline", rows, form)
        if form == "table":
            click.echo("")
            shares = by_state(timeline).items()
            _print("states", [{"state": n or "(unknown)", "seconds": v} for n, v in shares], form)


def _print(kind: str, rows: list[dict[str, object]], form: str) -> None:
    clusters = click.get_current_context().obj.clusters
    labels, clocks = by_own_clocks(rows, MOMENTS, clusters)  # type: ignore[arg-type]
    people = form in ("table", "markdown")
    table = Table(COLUMNS[kind], tuple(rows), labels if people else ())  # type: ignore[arg-type]
    listed(table, form)
    if people and clocks:
        click.echo(f"\n{clocks}")
