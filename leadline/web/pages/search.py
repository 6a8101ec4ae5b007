"""
The search page: distinct command lines by their words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from flask import render_template, request, url_for

from leadline.formats.times import parse_time
from leadline.language import _, ngettext
from leadline.query import Question, parse_filters
from leadline.store.contract import Hit
from leadline.web.asking import desk
from leadline.web.empty import newest_sample, nothing_yet
from leadline.web.links import told_of
from leadline.web.sentences import clusters, spoken_period, sureness
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


def show() -> str:
    words = request.args.get("words", "").strip()[:500]
    where = request.args.get("where", "").strip()
    period = request.args.get("period", "").strip() or "last 30 days"
    page = Page(_("Search command lines"), clusters(), words, where, period)
    if not words:
        return render_template("search.html", page=page)
    asked = Question(where=parse_filters(where), period=period)
    found = desk().search(words, asked, LIMIT)
    lines = [_line(hit, period) for hit in found.hits]
    page = replace(
        page,
        title=_("Command lines with {words}").format(words=words),
        lines=lines,
        exports=[("JSON", url_for("api_search", words=words, where=where or None, period=period))],
        sentence=_sentence(found.total, len(lines)),
        empty=() if lines else _why(period),
        notes=sureness(desk().sure(asked)),
    )
    return render_template("search.html", page=page)


def _sentence(total: int, shown: int) -> str:
    words = ngettext(
        "{count} distinct command line matches",
        "{count} distinct command lines match",
        total,
    ).format(count=number(total))
    return words + (
        _("; the first {count} are shown.").format(count=shown) if total > shown else "."
    )


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
