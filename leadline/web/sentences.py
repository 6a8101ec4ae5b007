"""
The answer in words: a title that says the question, a sentence with the number, how sure it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta

from leadline.formats.times import parse_time
from leadline.language import _, said
from leadline.query import Answer
from leadline.query.dimensions import dimension
from leadline.query.measure import Measure
from leadline.query.periods import Period
from leadline.query.question import BUCKETS, Filter
from leadline.query.sure import Sure
from leadline.render import within
from leadline.reports.picture import CLOCK
from leadline.web.asking import desk
from leadline.web.spoken import spoken_period
from leadline.web.tables import label
from leadline.web.words import ago, day, days, moment, number, percent, stamp

_DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b")
SEVERAL = 3  # clusters named one by one


def title(answer: Answer, measures: Sequence[Measure]) -> str:
    """
    Core hours used by program on fox, 1–31 October 2026.
    """
    asked = answer.question
    words = measured(measures)
    words = words[0].upper() + words[1:]
    if asked.by:
        names = _(" and ").join(within(_(dimension(name).title)) for name in asked.by)
        words = _("{measure} by {names}").format(measure=words, names=names)
    if asked.bucket:
        words += f" {per(asked.bucket)}"
    return f"{words}{''.join(_filter(known) for known in asked.where)}, {span(answer.period)}"


def per(bucket: str) -> str:
    return {
        "hour": _("per hour"),
        "day": _("per day"),
        "week": _("per week"),
        "month": _("per month"),
        "quarter": _("per quarter"),
        "year": _("per year"),
    }[bucket]


def spoken_filter(known: Filter) -> str:
    """
    A filter as it is told: user alice or bob; not program VASP.
    """
    values = str(known).partition("!=" if known.negated else "=")[2]
    spoken = values.replace("|", _(" or ")).strip('"').replace("(none)", _("(none)"))
    spoken = spoken if len(spoken) <= 80 else spoken[:79] + "…"
    told = f"{within(_(dimension(known.dimension).title))} {spoken}"
    return _("not {filter}").format(filter=told) if known.negated else told


def _filter(known: Filter) -> str:
    if known.dimension in {"cluster", "host"} and not known.negated:
        values = str(known).partition("=")[2].replace("|", _(" or ")).strip('"')
        return _(" on {places}").format(places=values[:80])
    return f", {spoken_filter(known)}"


def span(period: Period) -> str:
    """
    The days of a period where it is made of days, the moments between which it lies; else its own
    words.
    """
    whole = period.days
    if whole is not None and period.text not in BUCKETS:
        return days(whole[0], whole[1] - timedelta(days=1))
    if ".." in period.text and period.start is not None and period.end is not None:
        return " – ".join(stamp(one.astimezone(period.zone)) for one in (period.start, period.end))
    return spoken_period(period.text)


def short(period: Period, otherwise: str) -> str:
    """
    A neighbouring period in a link: its name or its days; OTHERWISE when it has neither.
    """
    return period.text if period.unit else span(period) if period.days else otherwise


def measured(measures: Sequence[Measure]) -> str:
    """
    One or two by their names, more by the first.
    """
    if len(measures) > 2:
        return _("{measure} and more").format(measure=_(measures[0].title))
    return _(" and ").join(_(measure.title) for measure in measures)


def beside(period: Period, now: datetime, to: Callable[[str], str]) -> list[tuple[str, str]]:
    """
    Links to the period before and, where that has begun by NOW, the one after.
    """
    before, after = period.before(), period.after()
    links = []
    if before is not None:
        links.append((f"◂ {short(before, _('earlier'))}", to(before.text)))
    if after is not None and after.start is not None and after.start < now:
        links.append((f"{short(after, _('later'))} ▸", to(after.text)))
    return links


def told(answer: Answer, measure: Measure, comparison: str) -> str:
    """
    412,930 core hours used, 8 % more than the 30 days before. Ten of 143 make up 87 %.
    """
    whole = number(answer.total.get(measure.name), measure.unit)
    words = f"{whole} {_(measure.title)}"
    if measure.unit in {"bytes", "percent", "seconds"} or whole == "1":
        name = _(measure.title)
        words = _("{measure}: {amount}").format(measure=name[0].upper() + name[1:], amount=whole)
    if comparison:
        words += f", {comparison}"
    return f"{words}. {_leaders(answer, measure)}".strip()


def _leaders(answer: Answer, measure: Measure) -> str:
    asked = answer.question
    whole = answer.total.get(measure.name)
    if asked.bucket or not asked.by or not measure.adds or set(asked.by) <= set(CLOCK):
        return ""  # which hour was the greatest says how often a period holds it
    if not isinstance(whole, int | float) or not whole:
        return ""
    sized = [(_float(row.get(measure.name)), row) for row in answer.rows]
    most, leader = max(sized, key=lambda pair: pair[0])
    name = " ".join(label(answer, key, leader) for key in asked.keys)
    if answer.others is None or len(sized) < 3:
        words = _("The greatest part, {percent}: {name}.")
        if most > whole / 2:
            words = _("Most of them, {percent}: {name}.")
        return words.format(percent=percent(most / whole), name=name) if len(sized) > 1 else ""
    shown = sum(amount for amount, _row in sized)
    return _("The first {count} by {kind} make up {share}; {name} leads with {percent}.").format(
        count=len(sized),
        kind=within(_(dimension(asked.by[0]).title)),
        share=percent(shown / whole),
        name=name,
        percent=percent(most / whole),
    )


def _float(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def clusters() -> str:
    names = desk().clusters()
    if len(names) > SEVERAL:
        return _("{count} clusters").format(count=len(names))
    return ", ".join(names)


def sureness(answer: Answer | Sure) -> list[str]:
    """
    What the figures rest on: coverage, freshness, what is provisional.
    """
    notes = []
    known = answer.coverage
    if known.share is not None:
        silent = ", ".join(f"{host} {percent(share)}" for host, share in known.silent[:SEVERAL])
        more = len(known.silent) - SEVERAL
        if more > 0:
            silent = _("{names} and {count} more").format(names=silent, count=more)
        least = _(" (least: {names})").format(names=silent) if silent else ""
        share = number(100 * known.share, "percent")
        notes.append(_("{share} % of node hours have samples").format(share=share) + f"{least}.")
    if known.newest is not None:
        notes.append(_("Newest sample {when}.").format(when=when(parse_time(known.newest))))
    if answer.provisional:
        notes.append(_("The last hour is provisional."))
    told = [_DAY.sub(_as_spoken, said(note)) for note in answer.notes]
    return [*notes, *(f"{note[0].upper()}{note[1:]}." for note in told)]


def _as_spoken(found: re.Match[str]) -> str:
    try:
        return day(date.fromisoformat(found[0]))
    except ValueError:  # it only looks like one
        return found[0]


def when(then: datetime) -> str:
    return f"{ago(then, desk().site.clock())}, {moment(then.astimezone(desk().site.zone))}"
