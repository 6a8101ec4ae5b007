"""
The answer in words: a title that says the question, a sentence with the number, how sure it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from leadline.formats.times import parse_time
from leadline.query import Answer
from leadline.query.dimensions import dimension
from leadline.query.measure import Measure
from leadline.query.periods import Period
from leadline.query.question import BUCKETS, Filter
from leadline.web.asking import desk
from leadline.web.tables import label
from leadline.web.words import ago, change, days, number, percent

LEAST_COVERED = 0.8
SEVERAL = 3  # clusters named one by one


def title(answer: Answer, measures: Sequence[Measure]) -> str:
    """
    Core hours used by program on fox, 1–31 October 2026.
    """
    asked = answer.question
    words = " and ".join(measure.title for measure in measures)
    if len(measures) > 2:
        words = f"{measures[0].title} and more"
    words = words[0].upper() + words[1:]
    if asked.by:
        words += " by " + " and ".join(dimension(name).title.lower() for name in asked.by)
    if asked.bucket:
        words += f" per {asked.bucket}"
    return f"{words}{''.join(_filter(known) for known in asked.where)}, {span(answer.period)}"


def _filter(known: Filter) -> str:
    _, sign, values = str(known).partition("!=" if known.negated else "=")
    spoken = values.replace("|", " or ").strip('"')
    spoken = spoken if len(spoken) <= 80 else spoken[:79] + "…"
    but = "but not " if sign == "!=" else ""
    if known.dimension in {"cluster", "host"}:
        return f" {but}on {spoken}"
    return f", {but}{dimension(known.dimension).title.lower()} {spoken}"


def span(period: Period) -> str:
    """
    The days of a period where it is made of days; else its own words.
    """
    whole = period.days
    if whole is not None and period.text not in BUCKETS:
        return days(whole[0], whole[1] - timedelta(days=1))
    return "everything kept" if period.text == "all" else period.text


def short(period: Period, otherwise: str) -> str:
    """
    A neighbouring period in a link: its name or its days; OTHERWISE when it has neither.
    """
    return period.text if period.unit else span(period) if period.days else otherwise


def told(answer: Answer, measure: Measure, comparison: str) -> str:
    """
    412,930 core hours used, 8 % more than the 30 days before. Ten of 143 make up 87 %.
    """
    whole = answer.total.get(measure.name)
    words = f"{number(whole, measure.unit)} {measure.title}"
    if measure.unit in {"bytes", "percent"}:
        words = f"{measure.title[0].upper()}{measure.title[1:]}: {number(whole, measure.unit)}"
    if comparison:
        words += f", {comparison}"
    return f"{words}. {_leaders(answer, measure)}".strip()


def _leaders(answer: Answer, measure: Measure) -> str:
    asked = answer.question
    whole = answer.total.get(measure.name)
    if not asked.by or not measure.adds or not isinstance(whole, int | float) or not whole:
        return ""
    sized = [(_float(row.get(measure.name)), row) for row in answer.rows]
    most, leader = max(sized, key=lambda pair: pair[0])
    name = " ".join(label(answer, key, leader) for key in asked.keys)
    if answer.others is None or len(sized) < 3:
        return f"Most of them, {percent(most / whole)}: {name}." if len(sized) > 1 else ""
    shown = sum(amount for amount, _ in sized)
    kind = dimension(asked.by[0]).title.lower()
    return (
        f"The first {len(sized)} by {kind} make up {percent(shown / whole)}; "
        f"{name} leads with {percent(most / whole)}."
    )


def _float(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def compared(now: Answer, before: Answer, measure: Measure) -> str:
    if (before.coverage.share or 0.0) < LEAST_COVERED * (now.coverage.share or 1.0):
        return ""  # it was hardly looked at then: nothing to compare with
    words = change(now.total.get(measure.name), before.total.get(measure.name))
    return f"{words} in the span before" if words else ""


def clusters() -> str:
    names = desk().clusters()
    if len(names) > SEVERAL:
        return f"{len(names)} clusters"
    return ", ".join(names)


def sureness(answer: Answer) -> list[str]:
    """
    What the figures rest on: coverage, freshness, what is provisional.
    """
    notes = []
    known = answer.coverage
    if known.share is not None:
        silent = ", ".join(f"{host} {percent(share)}" for host, share in known.silent[:SEVERAL])
        more = len(known.silent) - SEVERAL
        silent += f" and {more} more" if more > 0 else ""
        least = f" (least: {silent})" if silent else ""
        notes.append(f"{100 * known.share:.1f} % of node hours have samples{least}.")
    if known.newest is not None:
        notes.append(f"Newest sample {when(parse_time(known.newest))}.")
    if answer.provisional:
        notes.append("The last hour is provisional.")
    return [*notes, *(f"{note[0].upper()}{note[1:]}." for note in answer.notes)]


def when(moment: datetime) -> str:
    local = moment.astimezone(desk().site.zone)
    return f"{ago(moment, desk().site.clock())}, {local:%A} {local.day} {local:%B %H:%M}"
