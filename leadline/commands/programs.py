"""`leadline programs`: which rule names what, what no rule names, and rules applied anew."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from enrich.reapply import DAY, Move, Place, Reapply
from enrich.rules import read_rules
from enrich.rules.files import SHIPPED
from enrich.rules.lint import lint as find_problems
from enrich.rules.lint import read_examples
from enrich.rules.match import Hit, Rules
from enrich.rules.unwrap import levels
from enrich.settings import EnrichSettings
from enrich.step import Context as StepContext
from leadline.commands.context import Context, with_context
from leadline.commands.showing import waiting
from leadline.commands.usage import named_periods, zone_of
from leadline.errors import SettingsError
from leadline.formats.counted import counted
from leadline.query import Filter, parse_period, question
from leadline.render import number, safe_text
from leadline.settings.typed import parse_duration
from leadline.store.plan import Aggregate, Condition, Function, Group, Op, Plan, Row
from leadline.store.scope import EVERYTHING

REASONS = {
    "args": "its command line",
    "name": "its name",
    "path": "its path",
}


@click.group()
def programs() -> None:
    """
    Rules that name programs: test them, check them, find what they miss, apply them anew.

    \b
    Examples:
        leadline programs test 'srun gmx_mpi mdrun -s topol.tpr'
        leadline programs unmatched
    """


def site_rules(context: Context) -> Rules:
    return read_rules(context.settings.get("enrich", EnrichSettings).rules)


@programs.command()
@click.argument("command")
@click.option("--name", help="The name the kernel gives it, when it is another.")
@click.option("--executable", metavar="PATH", help="The file that runs.")
@with_context
def test(context: Context, command: str, name: str | None, executable: str | None) -> None:
    """
    Say which program COMMAND is, by which rule, and why.

    \b
    Example:
        leadline programs test 'python -m torch.distributed.run train.py'
    """
    rules = site_rules(context)
    hit = rules.find(name, executable, command)
    match = rules.match(name, executable, command)
    asked = ", then ".join(repr(level.name) for level in levels(name, executable, command))
    click.echo(f"program  {match.program or 'unmatched'}")
    for label, value in (("version", match.version), ("path", match.path)):
        if value:
            click.echo(f"{label:8} {value}")
    if match.tags:
        click.echo(f"tags     {' '.join(match.tags)}")
    click.echo(f"shape    {safe_text(str(match.shape))}")
    click.echo(f"asked    {asked}")
    click.echo(f"rule     {_why(hit)}")


def _why(hit: Hit | None) -> str:
    if hit is None:
        return "none; add one to a file named in enrich.rules of the settings"
    rule = hit.rule
    kind = "is" if rule.exact and hit.target != "args" else "matches"
    reason = f"{REASONS[hit.target]} {kind} {rule.pattern}"
    return f"{rule.source}: {hit.level.name!r}, for {reason}"


@programs.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option("--examples", type=click.Path(path_type=Path), help="Commands with their programs.")
@with_context
def lint(context: Context, files: tuple[Path, ...], examples: Path | None) -> None:
    """
    Report conflicts in rule FILES, taken as layers in this order; without one those in force.

    \b
    Example:
        leadline programs lint site.csv --examples site-examples.tsv
    """
    chosen = files or (*context.settings.get("enrich", EnrichSettings).rules, SHIPPED)
    problems = find_problems(chosen, read_examples(examples) if examples else ())
    for problem in problems:
        click.echo(str(problem))
    count = sum(len(layer) for layer in read_rules(chosen).layers[:-1])
    click.echo(f"{counted(count, 'rule')}, {counted(len(problems), 'problem')}")
    if problems:
        raise click.exceptions.Exit(1)


@programs.command()
@click.option("--period", "-p", default="last 30 days", show_default=True, metavar="PERIOD")
@click.option("--top", default=30, show_default=True, type=click.IntRange(1), help="How many.")
@click.option(
    "--by",
    type=click.Choice(["shape", "name"]),
    default="shape",
    show_default=True,
    help="A row per shape of the command, or per name a rule would go by.",
)
@with_context
def unmatched(context: Context, period: str, top: int, by: str) -> None:
    """
    Commands that no rule names, by core hours, grouped by their shape.

    \b
    Example:
        leadline programs unmatched --period 'last 7 days' --top 10
    """
    named = (Filter("cluster", (context.cluster,)),) if context.cluster else ()
    zone = zone_of(context, question(where=named))
    span = parse_period(period, datetime.now(UTC), zone, named_periods(context))
    where = (Condition("cluster", Op.IN, (context.cluster,)),) if context.cluster else ()
    for dataset in ("process", "usage"):
        total = _hours(context, dataset, where, span.start, span.end, by=())
        if total[0]["samples"]:
            break
    else:
        click.echo(f"No samples ({span.text}). `leadline status` says why.")
        return
    missing = (*where, Condition("program.name", Op.MISSING))
    groups = (Group("command.shape"), Group("process.name"))
    rows = _hours(context, dataset, missing, span.start, span.end, by=groups)
    if by == "name":
        rows = _by_name(rows)
    rows.sort(key=lambda row: (-_number(row["seconds"]), str(row["command.shape"])))
    every = _number(total[0]["seconds"]) / 3600
    none = sum(_number(row["seconds"]) for row in rows) / 3600
    share = 100 * none / every if every else 0.0
    told = f"{number(none, 'hours')} of {number(every, 'hours')} core hours ({share:.1f} %)"
    click.echo(f"{told} have no program.")
    if rows:
        click.echo(f"{'core hours':>12} {'samples':>9} {'users':>6}  command")
    for row in rows[:top]:
        click.echo(
            f"{number(_number(row['seconds']) / 3600, 'hours'):>12} {_number(row['samples']):9,.0f}"
            f" {_number(row['users']):6,.0f}"
            f"  {safe_text(str(row['command.shape'] or row['process.name']))}"
        )
    if len(rows) > top:
        rest = sum(_number(row["seconds"]) for row in rows[top:]) / 3600
        click.echo(f"{number(rest, 'hours'):>12} {'':9} {'':6}  others ({len(rows) - top})")


def _hours(
    context: Context,
    dataset: str,
    where: tuple[Condition, ...],
    start: datetime | None,
    end: datetime | None,
    *,
    by: tuple[Group, ...],
) -> list[Row]:
    aggregates = (
        Aggregate("seconds", Function.SUM, "core_seconds"),
        Aggregate("samples", Function.COUNT),
        Aggregate("users", Function.DISTINCT, "user.name"),
    )
    with waiting("adding up"):
        return context.store.ask(Plan(dataset, aggregates, by, where, start, end), EVERYTHING)


def _by_name(rows: list[Row]) -> list[Row]:
    """
    Rows whose commands a single rule would name, as one; its users are those of the widest.
    """
    merged: dict[str, Row] = {}
    for row in rows:
        shape, kernel = row["command.shape"], row["process.name"]
        asked = levels(str(kernel or ""), None, str(shape or ""))
        name = asked[0].name if asked else ""
        one = merged.setdefault(name, {"command.shape": name, "process.name": kernel})
        for key in ("seconds", "samples"):
            one[key] = _number(one.get(key)) + _number(row[key])
        one["users"] = max(_number(one.get("users")), _number(row["users"]))
    return list(merged.values())


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


@programs.command()
@click.option("--since", required=True, metavar="DAY|AGE", help="2026-03-01, or 30d.")
@click.option("--dry-run", is_flag=True, help="Say what would move; write nothing.")
@with_context
def apply(context: Context, since: str, dry_run: bool) -> None:
    """
    Apply the rules of today to what is stored, and say how many hours moved from what to what.

    Stopped half-way, the same command goes on where it was. Documents that keep their program
    are not touched.

    \b
    Example:
        leadline programs apply --since 90d --dry-run
    """
    now = datetime.now(UTC)
    start = since_day(since)
    rules = site_rules(context)
    place = Place(context.paths.state / "programs-apply.json", rules.version)
    work = Reapply(context.store, StepContext(rules=rules), write=not dry_run)
    documents: Counter[str] = Counter()
    moves: dict[Move, float] = {}
    with waiting("applying"):
        for _, moved in work.days(start, now + DAY, place):
            documents.update(moved.documents)
            for move, seconds in moved.core_seconds.items():
                moves[move] = moves.get(move, 0.0) + seconds
    place.forget()
    verb = "would change" if dry_run else "changed"
    total = sum(documents.values())
    click.echo(f"rules {rules.version}: {counted(total, 'document')} {verb} since {start:%Y-%m-%d}")
    if moves:
        click.echo(f"{'core hours':>12}  from → to")
    for (before, after), seconds in sorted(moves.items(), key=lambda item: -item[1]):
        names = f"{before or 'unmatched'} → {after or 'unmatched'}"
        click.echo(f"{number(seconds / 3600, 'hours'):>12}  {safe_text(names)}")


def since_day(text: str) -> datetime:
    """
    The midnight (UTC) a run over stored data begins at: a day, or so long ago.
    """
    try:
        start = datetime.fromisoformat(text)
        return start if start.tzinfo else start.replace(tzinfo=UTC)
    except ValueError:
        pass
    try:
        start = datetime.now(UTC) - timedelta(seconds=float(parse_duration(text)))
    except ValueError:
        raise SettingsError(f"--since {text!r} is no day; write 2026-03-01 or 30d") from None
    return start.replace(hour=0, minute=0, second=0, microsecond=0)
