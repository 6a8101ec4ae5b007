"""
The page of allocations: what was granted, used and left, and where it will end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from flask import render_template, request, url_for

from leadline.language import _, ngettext
from leadline.query import Filter, Question
from leadline.reports.allocations import Allocation
from leadline.reports.burndown import whose
from leadline.web.api.allocations import seen
from leadline.web.export import links as files
from leadline.web.links import address
from leadline.web.paging import ALONE, Leaf, begin, fitted, leaf
from leadline.web.sentences import clusters
from leadline.web.words import day, days, number, percent

BURNDOWN = 60  # points of the small line


@dataclass(frozen=True, slots=True)
class Line:
    whose: str
    link: str
    of: str
    period: str
    granted: str
    used: str
    share: str
    length: float
    elapsed: str
    elapsed_length: float
    left: str
    burn: str
    pace: str
    projected: str
    verdict: str
    when: str  # it was or will be used up
    alarming: bool
    curve: str
    even: float  # where the line of the even pace ends
    note: str


@dataclass(frozen=True, slots=True)
class Page:
    title: str
    clusters: str
    everything: bool
    sentence: str = ""
    exports: Sequence[tuple[str, str]] = ()
    lines: Sequence[Line] = ()
    curves: Sequence[tuple[str, str]] = ()  # the small lines as files
    empty: Sequence[str] = ()
    leaf: Leaf = ALONE


def show() -> str:
    first = begin(request.args.get("cursor", ""))
    everything = request.args.get("all") == "1"
    found = seen(everything=everything)
    page = Page(
        title=_("Allocations"),
        clusters=clusters(),
        everything=everything,
        sentence=_sentence(found),
        exports=[
            (form.upper(), url_for("api_allocations", format=form, all=1 if everything else None))
            for form in ("csv", "json")
        ],
        empty=() if found else _why(everything),
    )

    def to(place: str) -> str:
        return url_for("allocations", all=1 if everything else None, cursor=place or None)

    def over_time(form: str) -> str:
        place = request.args.get("cursor") or None
        every = 1 if everything else None
        return url_for("allocations_over_time", form=form, all=every, cursor=place)

    def draw(most: int) -> str:
        lines = [_line(one) for one in found[first : first + most]]
        below = leaf(first, len(found), len(lines), to)
        curves = files(over_time) if any(line.curve for line in lines) else []
        told = replace(page, lines=lines, curves=curves, leaf=below)
        return render_template("allocations.html", page=told)

    return fitted(draw, len(found))


def _sentence(found: Sequence[Allocation]) -> str:
    if not found:
        return ""
    words = ngettext("{count} grant", "{count} grants", len(found)).format(count=len(found))
    alarming = sum(one.alarming for one in found)
    if not alarming:
        return _("{grants}; none is or will be used up before its time.").format(grants=words)
    return _("{grants}, {count} of them used up or soon to be.").format(
        grants=words, count=alarming
    )


def _why(everything: bool) -> list[str]:
    if everything:
        return [
            _("Nothing was granted."),
            _("Grants stand in the settings, section `allocations`, or in files it names."),
        ]
    return [
        _("No grant is in force."),
        _("Old and coming ones are shown by the link above."),
        _("Grants stand in the settings, section `allocations`, or in files it names."),
    ]


def _line(one: Allocation) -> Line:
    grant = one.grant
    where = [Filter("project", (grant.project,))] if grant.project else []
    where += grant.places
    by = "user" if grant.project else "project"
    zone = grant.period.zone
    first = grant.start.astimezone(zone).date()
    last = (grant.end.astimezone(zone) - timedelta(seconds=1)).date()
    return Line(
        whose=whose(grant),
        link=address(Question((grant.measure,), (by,), tuple(where), f"{first}..{last}", top=20)),
        of=_("core hours") if grant.resource == "core" else _("GPU hours"),
        period=days(first, last, "MMM"),
        granted=number(grant.hours, "hours"),
        used=number(one.used, "hours"),
        share="–" if one.share is None else percent(one.share),
        length=100 * min(1.0, one.share or 0.0),
        elapsed=percent(one.elapsed),
        elapsed_length=100 * one.elapsed,
        left=number(one.left, "hours"),
        burn=number(one.burn, "hours"),
        pace=number(one.pace, "hours"),
        projected=number(one.projected, "hours"),
        verdict=_verdict(one),
        when=_when(one),
        alarming=one.alarming,
        curve=_curve(one),
        even=30 - 30 * grant.hours / _top(one),
        note=grant.note,
    )


def _verdict(one: Allocation) -> str:
    return {
        "not begun": _("not begun"),
        "not measured": _("not measured"),
        "used up": _("used up"),
        "over": _("over"),
        "will run out": _("will run out"),
        "behind": _("behind"),
        "on course": _("on course"),
    }[one.verdict]


def _when(one: Allocation) -> str:
    if one.runs_out is None:
        return ""
    return day(one.runs_out.astimezone(one.grant.period.zone).date(), "MMM")


def _curve(one: Allocation) -> str:
    """
    Points of a line from nothing to what is used, in a box of 100 by 30.
    """
    if not one.by_day or not one.used:
        return ""
    start, length = one.grant.start, (one.grant.end - one.grant.start).total_seconds()
    top = _top(one)
    step = max(1, len(one.by_day) // BURNDOWN)
    kept = [*one.by_day[::step], one.by_day[-1]]
    points = ["0,30"]
    for text, hours in kept:
        end = datetime.fromisoformat(text).replace(tzinfo=one.grant.period.zone)
        x = 100 * min(1.0, max(0.0, ((end - start).total_seconds() + 86400) / length))
        points.append(f"{x:.1f},{30 - 30 * hours / top:.1f}")
    return " ".join(points)


def _top(one: Allocation) -> float:
    return max(one.grant.hours, one.used or 0.0)
