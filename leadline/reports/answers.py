"""
An answer as a table, as JSON and in words: the same for the terminal, pages and scripts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from leadline.formats.counted import counted
from leadline.formats.times import format_time, parse_time
from leadline.query import Answer, dimension, measure
from leadline.query.periods import Period
from leadline.query.sure import Sure
from leadline.render import Column, Table, number, safe_text, within
from leadline.render.table import Value
from leadline.store.contract import Found

ACCOUNTED = ("job", "job_slice")


def as_table(answer: Answer) -> Table:
    question = answer.question
    columns = [Column(name, title_of(answer, name)) for name in question.keys]
    measures = [measure(name) for name in question.measures]
    columns += [
        Column(m.name, m.title, m.unit, bars=place == 0 and bool(question.keys))
        for place, m in enumerate(measures)
    ]
    rows = tuple(dict(row) for row in answer.rows)
    if any(share is not None for share in answer.shares) and question.keys:
        place = len(question.keys) + 1
        columns.insert(place, Column("share", "share", "percent"))
        rows = tuple(
            {**row, "share": None if share is None else 100 * share}
            for row, share in zip(rows, answer.shares, strict=True)
        )
    labels = tuple(
        {key: answer.label(key, row[key]) for key in question.keys} for row in answer.rows
    )
    return Table(tuple(columns), rows, labels, _feet(answer))


def _feet(answer: Answer) -> tuple[dict[str, Value], ...]:
    """
    Others and total, told apart by what stands in the first column.
    """
    keys = answer.question.keys
    if not keys or not answer.rows:
        return ()
    feet: list[dict[str, Value]] = []
    if answer.others is not None:
        count = f" ({answer.others_count:,})" if answer.others_count else ""
        feet.append({keys[0]: f"others{count}", "share": _share(answer), **answer.others})
    first = answer.question.measures[0]
    whole = 100.0 if measure(first).adds and answer.total[first] else None
    feet.append({keys[0]: "total", "share": whole, **answer.total})
    return tuple(feet)


def _share(answer: Answer) -> float | None:
    first = answer.question.measures[0]
    whole, rest = answer.total[first], (answer.others or {}).get(first)
    if not measure(first).adds or not whole or rest is None:
        return None
    return 100 * rest / whole


def title_of(answer: Answer, key: str) -> str:
    return key.capitalize() if key == answer.question.bucket else dimension(key).title


def as_json(answer: Answer) -> dict[str, object]:
    """
    One measure: others and total are numbers; several: objects by measure.
    """
    names = answer.question.measures
    one = names[0] if len(names) == 1 else None
    others = answer.others
    found: dict[str, object] = {
        "question": str(answer.question),
        "from": _moment(answer.period.start),
        "to": _moment(answer.period.end),
        "zone": answer.period.zone.key,
        "units": {name: measure(name).unit for name in names},
        "rows": list(answer.rows),
        "others": others[one] if one and others else others,
        "others_count": answer.others_count,
        "total": answer.total[one] if one else answer.total,
        "shares": list(answer.shares),
        **sure_json(answer),
        "not_kept_before": dict(answer.kept_from),
        "approximate": [name for name in names if measure(name).approximate],
        "counted_more_than_once": answer.multiple,
        "datasets": list(answer.datasets),
    }
    if answer.question.bucket:
        found["total_by_time"] = list(answer.total_by_time)
        found["others_by_time"] = list(answer.others_by_time)
    return found


def sure_json(known: Answer | Sure) -> dict[str, object]:
    """
    What an answer or a list rests on.
    """
    return {
        "coverage": known.coverage.share,
        "nodes": known.coverage.hosts,
        "silent": [{"host": host, "coverage": share} for host, share in known.coverage.silent],
        "newest": known.coverage.newest,
        "rejected": known.rejected,
        "dropped": known.coverage.dropped,
        "provisional": known.provisional,
        "notes": list(known.notes),
    }


def found_json(found: Found, known: Sure) -> dict[str, object]:
    """
    Command lines that were searched for.
    """
    hits = [asdict(hit) for hit in found.hits]
    return {"total": found.total, "hits": hits, "facets": found.facets, **sure_json(known)}


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else format_time(moment)


def headline(answer: Answer) -> str:
    """
    What was asked, in words: "Core hours used by program on fox, 1–31 October 2026 (Europe/Oslo)".
    """
    question = answer.question
    text = _listed([measure(name).title for name in question.measures])
    if question.by:
        text += f" by {' and '.join(within(dimension(name).title) for name in question.by)}"
    if question.bucket:
        text += f" per {question.bucket}"
    if question.where:
        text += f" where {', '.join(str(known) for known in question.where)}"
    span = span_text(answer.period)
    return safe_text(f"{text[:1].upper()}{text[1:]}, {span}")


def _listed(titles: Sequence[str]) -> str:
    """
    Told apart by what none of them holds: "memory, 90 %; wait, median".
    """
    return ("; " if any(", " in title for title in titles) else ", ").join(titles)


def span_text(period: Period) -> str:
    if period.start is None or period.end is None:
        return f"everything kept ({period.zone.key})" if period.text == "all" else period.text
    start, end = period.start.astimezone(period.zone), period.end.astimezone(period.zone)
    if period.days:
        first, after = period.days
        last = datetime.combine(after, end.timetz()).toordinal() - 1
        until = datetime.fromordinal(last).date()
        days = f"{first}" if first == until else f"{first} to {until}"
        return f"{days} ({period.zone.key})"
    return f"{start:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M} ({period.zone.key})"


def sentence(answer: Answer) -> str:
    """
    The answer first: the number, and how many rows make up how much of it.
    """
    name = answer.question.measures[0]
    known = measure(name)
    whole = answer.total[name]
    if whole is None:
        return f"{known.title[:1].upper()}{known.title[1:]}: not measured in this period."
    unit = {"bytes": " GiB", "percent": " %", "kWh": " kWh"}.get(known.unit, "")
    text = f"{number(whole, known.unit)}{unit} {known.title}"
    if (not known.unit and whole == 1) or ", " in known.title:  # "Wait, median: 00:21"
        text = f"{known.title[:1].upper()}{known.title[1:]}: {number(whole, known.unit)}{unit}"
    shares = [share for share in answer.shares if share is not None]
    if answer.others_count and shares and not answer.multiple and not answer.question.bucket:
        shown, count = len(answer.rows), len(answer.rows) + answer.others_count
        text += f"; {shown:,} of {count:,} make up {_part(sum(shares))}"
    return f"{text}."


def _part(share: float) -> str:
    """
    What is not all is not 100 %, what is not nothing is not 0 %.
    """
    rounded = f"{100 * share:.0f} %"
    if rounded == "100 %" and share < 1:
        return "nearly all"
    return "less than 1 %" if rounded == "0 %" and share > 0 else rounded


def footer(answer: Answer) -> list[str]:
    """
    How sure: coverage, freshness, what is provisional, what else must be said.
    """
    approximate = [m for m in map(measure, answer.question.measures) if m.approximate]
    about = [f"≈ within 2 %: {_listed([m.title for m in approximate])}."] if approximate else []
    return [*_rests_on(answer), *map(safe_text, about), *_noted(answer)]


def sure_lines(sure: Sure) -> list[str]:
    """
    The same below a list of jobs, findings or hits.
    """
    return [*_rests_on(sure), *_noted(sure)]


def _noted(answer: Answer | Sure) -> list[str]:
    return [f"{safe_text(note[:1].upper() + note[1:])}." for note in answer.notes]


def _rests_on(answer: Answer | Sure) -> list[str]:
    known = answer.coverage
    lines = []
    if known.share is None:
        lines.append("Coverage not measured: no node heartbeats in this period.")
    else:
        text = f"{100 * known.share:.1f} % of node-hours covered, {counted(known.hosts, 'node')}"
        if known.silent:
            few = ", ".join(f"{host} {100 * share:.0f} %" for host, share in known.silent[:3])
            more = f" and {len(known.silent) - 3} more" if len(known.silent) > 3 else ""
            fewer = 2 * len(known.silent) < known.hosts  # where most are alike, none is less
            text += f" ({'less than most' if fewer else 'below 90 %'}: {few}{more})"
        lines.append(f"{text}.")
    if known.newest:
        moment = parse_time(known.newest).astimezone(answer.period.zone)
        lines[-1] += f" Newest sample {moment:%Y-%m-%d %H:%M}."
    if answer.provisional:
        lines.append("Provisional: the period is not over, or its last hour is still coming in.")
    return [*map(safe_text, lines)]


def not_parted(answer: Answer) -> str | None:
    """
    Since when samples are kept, where without them there is a total and no rows.
    """
    known = any(value for value in answer.total.values())
    return answer.kept_from.get("process") if known and not answer.rows else None


def why_empty(answer: Answer) -> str:
    """
    Never an empty table without a word.
    """
    if all(measure(name).dataset in ACCOUNTED for name in answer.question.measures):
        return (
            "No accounted run in this period, or none that matches. Runs come from "
            "`leadline backfill` or a scheduler's reader."
        )
    if {measure(name).dataset for name in answer.question.measures} == {"capacity"}:
        return "No node that matches has any capacity in this period."
    if kept := not_parted(answer):
        return (
            f"Samples are kept since {kept}, and hourly usage does not tell this apart. "
            "Ask for a later period, or by user, project or program."
        )
    newest = answer.coverage.newest
    if newest is None:
        return "No samples in this period. `leadline status` says whether shippers are heard."
    return (
        f"Nothing matches, though nodes were sampled until {newest}. "
        "Look at the filters; `leadline usage --by user --period all` shows what there is."
    )
