"""
What the daemons said of themselves, put together: troubles, tables, one row for each shipper.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Mapping
from typing import Any

import click

from leadline.commands.clocks import by_own_clocks
from leadline.commands.showing import prose
from leadline.formats.counted import counted
from leadline.formats.times import parse_time
from leadline.render import duration
from leadline.render.table import Column, Table, render
from shipper.senders.clocks import NOTABLE

SILENT_SECONDS = 300.0
SHOWN = 20  # alerts and complaints; `--format json` has all

HOSTS = (
    Column("cluster", "Cluster"),
    Column("host", "Node"),
    Column("state", "State"),
    Column("seen", "Last seen"),
    Column("lag", "Lag", "seconds"),
    Column("pending", "Waiting", ""),
    Column("dropped", "Dropped", ""),
    Column("documents", "Documents", ""),
    Column("version", "Version"),
)
ALERTS = (
    Column("severity", "Severity"),
    Column("cluster", "Cluster"),
    Column("rule", "Rule"),
    Column("since", "Since"),
    Column("text", "What", below=True),
)
NOTICES = (
    Column("cluster", "Cluster"),
    Column("host", "Node"),
    Column("about", "About"),
    Column("times", "Times", ""),
    Column("last", "Last"),
    Column("text", "What", below=True),
)

Told = Mapping[str, Any]


def trouble(told: Told) -> Iterator[str]:
    """
    What is wrong, for people and for the exit code.
    """
    workers = told["workers"]
    for worker in workers:
        if "error" in worker:
            yield f"worker {worker['address']} {worker['error']}"
            continue
        place = f"{worker['address']}: " if len(workers) > 1 else ""
        if worker["delivery"]["problem"]:
            yield f"{place}delivery: {worker['delivery']['problem']}"
        if not worker["store"].get("ok"):
            for text in worker["store"].get("problems", ["not well"]):
                yield f"{place}store: {text}"
    for host in told["shippers"]:
        if host["dropped"]:
            yield f"{host['host']}: {counted(host['dropped'], 'document')} dropped by bound"
    for text in shipper_trouble(told["shipper"]):
        yield f"shipper of this machine: {text}"
    if told["messages"]:
        count, way_out = told["messages"], "`leadline alerts list --messages` says why"
        yield f"{count} alert messages cannot be handed over; {way_out}"


def shipper_trouble(shipper: dict[str, Any] | None) -> list[str]:
    """
    What is wrong with the shipper whose status lies here.
    """
    if shipper is None:
        return []
    found = [str(shipper["problem"])] if shipper.get("problem") else []
    silent = time.time() - parse_time(shipper["time"]).timestamp()
    if silent > 3 * max(shipper["interval"], 60):
        found.append(f"no look since {shipper['time']}; is `leadline ship` running?")
    sink = shipper["sink"]
    if sink["state"] in ("waiting", "paused"):
        found.append(f"{sink['state']} since {sink['since']}: {sink['reason']}")
    ahead = shipper.get("clock_ahead") or 0.0
    if abs(ahead) > NOTABLE:
        word = "ahead of" if ahead > 0 else "behind"
        found.append(f"the clock is {abs(ahead):.0f} s {word} the worker's; set it")
    return found


def show(told: Told, problems: list[str]) -> None:
    for worker in told["workers"]:
        if "error" not in worker:
            show_worker(worker)
    if told["shipper"]:
        first, *others = shipper_lines(told["shipper"])
        click.echo(
            prose([f"shipper  this machine: {first}", *(f"         {line}" for line in others)])
        )
    click.echo(f"alerts   {alerts_line(told)}")
    width = shutil.get_terminal_size((120, 24)).columns
    clusters = click.get_current_context().obj.clusters
    for name, columns in (("alerts", ALERTS), ("notices", NOTICES)):
        if rows := told[name]:
            kept = tuple({c.name: row[c.name] for c in columns} for row in rows[:SHOWN])
            title = "Alerts that fire" if name == "alerts" else "What shippers complain of"
            more = f" ({SHOWN} of {len(rows)})" if len(rows) > SHOWN else ""
            labels, clocks = by_own_clocks(kept, ("since", "last"), clusters)
            table = render(Table(columns, kept, labels), "table", width=width)
            click.echo(f"\n{title}{more}. {clocks}\n{table}")
    if told["shippers"]:
        click.echo("\n" + render(hosts_table(told["shippers"]), "table", width=width))
    for problem in problems:
        click.echo(prose(["", f"problem: {problem}"]), err=True)


def show_worker(worker: Told) -> None:
    counts = [f"{name.replace('_', ' ')} {n:,}" for name, n in worker["counters"].items()]
    up = duration(worker["uptime_seconds"])
    click.echo(f"worker   {worker['address']}, version {worker['version']}, up {up}")
    click.echo(prose([f"         {', '.join(counts)}"]))
    store = worker["store"]
    held = sum(one["documents"] for one in store.get("datasets", {}).values())
    click.echo(f"store    {store.get('store', '?')}, {counted(held, 'document')}")


def alerts_line(told: Told) -> str:
    if told["unknown"]:
        return f"not known: {told['unknown']}"
    count = len(told["alerts"])
    return f"{count} firing" if count else "none fires"


def shipper_lines(shipper: dict[str, Any]) -> Iterator[str]:
    """
    The counters, which always add up, and what it is doing.
    """
    counted = [f"{name.replace('_', ' ')} {n:,}" for name, n in shipper["totals"].items()]
    waiting, sink = shipper["waiting"], shipper["sink"]
    yield ", ".join([*counted, f"pending {waiting['pending']:,}"])
    yield (
        f"{sink['state']} to {sink['target']}, lag {waiting['lag_seconds']:.0f} s, last look"
        f" {shipper['time']} took {shipper['tick_seconds']:.2f} s"
    )


def shippers(workers: list[dict[str, Any]], stored: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """
    One row for each: what a worker heard last, else what the store has of it.
    """
    found = {
        (row["cluster"], row["host"]): {
            **{name: row[name] for name in ("cluster", "host", "lag", "pending", "version")},
            "last_seen": row["seen"],
            "dropped": row["dropped"],
            "documents": None,
        }
        for row in stored
    }
    heard = [host for worker in workers for host in worker.get("hosts", [])]
    for host in sorted(heard, key=lambda host: str(host["last_seen"])):
        found[host["cluster"], host["host"]] = {
            "cluster": host["cluster"],
            "host": host["host"],
            "last_seen": host["last_seen"],
            "lag": host["shipper_lag_seconds"],
            "pending": host["pending"],
            "dropped": host["dropped_by_bound"],
            "documents": host["documents"],
            "version": host["agent_version"],
        }
    return [found[key] for key in sorted(found, key=str)]


def hosts_table(hosts: list[dict[str, Any]]) -> Table:
    rows, now = [], time.time()
    for host in hosts:
        age = now - parse_time(host["last_seen"]).timestamp() if host["last_seen"] else now
        state = "silent" if age > SILENT_SECONDS else "sending"
        seen = f"{duration(age)} ago" if host["last_seen"] else None
        rows.append({**host, "state": state, "seen": seen})
    return Table(HOSTS, tuple({c.name: row[c.name] for c in HOSTS} for row in rows))
