"""`leadline usage`: ask any measure by any dimension over any period."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import click
import orjson

from leadline.commands.context import Context, with_context
from leadline.commands.showing import BARE, PictureFile, bare, prose, waiting, write_picture
from leadline.errors import QuestionError
from leadline.query import (
    DIMENSIONS,
    MEASURES,
    Answer,
    Filter,
    Question,
    ask,
    measure,
    parse_filters,
    parse_question,
    question,
)
from leadline.query.dimensions import dimension
from leadline.query.rejected import rejected_in
from leadline.query.zones import own_zones, question_zone
from leadline.render import render
from leadline.render.table import FORMATS
from leadline.reports.answers import as_json, as_table, footer, headline, sentence, why_empty
from leadline.reports.granted import with_grants
from leadline.reports.grants import Grant, read_grants
from leadline.reports.picture import picture
from leadline.reports.settings import AllocationSettings
from leadline.settings.zones import cluster_zone
from leadline.store.scope import EVERYTHING

SHOWN = 20  # rows on a terminal when nobody says how many


@click.command()
@click.argument("text", metavar="[QUESTION]", nargs=-1)
@click.option("--measure", "-m", "measures", multiple=True, metavar="NAME", help="What to tell.")
@click.option("--by", "-b", "by", multiple=True, metavar="NAME", help="Dimension or time bucket.")
@click.option("--where", "-w", "where", multiple=True, metavar="NAME=VALUE", help="Only these.")
@click.option("--period", "-p", metavar="PERIOD", help="last-30-days, 2026-10, all …")
@click.option("--top", type=click.IntRange(min=1), help="Show the first N, fold the others.")
@click.option("--order", metavar="NAME", help="Rank by this measure or dimension.")
@click.option("--ascending", is_flag=True, help="Least first, never-used nodes and queues too.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
@click.option("--chart", type=PictureFile(), help="Draw the answer as .svg or .png, too.")
@click.option("--list", "listed", is_flag=True, help="List measures and dimensions.")
@click.option("--explain", is_flag=True, help="Say which data answered.")
@click.option("--zone", metavar="ZONE", help="Count days in this time zone.")
@with_context
def usage(
    context: Context,
    text: tuple[str, ...],
    measures: tuple[str, ...],
    by: tuple[str, ...],
    where: tuple[str, ...],
    period: str | None,
    top: int | None,
    order: str | None,
    ascending: bool,
    form: str,
    chart: Path | None,
    listed: bool,
    explain: bool,
    zone: str | None,
) -> None:
    """
    Ask: any measure by any dimension over any period, or one QUESTION in words.

    \b
    Examples:
        leadline usage --by program --period last-30-days
        leadline usage -m core_hours_used -m users --by group --by month --period 2026
        leadline usage 'core_hours_used by user where cluster=fox during last 30 days top 10'
        leadline usage --by program --period 2026 --chart programs.svg
    """
    if listed:
        click.echo(known_names())
        return
    asked = read_question(
        text, measures=measures, by=by, where=where, period=period, top=top, order=order,
        ascending=ascending, cluster=context.cluster,
    )  # fmt: skip
    in_order = len(asked.by) == 1 and dimension(asked.by[0]).ordered  # few, and told in full
    if form == "table" and asked.top is None and asked.bucket is None and not in_order:
        asked = replace(asked, top=SHOWN)
    zoned, named = zone_of(context, asked, zone), named_periods(context)
    own = own_zones(asked, context.clusters) if zone is None else None
    rejected = rejected_in(context.paths.dead_letters)

    def told(what: Question) -> Answer:
        now = datetime.now(UTC)
        return ask(
            what,
            context.store,
            EVERYTHING,
            now,
            zone=zoned,
            own=own,
            named=named,
            rejected=rejected,
        )

    with waiting("asking"):
        answer = told(asked)
        drawn = drawing(context, answer, told) if chart is not None else None
    if form not in BARE:
        click.echo(written(answer, form, explain=explain))
    else:
        bare(as_table(answer), form)
        for line in footer(answer):
            click.echo(line, err=True)
    if chart is not None:
        write_picture(drawn, chart)


def drawing(
    context: Context, answer: Answer, ask_again: Callable[[Question], Answer]
) -> dict[str, object] | None:
    """
    The picture of an answer, what was granted drawn into it; None where there is nothing to draw.
    """
    known, first = answer.question, measure(answer.question.measures[0])
    drawn = picture(known, answer, first, ask_again) if answer.rows else None
    if drawn is None:
        return None
    return with_grants(drawn, known, answer, first, grants_of(context), list(context.clusters))


def read_question(
    text: tuple[str, ...],
    *,
    measures: tuple[str, ...],
    by: tuple[str, ...],
    where: tuple[str, ...],
    period: str | None,
    top: int | None,
    order: str | None,
    ascending: bool,
    cluster: str | None,
) -> Question:
    """
    The question in words, with what the options add; or the options alone.
    """
    filters = tuple(known for part in where for known in parse_filters(part))
    if cluster is not None:
        filters = (*filters, Filter("cluster", (cluster,)))
    names = tuple(name for part in measures for name in split(part))
    keys = tuple(name for part in by for name in split(part))
    if not text:
        return question(
            measures=names,
            by=keys,
            where=filters,
            period=period or "",
            top=top,
            order=order or "",
            ascending=ascending,
        )
    said = parse_question(" ".join(text))
    return question(
        measures=names or said.measures,
        by=keys or said.keys,
        where=(*said.where, *filters),
        period=period or said.period,
        top=top or said.top,
        order=order or said.order,
        ascending=ascending or said.ascending,
    )


def split(text: str) -> tuple[str, ...]:
    return tuple(name for name in text.replace(",", " ").split() if name)


def zone_of(context: Context, asked: Question, named: str | None = None) -> ZoneInfo:
    """
    The zone named, else that of the clusters asked about.
    """
    if named is not None:
        try:
            return ZoneInfo(named)
        except (KeyError, ValueError, OSError):
            raise QuestionError(f"zone {named!r} is no IANA time zone; write Europe/Oslo") from None
    return question_zone(asked, context.clusters)


def named_periods(context: Context) -> dict[str, str]:
    """
    The site's own periods: `periods: {"2026.1": 2026-04-01..2026-09-30}` in the settings.
    """
    section = context.settings.sections["periods"]
    assert isinstance(section, dict)
    return section


def grants_of(context: Context) -> tuple[Grant, ...]:
    """
    What the settings, and the files they name, grant to whom.
    """
    settings = context.settings.get("allocations", AllocationSettings)
    clusters = context.clusters
    return read_grants(
        settings,
        datetime.now(UTC),
        lambda name: cluster_zone(clusters, name),
        named_periods(context),
        context.paths.demo,
    )


def written(answer: Answer, form: str, *, explain: bool = False, width: int | None = None) -> str:
    if form == "json":
        return orjson.dumps(as_json(answer), option=orjson.OPT_INDENT_2).decode()
    if form not in ("table", "markdown"):
        return render(as_table(answer), form)
    width = width or shutil.get_terminal_size((100, 24)).columns
    lines = [prose([headline(answer), sentence(answer)])]
    if answer.question.keys and not answer.rows:
        lines.append(prose([why_empty(answer)]))
    elif answer.question.keys or len(answer.question.measures) > 1:
        lines.append(render(as_table(answer), form, width=width))
    sure = footer(answer)
    if explain:
        sure.append(f"Answered from {', '.join(answer.datasets)}: {answer.question}")
    return "\n\n".join([*lines, prose(sure)])


def known_names() -> str:
    measures = [f"  {m.name:24} {m.sentence}" for m in MEASURES]
    dimensions = [f"  {d.name:24} {d.sentence}" for d in DIMENSIONS]
    return "\n".join(["Measures", *measures, "", "Dimensions", *dimensions])
