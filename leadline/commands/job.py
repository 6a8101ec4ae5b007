"""`leadline job`: what happened with a job."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click
import orjson

from leadline.commands.clocks import by_own_clocks
from leadline.commands.context import Context, with_context
from leadline.commands.showing import PictureFile, one_of, waiting, write_picture
from leadline.errors import QuestionError
from leadline.render import Column, Table, render
from leadline.render.table import FORMATS
from leadline.reports.advice import advise
from leadline.reports.job import JobView, job_view
from leadline.reports.job_compare import side_by_side
from leadline.reports.job_picture import job_picture
from leadline.reports.job_table import as_json, profile_table
from leadline.reports.job_text import summary
from leadline.reports.life import COLUMNS as LIFE
from leadline.reports.life import job_life
from leadline.reports.scale import scale
from leadline.reports.scale_text import scale_summary
from leadline.reports.settings import AdviceSettings
from leadline.settings.zones import cluster_zone
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Condition, Function, Group, Op, Plan
from leadline.store.scope import EVERYTHING


@click.command()
@click.argument("job_ids", metavar="JOB…", nargs=-1, required=True)
@click.option("--run", metavar="RUN", help="One run of an id that was used again.")
@click.option("--scale", "scaled", is_flag=True, help="Will it scale? What limits it, how sure.")
@click.option("--states", is_flag=True, help="Its whole life: every state, why, for how long.")
@click.option("--chart", type=PictureFile(), help="Draw its use over time as .svg or .png, too.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
@with_context
def job(
    context: Context,
    job_ids: tuple[str, ...],
    run: str | None,
    scaled: bool,
    states: bool,
    chart: Path | None,
    form: str,
) -> None:
    """
    What happened with a JOB: asked, used, over time, and advice for the next one.

    CSV, TSV, NDJSON and Markdown are its use over time. Several jobs stand side by side.
    Running jobs are told as far as they are. --scale says from what it used of what it and its
    nodes had whether more would make it faster.

    \b
    Examples:
        leadline job fox/1234567
        leadline --cluster fox job 1234567 --format csv
        leadline job fox/1234567 --scale
        leadline job fox/1234567 --states
        leadline job fox/1234567 --chart profile.png
    """
    one_of(states=states, scale=scaled)
    one_of(states=states, chart=chart)
    one_of(states=states, run=run)
    now = datetime.now(UTC)
    if states:
        click.echo(lives(context, job_ids, now, form))
        return
    limits = context.settings.get("advice", AdviceSettings)
    with waiting("looking"):
        views = [
            job_view(context.store, EVERYTHING, qualified(context, name), now, run=run)
            for name in job_ids
        ]
    if chart is not None:
        if len(views) != 1:
            raise QuestionError("--chart draws one job")
        cluster = views[0].job.partition("/")[0]
        write_picture(job_picture(views[0], cluster_zone(context.clusters, cluster)), chart)
    if scaled:
        click.echo(scales(context.store, views, limits, form))
        return
    if form == "json":
        click.echo(one_or_all([as_json(view, limits) for view in views]))
        return
    width = shutil.get_terminal_size((100, 24)).columns
    if form == "table" and len(views) > 1:
        click.echo(render(side_by_side(views, limits), form, width=width))
        return
    if form != "table":
        click.echo(render(profile_table(views), form))
        return
    zone = cluster_zone(context.clusters, views[0].job.partition("/")[0])
    click.echo(summary(views[0], advise(views[0], limits), width, zone, limits))


def lives(context: Context, names: Sequence[str], now: datetime, form: str) -> str:
    store, jobs = context.store, [qualified(context, name) for name in names]
    with waiting("looking"):
        found = [job_life(store, EVERYTHING, name, now) for name in jobs]
    width = shutil.get_terminal_size((100, 24)).columns
    rows = tuple(row for life in found for row in life)
    labels, clocks = by_own_clocks(rows, ("time",), context.clusters)
    shown = LIFE if len(jobs) == 1 else (Column("job", "Job"), *LIFE)
    text = render(Table(shown, rows, labels), form, width=width)
    return f"{text}\n\n{clocks}" if form == "table" else text


def scales(store: Store, views: Sequence[JobView], limits: AdviceSettings, form: str) -> str:
    if form not in ("table", "json"):
        raise QuestionError("--scale: as table or json; the others are a job's use over time")
    with waiting("comparing"):
        found = [scale(store, EVERYTHING, view, limits) for view in views]
    if form == "json":
        return one_or_all([asdict(known) for known in found])
    width = shutil.get_terminal_size((100, 24)).columns
    return "\n\n\n".join(scale_summary(known, width) for known in found)


def one_or_all(told: Sequence[object]) -> str:
    whole = told[0] if len(told) == 1 else told
    return orjson.dumps(whole, option=orjson.OPT_INDENT_2).decode()


def qualified(context: Context, name: str) -> str:
    """
    fox/1234567; a bare number is of the cluster named, of the only one there is, or of the only
    one that has such a job.
    """
    if not name.strip():
        raise QuestionError("job '': write CLUSTER/NUMBER, as in fox/1234567")
    if "/" in name:
        return name
    cluster = context.cluster or (
        next(iter(context.clusters)) if len(context.clusters) == 1 else ""
    )
    if cluster:
        return f"{cluster}/{name}"
    known = _known(context, name)
    if len(known) != 1:
        where = f"Write {' or '.join(known)}" if known else f"Write fox/{name}, or --cluster fox"
        raise QuestionError(f"job {name}: of which cluster? {where}")
    return known[0]


def _known(context: Context, name: str) -> list[str]:
    """
    Jobs called so, on any cluster that accounts them.
    """
    count = (Aggregate("n", Function.COUNT),)
    rows = context.store.ask(Plan("job", count, (Group("cluster"),)), EVERYTHING)
    clusters = {str(row["cluster"]) for row in rows} | set(context.clusters)
    where = (Condition("job.id", Op.IN, tuple(f"{cluster}/{name}" for cluster in clusters)),)
    found = context.store.ask(Plan("job", count, (Group("job.id"),), where), EVERYTHING)
    return sorted(str(row["job.id"]) for row in found)
