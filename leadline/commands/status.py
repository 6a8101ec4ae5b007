"""`leadline status`: ask the daemons how they are, over HTTP."""

from __future__ import annotations

import json
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from leadline.commands.context import Context, secret, with_context
from leadline.errors import LeadlineError
from leadline.formats.times import parse_time
from leadline.render.table import Column, Table, render
from shipper.senders.clocks import NOTABLE
from shipper.senders.settings import ShipSettings
from shipper.status import read_status

SILENT_SECONDS = 300.0

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


@click.command()
@click.option("--worker", metavar="URL", help="The worker to ask.  [default: ship.endpoints]")
@click.option("--token-file", type=click.Path(path_type=Path), help="A token the worker knows.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table")
@with_context
def status(context: Context, worker: str | None, token_file: Path | None, form: str) -> None:
    """
    How the daemons are: the worker, every shipper, the store, this machine's own shipper.

    Ends with 1 when something is wrong: a worker that does not answer, documents dropped by a
    bound, a store at fault, a shipper here that makes no looks or cannot send.

    \b
    Examples:
        leadline status
        leadline status --worker https://worker:8460 --token-file /etc/leadline/token
    """
    ship = context.settings.get("ship", ShipSettings)
    address = (worker or ship.endpoints[0]).rstrip("/")
    token = find_token(context, ship, token_file)
    told: dict[str, Any] = {"worker": ask(address, token), "address": address}
    told["shipper"] = read_status(context.paths.state / "shipper")
    problems = trouble(told)
    if form == "json":
        click.echo(json.dumps({**told, "problems": problems}, indent=2))
    else:
        show(told, problems)
    sys.exit(1 if problems else 0)


def find_token(context: Context, ship: ShipSettings, named: Path | None) -> str:
    """
    The token named, else the shipper's, else the one `leadline up` made for this machine, else one
    of a cluster: any of them may ask.
    """
    own = context.paths.state / "local.token"
    if named or ship.token_file:
        return secret(named or ship.token_file or own)
    if ship.token or own.exists():
        return ship.token or secret(own)
    clusters = context.clusters
    chosen = [clusters[context.cluster]] if context.cluster in clusters else clusters.values()
    for cluster in chosen:
        if cluster.token:
            return cluster.token
        if cluster.token_file:  # a token a line, perhaps with the host it is for
            return secret(cluster.token_file).split()[0]
    return ""


def ask(address: str, token: str) -> dict[str, Any]:
    """
    What the worker says of itself, or why it says nothing.
    """
    headers = {"Authorization": f"Bearer {token}"}
    if not address.startswith(("http://", "https://")):
        raise LeadlineError(f"{address}: no address; write http://HOST:8460")
    request = urllib.request.Request(f"{address}/api/v1/status", headers=headers)  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 - http(s) only
            found = json.load(answer)
    except urllib.error.HTTPError as error:
        way_out = "; --token-file FILE names a token it knows" if error.code == 401 else ""
        return {"error": f"answers {error.code} {error.reason}{way_out}"}
    except (urllib.error.URLError, OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        return {"error": f"does not answer: {reason}; `leadline up` or `leadline enrich` starts it"}
    return found if isinstance(found, dict) else {"error": "answers, but not as a leadline worker"}


def trouble(told: dict[str, Any]) -> list[str]:
    worker = told["worker"]
    own = [f"shipper of this machine: {text}" for text in shipper_trouble(told["shipper"])]
    if "error" in worker:
        return [f"worker {told['address']} {worker['error']}", *own]
    problems = (
        [f"delivery: {worker['delivery']['problem']}"] if worker["delivery"]["problem"] else []
    )
    if not worker["store"].get("ok"):
        problems += [f"store: {text}" for text in worker["store"].get("problems", ["not well"])]
    for host in worker["hosts"]:
        if host["dropped_by_bound"]:
            problems.append(
                f"{host['host']}: {host['dropped_by_bound']} documents dropped by bound"
            )
    return problems + own


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


def show(told: dict[str, Any], problems: list[str]) -> None:
    worker = told["worker"]
    if "error" not in worker:
        counters = worker["counters"]
        click.echo(
            f"worker   {told['address']}, version {worker['version']}, "
            f"up {worker['uptime_seconds'] / 3600:.1f} h"
        )
        click.echo("         " + ", ".join(f"{name} {count:,}" for name, count in counters.items()))
        store = worker["store"]
        held = sum(one["documents"] for one in store.get("datasets", {}).values())
        click.echo(f"store    {store.get('store', '?')}, {held:,} documents")
    if told["shipper"]:
        click.echo("shipper  this machine: " + "\n         ".join(shipper_lines(told["shipper"])))
    if worker.get("hosts"):
        click.echo("\n" + render(hosts_table(worker["hosts"], time.time()), "table"))
    for problem in problems:
        click.echo(f"\nproblem: {problem}", err=True)


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


def hosts_table(hosts: list[dict[str, Any]], now: float) -> Table:
    rows = []
    for host in hosts:
        age = now - parse_time(host["last_seen"]).timestamp() if host["last_seen"] else now
        rows.append(
            {
                "cluster": host["cluster"],
                "host": host["host"],
                "state": "silent" if age > SILENT_SECONDS else "sending",
                "seen": f"{age:.0f} s ago" if age < 7200 else host["last_seen"],
                "lag": host["shipper_lag_seconds"],
                "pending": host["pending"],
                "dropped": host["dropped_by_bound"],
                "documents": host["documents"],
                "version": host["agent_version"],
            }
        )
    return Table(HOSTS, tuple(rows))
