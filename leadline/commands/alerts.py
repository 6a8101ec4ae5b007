"""`leadline alerts`: what fires, who hears of it, and by which way."""

from __future__ import annotations

import time
import uuid
from datetime import UTC, datetime
from typing import Any

import click
import orjson

from leadline.alerts.ledger import Ledger
from leadline.alerts.notifiers import Message, build_notifier
from leadline.alerts.outbox import address_of
from leadline.alerts.run import Alerts
from leadline.alerts.schedule import Schedule
from leadline.alerts.settings import AlertSettings, NotifierSettings
from leadline.alerts.watch import look
from leadline.commands.context import Context, with_context
from leadline.errors import SettingsError
from leadline.formats.times import from_epoch
from leadline.render import Column, Table, render
from leadline.settings.typed import parse_duration
from leadline.settings.zones import cluster_zone

FOREVER = 4e9
OPEN = (
    Column("severity", "Severity"),
    Column("cluster", "Cluster"),
    Column("rule", "Rule"),
    Column("since", "Since"),
    Column("text", "What"),
)
MESSAGES = (
    Column("made", "Made"),
    Column("recipient", "To"),
    Column("state", "State"),
    Column("attempts", "Tries", ""),
    Column("subject", "Subject"),
    Column("error", "Trouble"),
)
RULES = (
    Column("rule", "Rule"),
    Column("severity", "Severity"),
    Column("watch", "Watches"),
    Column("condition", "Condition"),
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
        Schedule(reports, cluster_zone(context.clusters, None)),
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
    What fires now. Ends with 3 when something does, or when a message cannot be handed over.

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
        rows = [{**one, "since": from_epoch(one["since"])} for one in ledger.open_alerts()]
    ledger.close()
    if form == "json":
        click.echo(orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode())
    elif not rows:
        click.echo("No messages yet." if messages else "Nothing fires.")
    else:
        names = [column.name for column in columns]
        shown = tuple({name: row[name] for name in names} for row in rows)
        click.echo(render(Table(columns, shown), "table"))
    stuck = [row for row in rows if messages and row["state"] in ("refused", "waiting")]
    if stuck or (rows and not messages and not rules):
        click.get_current_context().exit(3)


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
@click.argument("rule")
@click.argument("object_", metavar="[OBJECT]", default="*")
@click.option("--for", "span", default="2h", show_default=True, metavar="TIME", help="How long.")
@click.option("--on", "cluster", default="*", metavar="CLUSTER", help="On this cluster only.")
@click.option("--reason", default="", help="Why, for those who find it.")
@with_context
def silence(
    context: Context, rule: str, object_: str, span: str, cluster: str, reason: str
) -> None:
    """
    Say nothing of RULE (and OBJECT) for a while; both may hold * and ?.

    What still fires afterwards is said then. `--for 0` ends silences of exactly these words.

    \b
    Examples:
        leadline alerts silence node-silent 'c1-*' --for 4h --reason 'rack 1 is moved'
        leadline alerts silence '*' --for 30m
    """
    try:
        seconds = parse_duration(span)
    except ValueError as error:
        raise SettingsError(f"--for: {error}") from None
    ledger, now = Ledger(alerts_of(context).folder), time.time()
    try:
        where = "rule = ? AND cluster = ? AND object = ? AND until > ?"
        with ledger.change():
            ended = ledger.do(f"DELETE FROM silences WHERE {where}", rule, cluster, object_, now)  # noqa: S608 - our own words
            if seconds:
                ledger.silence(rule, cluster, object_, now + seconds, reason)
    finally:
        ledger.close()
    until = f"silent until {from_epoch(now + seconds)}" if seconds else f"{ended} silences ended"
    click.echo(f"{rule} {object_}: {until}")


@alerts.command("opt-out")
@click.argument("user")
@click.option("--undo", is_flag=True, help="Write to this user again.")
@with_context
def opt_out(context: Context, user: str, undo: bool) -> None:
    """
    Never write to USER, whatever the rules say.

    \b
    Example:
        leadline alerts opt-out alice
    """
    ledger = Ledger(alerts_of(context).folder)
    ledger.set_mark(f"opt-out:{user}", 0.0 if undo else FOREVER)
    ledger.close()
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
