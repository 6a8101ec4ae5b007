"""`leadline status`: ask the daemons how they are, over HTTP."""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import click

from leadline.alerts.ledger import Ledger
from leadline.commands.context import Context, with_context
from leadline.commands.daemons import shippers, show, trouble
from leadline.commands.remote import pages_api
from leadline.errors import LeadlineError
from leadline.settings.secret import secret
from leadline.store.scope import EVERYTHING, Scope
from shipper.senders.http import tls_context
from shipper.senders.settings import ShipSettings, TlsSettings
from shipper.status import read_status


@click.command()
@click.option(
    "--worker", "named", multiple=True, metavar="URL", help="A worker to ask, or several."
)
@click.option(
    "--pages", metavar="URL", help="The pages to ask for alerts.  [default: client.pages]"
)
@click.option("--token-file", type=click.Path(path_type=Path), help="A token the worker knows.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table")
@with_context
def status(
    context: Context,
    named: tuple[str, ...],
    pages: str | None,
    token_file: Path | None,
    form: str,
) -> None:
    """
    How the daemons are: workers, every shipper, the store, alerts, what collectors complain of.

    Workers are the one that this machine's shipper sends to, or those of ship.endpoints; alerts
    and complaints come from the pages, or from the store where it is at hand. Ends with 1 when
    something is wrong: a worker that does not answer, documents dropped by a bound, a store at
    fault, a shipper here that makes no looks or cannot send, alert messages that nobody takes.

    \b
    Examples:
        leadline status
        leadline status --worker https://worker:8460 --token-file /etc/leadline/token
        leadline status --pages https://leadline.uni.no --format json
    """
    ship = context.settings.get("ship", ShipSettings)
    token = find_token(context, ship, token_file)
    own = read_status(context.paths.state / "shipper")
    addresses = [address.rstrip("/") for address in named or sends_to(own) or ship.endpoints]
    workers = [{"address": address, **ask(address, token, ship.ssl)} for address in addresses]
    told = {**site(context, pages), "workers": workers, "messages": stuck(context)}
    told["shipper"] = own
    told["shippers"] = shippers(workers, told["shippers"])
    problems = list(trouble(told))
    if form == "json":
        click.echo(json.dumps({**told, "problems": problems}, indent=2))
    else:
        show(told, problems)
    sys.exit(1 if problems else 0)


def sends_to(shipper: dict[str, Any] | None) -> tuple[str, ...]:
    """
    Where the shipper of this machine delivers, which `leadline up` may have told it.
    """
    target = str(((shipper or {}).get("sink") or {}).get("target", ""))
    return (target,) if target.startswith(("http://", "https://")) else ()


def site(context: Context, pages: str | None) -> dict[str, Any]:
    """
    Alerts, complaints and shippers as the pages tell them, or the store that is at hand.
    """
    try:
        found = pages_api(context, pages).get("status")
        return {**{n: found[n] for n in ("alerts", "notices", "shippers")}, "unknown": ""}
    except (LeadlineError, KeyError) as error:
        why = str(error)
    at_hand = context.store_address.removeprefix("lake:")
    if pages is None and (context.store_address.startswith("opensearch") or Path(at_hand).is_dir()):
        from leadline.reports.condition import condition

        try:
            totals = partial(context.store.ask, scope=Scope(totals_only=True))
            found = asdict(condition(context.store, EVERYTHING, totals, datetime.now(UTC)))
            return {**found, "unknown": ""}
        except LeadlineError as error:
            why = str(error)
    return {"alerts": [], "notices": [], "shippers": [], "unknown": why}


def stuck(context: Context) -> int:
    """
    Messages of the alerts of this machine that were refused, or tried in vain.
    """
    folder = context.paths.state / "alerts"
    if not (folder / "alerts.db").exists():
        return 0
    ledger = Ledger(folder)
    text = "SELECT count(*) FROM outbox WHERE state = 'refused' OR (state = 'waiting' AND attempts)"
    try:
        return int(ledger.rows(text)[0][0])
    finally:
        ledger.close()


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


def ask(address: str, token: str, tls: TlsSettings) -> dict[str, Any]:
    """
    What the worker says of itself, or why it says nothing. It is trusted as the shipper trusts it.
    """
    headers = {"Authorization": f"Bearer {token}"}
    if not address.startswith(("http://", "https://")):
        raise LeadlineError(f"{address}: no address; write http://HOST:8460")
    request = urllib.request.Request(f"{address}/api/v1/status", headers=headers)  # noqa: S310
    trust = tls_context(tls) if address.startswith("https://") else None
    try:
        with urllib.request.urlopen(request, timeout=10, context=trust) as answer:  # noqa: S310
            found = json.load(answer)
    except urllib.error.HTTPError as error:
        way_out = "; --token-file FILE names a token it knows" if error.code == 401 else ""
        return {"error": f"answers {error.code} {error.reason}{way_out}"}
    except (urllib.error.URLError, OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        return {"error": f"does not answer: {reason}; `leadline up` or `leadline enrich` starts it"}
    return found if isinstance(found, dict) else {"error": "answers, but not as a leadline worker"}
