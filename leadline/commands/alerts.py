"""`leadline alerts`: what fires, who hears of it, and by which way."""

from __future__ import annotations

import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import click
import orjson

from leadline.alerts.holder import MINE, had_them
from leadline.alerts.ledger import Ledger
from leadline.alerts.notifiers import Message, build_notifier
from leadline.alerts.outbox import address_of
from leadline.alerts.run import Alerts
from leadline.alerts.schedule import Schedule
from leadline.alerts.settings import AlertSettings, NotifierSettings
from leadline.alerts.watch import look
from leadline.alerts.wishes import FOREVER, add, current, end, share
from leadline.commands.clocks import by_own_clocks
from leadline.commands.context import Context, with_context
from leadline.commands.usage import grants_of
from leadline.errors import LeadlineError, SettingsError
from leadline.formats.times import from_epoch
from leadline.render import Column, Table, render
from leadline.reports.condition import fire
from leadline.reports.settings import AllocationSettings
from leadline.settings.typed import parse_duration
from leadline.settings.zones import cluster_zone
from leadline.store.scope import EVERYTHING

OPEN = (
    Column("severity", "Severity"),
    Column("cluster", "Cluster"),
    Column("rule", "Rule"),
    Column("since", "Since"),
    Column("text", "What", below=True),
)
MESSAGES = (
    Column("made", "Made"),
    Column("recipient", "To"),
    Column("state", "State"),
    Column("attempts", "Tries", ""),
    Column("subject", "Subject", below=True),
    Column("error", "Trouble", below=True),
)
SILENCES = (
    Column("id", "Id"),
    Column("rule", "Rule"),
    Column("cluster", "Cluster"),
    Column("object", "Object"),
    Column("until", "Until"),
    Column("reason", "Why", below=True),
)
RULES = (
    Column("rule", "Rule"),
    Column("severity", "Severity"),
    Column("watch", "Watches"),
    Column("condition", "Condition", below=True),
)


def alerts_of(context: Context) -> Alerts:
    people: Any = context.settings.sections["people"]
    reports: Any = context.settings.sections["reports"]
    for name, wanted in reports.items():
        if unknown := [to for to in wanted.to if to not in people]:
            raise SettingsError(f"reports.{name}.to: nobody in `people` is called {unknown[0]}")
    return Alerts(
        context.settings.get("alerts", AlertSettings),
        people,
        context.settings.get("notifiers", NotifierSettings),
        context.paths.state / "alerts",
        Schedule(
            reports,
            cluster_zone(context.clusters, None),
            lambda: grants_of(context),
            context.settings.get("allocations", AllocationSettings),
        ),
    )


@click.group()
def alerts() -> None:
    """
    What fires, who hears of it, and by which way.

    Until `alerts.send` is yes nothing leaves: `list --messages` shows what would have.

    \b
    Example:
        leadline alerts list
    """


@alerts.command("list")
@click.option("--messages", is_flag=True, help="The messages made of them, the latest first.")
@click.option("--rules", is_flag=True, help="The rules in force.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table")
@with_context
def list_(context: Context, messages: bool, rules: bool, form: str) -> None:
    """
    What fires now, whichever machine does the alerts. Ends with 3 when something does, or when a
    message cannot be handed over.

    \b
    Examples:
        leadline alerts list
        leadline alerts list --messages --format json
    """
    site = alerts_of(context)
    rows: list[dict[str, Any]] = []
    columns: tuple[Column, ...] = OPEN
    ledger = Ledger(site.folder)
    if rules:
        columns = RULES
        for name, rule in site.rules().items():
            condition = rule.finding or f"{rule.field} {rule.condition}".strip()
            rows.append({"rule": name, "severity": rule.severity, "watch": rule.watch})
            rows[-1]["condition"] = condition
    elif messages:
        columns = MESSAGES
        text = "SELECT * FROM outbox ORDER BY made DESC, rowid DESC LIMIT 200"
        rows = [{**dict(row), "made": from_epoch(row["made"])} for row in ledger.rows(text)]
    else:
        rows = firing(context, ledger)
    if messages and not had_them(ledger):
        click.echo("Another machine does the alerts now: its messages are listed there.", err=True)
    ledger.close()
    if form == "json":
        click.echo(orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode())
    elif not rows:
        click.echo("No messages yet." if messages else "Nothing fires.")
    else:
        names = [column.name for column in columns]
        shown = tuple({name: row[name] for name in names} for row in rows)
        labels, clocks = by_own_clocks(rows, ("since", "made"), context.clusters)
        width = shutil.get_terminal_size((120, 24)).columns
        click.echo(render(Table(columns, shown, labels), "table", width=width))
        if clocks:
            click.echo(f"\n{clocks}")
    stuck = [row for row in rows if messages and row["state"] in ("refused", "waiting")]
    if stuck or (rows and not messages and not rules):
        click.get_current_context().exit(3)


def firing(context: Context, ledger: Ledger) -> list[dict[str, Any]]:
    """
    By the ledger of the machine that does the alerts, elsewhere by what it tells the store.
    """
    if not (ledger.mark(MINE) and had_them(ledger)):
        try:
            return list(fire(context.store, EVERYTHING, datetime.now(UTC)))
        except (LeadlineError, OSError) as error:
            click.echo(f"{error}; this is what was known here", err=True)
    return [{**one, "since": from_epoch(one["since"])} for one in ledger.open_alerts()]


@alerts.command()
@with_context
def run(context: Context) -> None:
    """
    Look by every rule now and hand over what waits; `leadline chores` does it every minute.

    \b
    Example:
        leadline alerts run
    """
    _, said = alerts_of(context).run(context.store, datetime.now(UTC))
    click.echo(said)


@alerts.command()
@click.argument("name")
@with_context
def test(context: Context, name: str) -> None:
    """
    NAME is a person of the settings: she gets a test message now. Or a rule: what it sees now.

    \b
    Examples:
        leadline alerts test admins
        leadline alerts test disk-full
    """
    site = alerts_of(context)
    if name in site.people:
        person = site.people[name]
        text = "A test by `leadline alerts test`. Whoever reads this will hear of alerts."
        message = Message(uuid.uuid4().hex, "leadline: a test message", text)
        build_notifier(person.by, site.notifiers).send(message, address_of(person))
        click.echo(f"{person.by} took a message for {name}")
        return
    rules = site.rules()
    if name not in rules:
        raise SettingsError(
            f"{name!r} is neither a person ({', '.join(site.people) or 'none yet'})"
            f" nor a rule ({', '.join(rules)})"
        )
    seen = look(rules[name], context.store, datetime.now(UTC)).sightings
    fires = [one for one in seen if one.on]
    for one in fires:
        said = rules[name].text.format(
            object=one.object,
            value=one.value or 0.0,
            words=one.words,
            user=one.user or "?",
            cluster=one.cluster,
        )
        click.echo(f"{one.cluster}  {said}")
    click.echo(f"{len(fires)} would fire, {len(seen) - len(fires)} are well")


@alerts.command()
@click.argument("rule", required=False)
@click.argument("object_", metavar="[OBJECT]", default="*")
@click.option("--for", "span", default="2h", show_default=True, metavar="TIME", help="How long.")
@click.option("--on", "cluster", default="*", metavar="CLUSTER", help="On this cluster only.")
@click.option("--reason", default="", help="Why, for those who find it.")
@click.option("--end", "ended", metavar="ID", help="End this one now.")
@with_context
def silence(
    context: Context,
    rule: str | None,
    object_: str,
    span: str,
    cluster: str,
    reason: str,
    ended: str | None,
) -> None:
    """
    Say nothing of RULE (and OBJECT) for a while; both may hold * and ?. Without RULE: what is
    silenced now.

    What still fires afterwards is said then. It holds on whichever machine does the alerts.

    \b
    Examples:
        leadline alerts silence node-silent 'c1-*' --for 4h --reason 'rack 1 is moved'
        leadline alerts silence '*' --for 30m
        leadline alerts silence
        leadline alerts silence --end 5f0c
    """
    now = time.time()
    with wishing(context) as ledger:
        if ended is not None:
            count = end(ledger, ended, now)
            click.echo(f"{count} silences ended" if count else f"no silence begins with {ended!r}")
        elif rule is None:
            show_silences(ledger, now)
        else:
            until = now + seconds_of(span)
            number = add(
                ledger,
                "silence",
                until=until,
                now=now,
                rule=rule,
                cluster=cluster,
                object=object_,
                reason=reason,
            )
            click.echo(f"{number}  {rule} {object_}: silent until {from_epoch(until)}")


def seconds_of(span: str) -> float:
    try:
        seconds = parse_duration(span)
    except ValueError as error:
        raise SettingsError(f"--for: {error}") from None
    if seconds <= 0:
        raise SettingsError("--for: a silence of no time; --end ID ends one")
    return seconds


def show_silences(ledger: Ledger, now: float) -> None:
    rows = [
        {**one, "until": from_epoch(one["until"]), "made": from_epoch(one["made"])}
        for one in current(ledger, "silence", now)
    ]
    kept = tuple({column.name: row[column.name] for column in SILENCES} for row in rows)
    click.echo(render(Table(SILENCES, kept), "table") if rows else "Nothing is silenced.")


@contextmanager
def wishing(context: Context) -> Iterator[Ledger]:
    """
    The ledger with what other machines were told, and the store with what is told here.
    """
    ledger = Ledger(alerts_of(context).folder)
    try:
        passed_on(context, ledger)
        yield ledger
        if not passed_on(context, ledger):
            told = "The store does not answer: other machines hear of it when it does."
            click.echo(told, err=True)
    finally:
        ledger.close()


def passed_on(context: Context, ledger: Ledger) -> bool:
    try:
        share(ledger, context.store, datetime.now(UTC))
    except (LeadlineError, OSError):
        return False
    return True


@alerts.command("opt-out")
@click.argument("user", required=False)
@click.option("--undo", is_flag=True, help="Write to this user again.")
@with_context
def opt_out(context: Context, user: str | None, undo: bool) -> None:
    """
    Never write to USER, whatever the rules say. Without USER: who is not written to.

    \b
    Examples:
        leadline alerts opt-out alice
        leadline alerts opt-out
    """
    now = time.time()
    with wishing(context) as ledger:
        out = current(ledger, "opt-out", now)
        if user is None:
            names = sorted({str(one["object"]) for one in out})
            click.echo("\n".join(names) if names else "Everybody is written to.")
            return
        mine = [one for one in out if one["object"] == user]
        if undo:
            for one in mine:
                end(ledger, one["id"], now)
        elif not mine:
            add(ledger, "opt-out", until=FOREVER, now=now, object=user)
        click.echo(f"{user}: {'is written to again' if undo else 'is not written to any more'}")


@alerts.command()
@with_context
def retry(context: Context) -> None:
    """
    Try messages that were refused, or wait, at the next turn: an address was put right.

    \b
    Example:
        leadline alerts retry
    """
    ledger = Ledger(alerts_of(context).folder)
    text = "UPDATE outbox SET state = 'waiting', next = 0 WHERE state IN ('refused', 'waiting')"
    count = ledger.do(text)
    ledger.close()
    click.echo(f"{count} messages are tried at the next turn")
