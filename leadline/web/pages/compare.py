"""
Several jobs side by side: what each asked and used, in one table and one strip each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from flask import render_template, request, url_for

from leadline.errors import QuestionError
from leadline.language import _
from leadline.reports.advice import advise
from leadline.reports.job import JobView, Resource
from leadline.web.asking import desk
from leadline.web.pages.job import Counsel, Files, chart_of, counsel, files_of, view_of
from leadline.web.sentences import clusters, when
from leadline.web.words import lasting, number, percent, size, state_words

MOST = 6
Write = Callable[[float | None], str]


@dataclass(frozen=True, slots=True)
class Head:
    job: str
    link: str
    without: str


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    cells: Sequence[str]
    figures: bool = True


@dataclass(frozen=True, slots=True)
class Page:
    title: str
    clusters: str
    asked: str
    heads: Sequence[Head] = ()
    rows: Sequence[Row] = ()
    charts: Sequence[tuple[str, str, Files]] = ()  # of each job, with its files
    advice: Sequence[tuple[str, Sequence[Counsel]]] = ()
    empty: Sequence[str] = ()


def show() -> str:
    names = [
        part for text in request.args.getlist("job") for part in text.replace(",", " ").split()
    ]
    jobs = list(dict.fromkeys(names))
    if len(jobs) > MOST:
        raise QuestionError(f"{len(jobs)} jobs are too many side by side; name {MOST} at most")
    if not jobs:
        page = Page(_("Jobs side by side"), clusters(), "", empty=_how())
        return render_template("compare.html", page=page)
    views = [view_of(job) for job in jobs]
    page = Page(
        title=_("Jobs side by side"),
        clusters=clusters(),
        asked=" ".join(jobs),
        heads=[_head(job, jobs) for job in jobs],
        rows=_rows(views),
        charts=[(v.job, drawn, files_of(v.job)) for v in views if (drawn := chart_of(v))],
        advice=[
            (view.job, told)
            for view in views
            if (told := [counsel(known) for known in advise(view, desk().site.advice)])
        ],
    )
    return render_template("compare.html", page=page)


def _how() -> list[str]:
    return [
        _("Name two jobs or more, as fox/1234567."),
        _("The page of jobs has a box before each; those ticked are shown here."),
    ]


def _head(job: str, jobs: Sequence[str]) -> Head:
    rest = [other for other in jobs if other != job]
    return Head(job, url_for("job", job=job), url_for("compare", job=rest) if rest else "")


def _rows(views: Sequence[JobView]) -> list[Row]:
    def texts(name: str, field: str) -> Row:
        return Row(name, [str(view.record.get(field) or "–") for view in views], False)

    rows = [
        texts(_("Name"), "job.name"),
        Row(_("User"), [view.user or "–" for view in views], False),
        Row(_("State"), [state_words(view.state) for view in views], False),
        texts(_("Partition"), "partition"),
        Row(_("Nodes"), [number(len(view.nodes)) if view.nodes else "–" for view in views]),
        Row(_("Programs"), [_programs(view) for view in views], False),
        Row(_("Started"), [when(view.start) if view.start else "–" for view in views], False),
        Row(_("Run time"), [lasting(view.wall) for view in views]),
        Row(_("Time asked"), [lasting(view.time.asked) for view in views]),
        *_resource(_("Cores"), [view.cpu for view in views], number, _amount),
        *_resource(_("Memory"), [view.memory for view in views], _bytes, _bytes),
        *_resource(_("GPUs"), [view.gpu for view in views], number, _amount),
    ]
    return [row for row in rows if any(cell != "–" for cell in row.cells)]


def _resource(name: str, known: Sequence[Resource], whole: Write, write: Write) -> list[Row]:
    return [
        Row(_("{what} asked").format(what=name), [whole(one.asked) for one in known]),
        Row(_("{what} at peak").format(what=name), [write(one.peak) for one in known]),
        Row(_("{what}, mean").format(what=name), [write(one.mean) for one in known]),
        Row(
            _("{what}, used of asked").format(what=name),
            ["–" if one.share is None else percent(one.share) for one in known],
        ),
    ]


def _amount(value: float | None) -> str:
    return number(value, "hours")


def _bytes(value: float | None) -> str:
    return "–" if value is None else size(value)


def _programs(view: JobView) -> str:
    return ", ".join(known.name or _("unmatched") for known in view.programs[:3]) or "–"
