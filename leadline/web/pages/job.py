"""
The job page: what happened with one job. Asked and used, the profile over time, plain advice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from flask import render_template, request

from leadline.formats.times import parse_time
from leadline.render import duration
from leadline.render.charts import draw_svg
from leadline.render.charts.profile import Track, tracks
from leadline.reports.advice import Advice, advise
from leadline.reports.job import JobView, Resource, job_view
from leadline.reports.job_text import shrunk
from leadline.reports.picture import clock_time
from leadline.web.asking import desk
from leadline.web.sentences import clusters, when
from leadline.web.words import number, percent, size

POINTS = 240  # of a profile: more than a screen shows is not sent
CARDS_DRAWN = 8
GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Line:
    name: str
    asked: str
    peak: str
    mean: str
    share: str
    length: float
    advised: bool


@dataclass(frozen=True, slots=True)
class Counsel:
    """
    One piece of advice; of the remedy's words those that are typed are told apart.
    """

    text: str
    remedy: Sequence[tuple[str, bool]]


@dataclass(frozen=True, slots=True)
class Page:
    title: str
    clusters: str
    sentence: str
    lines: Sequence[Line]
    advice: Sequence[Counsel]
    advised: bool
    chart: str
    programs: Sequence[tuple[str, str, str]]
    nodes: Sequence[tuple[str, str, str]]
    facts: Sequence[tuple[str, str]]
    notes: Sequence[str]


def show(job: str) -> str:
    run = request.args.get("run") or None
    store, seen, now = desk().open(), desk().scope, desk().now
    view = desk().once(
        ("job", job, run, seen),
        lambda: job_view(store, seen, job, now, run=run),
    )
    advice = advise(view)
    page = Page(
        title=f"Job {view.job}",
        clusters=clusters(),
        sentence=_sentence(view),
        lines=_lines(view, {known.about for known in advice}),
        advice=[_counsel(known) for known in advice],
        advised=view.wall is not None,
        chart=_chart(view),
        programs=_programs(view),
        nodes=_nodes(view),
        facts=_facts(view),
        notes=_notes(view),
    )
    return render_template("job.html", page=page)


def _counsel(known: Advice) -> Counsel:
    words = f"{known.remedy[:1].upper()}{known.remedy[1:]}.".split() if known.remedy else []
    return Counsel(known.text, [(word, word.startswith("--")) for word in words])


def _sentence(view: JobView) -> str:
    name = str(view.record.get("job.name") or "")
    state = (view.state or "state unknown").lower().replace("_", " ")
    took = f" after {duration(view.wall)}" if view.wall is not None and not view.running else ""
    if view.running and view.wall is not None:
        took = f" for {duration(view.wall)}"
    asked = f" of {duration(view.time.asked)} asked" if view.time.asked else ""
    who = view.user or "an unknown user"
    return f"{name or 'A job'} of {who}: {state}{took}{asked}."


def _lines(view: JobView, noted: set[str]) -> list[Line]:
    def cores(value: float | None) -> str:
        return number(value, "hours")

    def memory(value: float | None) -> str:
        return "–" if value is None else size(value)

    def time(value: float | None) -> str:
        return "–" if value is None else duration(value)

    wanted = (
        ("CPU cores", view.cpu, "cpu", cores),
        ("Memory", view.memory, "memory", memory),
        ("GPUs", view.gpu, "gpu", cores),
        ("Time", view.time, "time", time),
    )
    return [
        Line(
            name=name,
            asked=write(known.asked),
            peak=write(known.peak),
            mean=write(known.mean),
            share=_share(known),
            length=100 * min(1.0, known.share or 0.0),
            advised=about in noted,
        )
        for name, known, about, write in wanted
        if known.known
    ]


def _share(known: Resource) -> str:
    if known.share is not None:
        return percent(known.share)
    return "–" if known.asked is None else "not measured"


def _chart(view: JobView) -> str:
    seen = view.profile
    if seen.start is None or len(seen.memory) < 3:
        return ""
    memory = tuple(None if value is None else value / GIB for value in seen.memory)
    wanted = [
        Track("cores busy", shrunk(seen.cores, POINTS), view.cpu.asked),
        Track("memory, GiB", shrunk(memory, POINTS), (view.memory.asked or 0) / GIB or None),
    ]
    for card in view.cards[:CARDS_DRAWN]:
        host = f"{card.host} " if len(view.nodes) > 1 else ""
        wanted.append(
            Track(f"{host}{card.name} busy", shrunk(card.series, POINTS), 1.0, "the whole card")
        )
    span = timedelta(seconds=seen.interval * len(seen.memory))
    step = span / max(len(wanted[0].values), 1)
    shown = parse_time(clock_time(seen.start, desk().site.zone))
    return draw_svg(tracks(wanted, shown, step), f"What {view.job} used over time")


def _programs(view: JobView) -> list[tuple[str, str, str]]:
    return [
        (
            known.name or "unmatched",
            number(known.core_hours, "hours"),
            "–" if known.share is None else percent(known.share),
        )
        for known in view.programs[:12]
    ]


def _nodes(view: JobView) -> list[tuple[str, str, str]]:
    return [
        (
            known.host,
            number(known.cores, "hours"),
            "–" if known.peak_memory is None else size(known.peak_memory),
        )
        for known in view.nodes[:64]
    ]


def _facts(view: JobView) -> list[tuple[str, str]]:
    record = view.record
    found: list[tuple[str, str | None]] = [
        ("Project", _text(record.get("project"))),
        ("Partition", _text(record.get("partition"))),
        ("Submitted", _local(_moment(record.get("job.submit")))),
        ("Started", _local(view.start)),
        ("Ended", _local(view.end)),
        ("Exit code", _text(record.get("job.exit_code"))),
        ("Reason", _text(record.get("job.reason"))),
        ("Run", view.run),
    ]
    return [(name, value) for name, value in found if value]


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _moment(value: object) -> datetime | None:
    return None if value is None else parse_time(str(value))


def _local(moment: datetime | None) -> str | None:
    return None if moment is None else when(moment)


def _notes(view: JobView) -> list[str]:
    seen = view.profile
    if not seen.samples:
        return ["No samples: figures are what the scheduler accounted."]
    gaps = f"{seen.missing:,} missing" if seen.missing else "none missing"
    told = "" if view.record else " Not accounted (yet): nothing is known of what was asked."
    return [f"{seen.samples:,} samples, every {seen.interval:.0f} s, {gaps}.{told}"]
