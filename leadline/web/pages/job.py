"""
The job page: what happened with one job. Asked and used, the profile over time, plain advice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from flask import render_template, request, url_for
from werkzeug.wrappers import Response

from leadline.errors import QuestionError
from leadline.formats.times import parse_time
from leadline.language import _, ngettext, said
from leadline.query import Filter, Question
from leadline.render.charts import draw_svg, draw_vega
from leadline.reports.advice import Advice, advise
from leadline.reports.job import JobView, Resource, job_view
from leadline.reports.job_picture import job_picture
from leadline.reports.scale import scale
from leadline.web.api.answers import as_vega_lite
from leadline.web.asking import desk
from leadline.web.export import links
from leadline.web.links import MOST_ROWS, address, jobs_of, told_of
from leadline.web.pages.around import Neighbour, Process, days_of, neighbours, processes
from leadline.web.sentences import clusters, when
from leadline.web.words import lasting, number, percent, size, state_words

FASTER = 1.05  # times: less is as fast
MOST_PROGRAMS, MOST_NODES = 12, 64

Files = Sequence[tuple[str, str]]  # what a link says, and where it leads


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
class Scaling:
    """
    Whether more machine would help, in words.
    """

    sentence: str
    sure: str
    evidence: Sequence[str]
    would_help: Sequence[str]
    speedup: str
    sizes: Sequence[tuple[str, str, str, str]]
    missing: str


@dataclass(frozen=True, slots=True)
class Page:
    title: str
    job: str
    clusters: str
    sentence: str
    lines: Sequence[Line]
    advice: Sequence[Counsel]
    advised: bool
    chart: str
    files: Files
    programs: Sequence[tuple[str, str, str, str]]
    nodes: Sequence[tuple[str, str, str, str]]
    nodes_told: str  # how many of them are shown, where not all are
    more_nodes: str
    programs_told: str
    more_programs: str
    processes: Sequence[Process]
    neighbours: Sequence[Neighbour]
    others: str
    beside: str
    scale: Scaling | None
    facts: Sequence[tuple[str, str, str]]
    notes: Sequence[str]


def show(job: str) -> str:
    view = view_of(job, request.args.get("run") or None)
    advice = advise(view, desk().site.advice)
    around = neighbours(view)
    page = Page(
        title=_("Job {job}").format(job=view.job),
        job=view.job,
        clusters=clusters(),
        sentence=sentence(view),
        lines=lines_of(view, {known.about for known in advice}),
        advice=[counsel(known) for known in advice],
        advised=view.wall is not None,
        chart=chart_of(view),
        files=files_of(job, request.args.get("run")),
        programs=_programs(view),
        nodes=_nodes(view),
        nodes_told=_first_of(MOST_NODES, len(view.nodes)),
        more_nodes=_of_job(view, "host"),
        programs_told=_first_of(MOST_PROGRAMS, len(view.programs)),
        more_programs=_of_job(view, "program"),
        processes=processes(view),
        neighbours=around.named,
        others=around.told,
        beside=_first_of(len(around.named), around.count),
        scale=scaling(view),
        facts=_facts(view),
        notes=_notes(view),
    )
    return render_template("job.html", page=page)


def scaling(view: JobView) -> Scaling | None:
    """
    What limits it, how sure that is, what would help; None where nothing can be said.
    """
    store, seen, limits = desk().open(), desk().scope, desk().site.advice
    known = desk().once(
        ("scale", view.job, view.run, view.wall, seen), lambda: scale(store, seen, view, limits)
    )
    if known.sure is None:
        return None
    return Scaling(
        sentence=said(known.sentence),
        sure={
            "sure": _("this is sure"),
            "likely": _("this is likely"),
            "a guess": _("this is a guess"),
        }[known.sure],
        evidence=[said(one) for one in known.evidence],
        would_help=[said(one) for one in known.would_help],
        speedup=number(known.speedup, "hours") if (known.speedup or 0.0) >= FASTER else "",
        sizes=[
            (
                number(one.cores),
                number(one.runs),
                "–" if one.wall is None else lasting(one.wall),
                "–" if one.efficiency is None else percent(one.efficiency),
            )
            for one in known.sizes
        ],
        missing=", ".join(said(one) for one in known.missing),
    )


def view_of(job: str, run: str | None = None) -> JobView:
    store, seen, now = desk().open(), desk().scope, desk().now
    return desk().once(
        ("job", job, run, seen),
        lambda: job_view(store, seen, job, now, run=run),
    )


def counsel(known: Advice) -> Counsel:
    remedy = said(known.remedy)
    words = f"{remedy[:1].upper()}{remedy[1:]}.".split() if remedy else []
    return Counsel(said(known.text), [(word, word.startswith("--")) for word in words])


def sentence(view: JobView) -> str:
    words = _("{name} of {user}: {state}.")
    if view.wall is not None and view.time.asked:
        words = _("{name} of {user}: {state} after {wall} of {asked} asked.")
        if view.running:
            words = _("{name} of {user}: {state} for {wall} of {asked} asked.")
    elif view.wall is not None:
        words = _("{name} of {user}: {state} after {wall}.")
        if view.running:
            words = _("{name} of {user}: {state} for {wall}.")
    return words.format(
        name=str(view.record.get("job.name") or "") or _("A job"),
        user=view.user or _("an unknown user"),
        state=state_words(view.state),
        wall=lasting(view.wall) if view.wall is not None else "",
        asked=lasting(view.time.asked) if view.time.asked else "",
    )


def lines_of(view: JobView, noted: set[str]) -> list[Line]:
    def cores(value: float | None) -> str:
        return number(value, "hours")

    def memory(value: float | None) -> str:
        return "–" if value is None else size(value)

    def time(value: float | None) -> str:
        return "–" if value is None else lasting(value)

    wanted = (
        (_("CPU cores"), view.cpu, "cpu", number, cores, cores),
        (_("Memory"), view.memory, "memory", memory, memory, memory),
        (_("GPUs"), view.gpu, "gpu", number, number, cores),
        (_("Time"), view.time, "time", time, time, time),
    )
    return [
        Line(
            name=name,
            asked=asked(known.asked),
            peak=peak(known.peak),
            mean=mean(known.mean),
            share=_share(known),
            length=100 * min(1.0, known.share or 0.0),
            advised=about in noted,
        )
        for name, known, about, asked, peak, mean in wanted
        if known.known
    ]


def _share(known: Resource) -> str:
    if known.share is not None:
        return percent(known.share)
    return "–" if known.asked is None else _("not measured")


def as_vega() -> Response:
    """
    The picture of a job for its page, in the reader's language; the API's speaks English.
    """
    view = view_of(request.args.get("job", ""), request.args.get("run") or None)
    if (picture := job_picture(view, desk().site.zone)) is None:
        raise QuestionError(f"job {view.job}: too few samples for a picture")
    return as_vega_lite(draw_vega(picture), "job.vl.json")


def files_of(job: str, run: str | None = None) -> Files:
    return links(lambda form: url_for("api_job", job=job, run=run, format=form))


def chart_of(view: JobView) -> str:
    picture = job_picture(view, desk().site.zone)
    if picture is None:
        return ""
    return draw_svg(picture, _("What {job} used over time").format(job=view.job))


def _programs(view: JobView) -> list[tuple[str, str, str, str]]:
    return [
        (
            known.name or _("unmatched"),
            told_of("program", known.name, days_of(view)),
            number(known.core_hours, "hours"),
            "–" if known.share is None else percent(known.share),
        )
        for known in view.programs[:MOST_PROGRAMS]
    ]


def _nodes(view: JobView) -> list[tuple[str, str, str, str]]:
    cluster = view.job.partition("/")[0]
    return [
        (
            known.host,
            url_for("node", cluster=cluster, host=known.host),
            number(known.cores, "hours"),
            "–" if known.peak_memory is None else size(known.peak_memory),
        )
        for known in view.nodes[:MOST_NODES]
    ]


def _first_of(shown: int, count: int) -> str:
    if count <= shown:
        return ""
    words = _("the first {shown} of {count}")
    return words.format(shown=number(shown), count=number(count))


def _of_job(view: JobView, by: str) -> str:
    """
    Where all of it is, to be turned and exported.
    """
    known = Filter("job", (view.job,))
    return address(Question(by=(by,), where=(known,), period=days_of(view), top=MOST_ROWS))


def _facts(view: JobView) -> list[tuple[str, str, str]]:
    record = view.record
    days, project, partition = days_of(view), record.get("project"), record.get("partition")
    mine = jobs_of(view.user, days) if view.user else ""
    linked = [
        (_("User"), _text(view.user), mine),
        (_("Project"), _text(project), told_of("project", _text(project), days)),
        (_("Partition"), _text(partition), told_of("partition", _text(partition), days)),
    ]
    found: list[tuple[str, str | None]] = [
        (_("Submitted"), _local(_moment(record.get("job.submit")))),
        (_("Started"), _local(view.start)),
        (_("Ended"), _local(view.end)),
        (_("Exit code"), _text(record.get("job.exit_code"))),
        (_("Reason"), _text(record.get("job.reason"))),
        (_("Run"), view.run),
    ]
    plain = [(name, value, "") for name, value in found]
    return [(name, value, link) for name, value, link in (*linked, *plain) if value]


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _moment(value: object) -> datetime | None:
    return None if value is None else parse_time(str(value))


def _local(moment: datetime | None) -> str | None:
    return None if moment is None else when(moment)


def _notes(view: JobView) -> list[str]:
    seen = view.profile
    if not seen.samples:
        return [_("No samples: figures are what the scheduler accounted.")]
    words = ngettext(
        "{count} sample, every {seconds} s, {missing} missing.",
        "{count} samples, every {seconds} s, {missing} missing.",
        seen.samples,
    ).format(
        count=number(seen.samples),
        seconds=number(round(seen.interval)),
        missing=number(view.missing),
    )
    if view.record:
        return [words]
    return [words, _("Not accounted (yet): nothing is known of what was asked.")]
