"""
The search page: distinct command lines by their words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from flask import render_template, request, url_for

from leadline.formats.times import parse_time
from leadline.language import _, ngettext
from leadline.query import Question, parse_filters
from leadline.store.contract import Hit
from leadline.web.asking import desk
from leadline.web.empty import newest_sample, nothing_yet
from leadline.web.links import told_of
from leadline.web.paging import ALONE, Leaf, begin, fitted, leaf
from leadline.web.sentences import clusters, sureness
from leadline.web.spoken import spoken_period
from leadline.web.words import number, stamp

LIMIT = 50
LONGEST_LINE = 600


@dataclass(frozen=True, slots=True)
class Line:
    command: str
    hours: str
    samples: str
    users: Sequence[tuple[str, str]]
    more_users: bool
    programs: str
    program_link: str
    last: str


@dataclass(frozen=True, slots=True)
class Page:
    title: str
    clusters: str
    words: str
    where: str
    period: str
    lines: Sequence[Line] = ()
    exports: Sequence[tuple[str, str]] = ()
    sentence: str = ""
    empty: Sequence[str] = ()
    notes: Sequence[str] = ()
    leaf: Leaf = ALONE


def show() -> str:
    words = request.args.get("words", "").strip()[:500]
    where = request.args.get("where", "").strip()
    period = request.args.get("period", "").strip() or "last 30 days"
    page = Page(_("Search command lines"), clusters(), words, where, period)
    if not words:
        return render_template("search.html", page=page)
    asked = Question(where=parse_filters(where), period=period)
    first = begin(request.args.get("cursor", ""))
    found = desk().search(words, asked, first + LIMIT)
    lines = [_line(hit, period) for hit in found.hits[first:]]
    page = replace(
        page,
        title=_("Command lines with {words}").format(words=words),
        exports=[("JSON", url_for("api_search", words=words, where=where or None, period=period))],
        sentence=_sentence(found.total),
        empty=() if lines else _why(period),
        notes=sureness(desk().sure(asked)),
    )

    def to(place: str) -> str:
        more = {"where": where, "cursor": place}
        known: dict[str, Any] = {name: text for name, text in more.items() if text}
        return url_for("search", words=words, period=period, **known)

    def draw(most: int) -> str:
        shown = lines[:most]
        below = leaf(first, found.total, len(shown), to)
        return render_template("search.html", page=replace(page, lines=shown, leaf=below))

    return fitted(draw, len(lines))


def _sentence(total: int) -> str:
    return ngettext(
        "{count} distinct command line matches.",
        "{count} distinct command lines match.",
        total,
    ).format(count=number(total))


def _why(period: str) -> list[str]:
    if newest_sample() is None:
        return nothing_yet()
    return [
        _("No command line holds these words: {period}.").format(period=spoken_period(period)),
        _('Try fewer words, a beginning (train*) or another period; "two words" finds a phrase.'),
    ]


def _line(hit: Hit, period: str) -> Line:
    shown = hit.command_line[:LONGEST_LINE]
    link = told_of("program", hit.programs[0], period) if len(hit.programs) == 1 else ""
    return Line(
        command=shown + ("…" if len(hit.command_line) > LONGEST_LINE else ""),
        hours=number(hit.core_hours, "hours"),
        samples=number(hit.samples),
        users=[(user, told_of("user", user, period)) for user in hit.users[:5]],
        more_users=len(hit.users) > 5,
        programs=", ".join(hit.programs[:3]) or _("unmatched"),
        program_link=link,
        last=stamp(parse_time(hit.last_seen).astimezone(desk().site.zone)),
    )
