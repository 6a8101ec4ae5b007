"""
The one-page summary of a job, as it is printed on a terminal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo

from leadline.formats import Document
from leadline.formats.counted import counted
from leadline.render import duration, number, paragraphs, sparkline
from leadline.reports.advice import DEFAULT, Advice
from leadline.reports.enough import saw_enough
from leadline.reports.job import JobView
from leadline.reports.job_cards import Series
from leadline.reports.job_runs import moment
from leadline.reports.job_uses import uses
from leadline.reports.profile import Node
from leadline.reports.settings import AdviceSettings

SPARK = 32
PARTS = 8  # nodes and cards told one by one


def summary(
    view: JobView,
    advice: Sequence[Advice],
    width: int = 100,
    zone: tzinfo = UTC,
    limits: AdviceSettings = DEFAULT,
) -> str:
    noted = {known.about for known in advice}
    lines = [_head(view), _times(view, zone), "", *uses(view, noted, width), ""]
    lines += _profile(view, width)
    if advice:
        lines += ["Advice", *(_advice(known) for known in advice)]
    if why := _no_advice(view, limits, said=bool(advice)):
        lines.append(why)
    lines += ["", *_parts(view), _programs(view), _samples(view)]
    others = ", ".join(run for run in view.runs if run != view.run)
    if others:
        lines.append(f"Other runs of this id: {others} (--run shows one).")
    return paragraphs(lines, width)


def _no_advice(view: JobView, limits: AdviceSettings, *, said: bool) -> str:
    """
    Why there is none, or not more of it.
    """
    if not view.record:
        return "No advice: what was asked for is not known."
    if view.start is None:
        return "No advice: it has not started."
    if view.wall is not None and view.wall < limits.shortest:
        return "" if said else "No advice: so short a run tells little."
    if saw_enough(view, limits):
        return "" if said else "Nothing to advise."
    if 0 < view.profile.watched < limits.shortest or view.profile.samples == 1:
        return "Too few samples to say what would have sufficed."
    known = f"{100 * (view.covered or 0):.0f} % of its time"
    if view.agreed is not None:
        known += f", {100 * view.agreed:.0f} % of its CPU time"
    if view.profile.samples:
        rest = "more" if said else "what would have sufficed"
        return f"Samples saw {known}: too little to say {rest}."
    return "" if said else "Nothing to advise by what was accounted."


def _times(view: JobView, zone: tzinfo) -> str:
    """
    When, by the cluster's clocks.
    """
    began, ended = view.start, view.end
    if began is None:
        submitted = moment(view.record, "job.submit")
        if submitted is None:
            return ""
        reason = _text(view.record.get("job.reason"))
        why = f", {reason}" if reason else ""
        return f"submitted {_clock(submitted, zone)} ({zone}){why}, not started"
    words = "started" if view.record else "first seen"
    text = f"{words} {_clock(began, zone)}"
    if ended is not None:
        text += f", {'ended' if view.record else 'last seen'} {_clock(ended, zone)}"
    return f"{text} ({zone})"


def _clock(moment: datetime, zone: tzinfo) -> str:
    return f"{moment.astimezone(zone):%Y-%m-%d %H:%M}"


def _head(view: JobView) -> str:
    record = view.record
    owner = " / ".join(filter(None, [view.user, _text(record.get("project"))])) or "user unknown"
    took = "" if view.wall is None else duration(view.wall)
    if view.time.asked:
        took += f"{' of ' if took else ''}{duration(view.time.asked)} asked"
    hosts = [node.host for node in view.nodes]
    place = ", ".join(filter(None, [_partition(record.get("partition")), _hosts(hosts)]))
    name = _text(record.get("job.name"))
    parts = [view.job, name, _part(record), owner, view.state or "state unknown", took, place]
    return "  ".join(part for part in parts if part)


def _part(record: Document) -> str:
    if "job.array.task" in record:
        return f"task {record['job.array.task']} of array {record.get('job.array.id', '?')}"
    if "job.het.offset" in record:
        return f"part {record['job.het.offset']} of {record.get('job.het.id', '?')}"
    return ""


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _partition(value: object) -> str:
    return "" if value is None else f"{value} partition"


def _hosts(hosts: Sequence[str]) -> str:
    return ", ".join(hosts) if len(hosts) < 5 else f"{', '.join(hosts[:3])} … {len(hosts)} nodes"


def _profile(view: JobView, width: int) -> list[str]:
    """
    Sparklines, two a line where they fit beside each other.
    """
    seen = view.profile
    if len(seen.memory) < 2:
        return []
    drawn: list[tuple[str, Series, float | None]] = [
        ("CPU", seen.cores, view.cpu.asked),
        ("memory", seen.memory, None),
        *((card.name, card.series, 1.0) for card in view.cards[:PARTS]),
    ]
    longest = max(len(name) for name, _, _ in drawn)
    points = min(SPARK, max(8, width - longest - 3)) if width else SPARK
    parts = [f"{name} {sparkline(shrunk(series, points), top)}" for name, series, top in drawn]
    both = f"  {'   '.join(parts[:2])}"
    first = [both] if not width or len(both) <= width else [f"  {part}" for part in parts[:2]]
    return [*first, *(f"  {part}" for part in parts[2:]), ""]


def shrunk(series: Series, points: int = SPARK) -> list[float | None]:
    """
    SERIES as at most POINTS means; a point without any measurement stays a gap.
    """
    size = max(1, math.ceil(len(series) / points))
    found: list[float | None] = []
    for start in range(0, len(series), size):
        known = [value for value in series[start : start + size] if value is not None]
        found.append(sum(known) / len(known) if known else None)
    return found


def _advice(known: Advice) -> str:
    """
    Options at its end stand without a full stop, which nobody shall copy with them.
    """
    stop = "" if known.remedy.rpartition(" ")[2].startswith("--") else "."
    remedy = f" {known.remedy[:1].upper()}{known.remedy[1:]}{stop}" if known.remedy else ""
    return f"  • {known.text}{remedy}"


def _parts(view: JobView) -> list[str]:
    """
    Each node of several and each card, as far as they fit.
    """
    lines = []
    if len(view.nodes) > 1 and view.profile.samples:
        shown = view.nodes[:PARTS]
        longest = max(len(node.host) for node in shown)
        lines += [_node(node, longest) for node in shown]
        if len(view.nodes) > PARTS:
            lines.append(f"  and {counted(len(view.nodes) - PARTS, 'node')} more")
    names = [f"{card.host} {card.name}" for card in view.cards[:PARTS]]
    for name, card in zip(names, view.cards, strict=False):
        busy = "–" if card.mean is None else f"{100 * card.mean:.0f} %"
        memory = number(card.peak_memory, "bytes")
        place = f"  {name:{max(map(len, names))}}"
        lines.append(f"{place}{busy:>8} busy{memory:>6} GiB  {card.model or ''}".rstrip())
    if len(view.cards) > PARTS:
        lines.append(f"  and {counted(len(view.cards) - PARTS, 'card')} more")
    return [*lines, ""] if lines else []


def _node(node: Node, longest: int) -> str:
    place = f"  {node.host:{longest}}"
    if node.cores is None:
        return f"{place}  not sampled"
    if node.peak_memory is None:
        return f"{place}  no process of it was seen"
    memory = number(node.peak_memory, "bytes")
    return f"{place}{number(node.cores, 'hours'):>8} cores{memory:>8} GiB"


def _programs(view: JobView) -> str:
    if not view.programs:
        return "Programs: not sampled."
    shown = [
        f"{share.name or 'unmatched'} {100 * share.share:.0f} %"
        for share in view.programs[:5]
        if share.share is not None
    ]
    return f"Programs: {', '.join(shown) or 'no CPU time measured'}."


def _samples(view: JobView) -> str:
    seen = view.profile
    if not seen.samples:
        accounted = "No samples: figures are what the scheduler accounted."
        return accounted if view.start else "No samples."
    gaps = f"{view.missing:,} missing" if view.missing else "none missing"
    told = "" if view.record else " Not accounted (yet): nothing is known of what was asked."
    looks = f"{counted(seen.samples, 'sample')}, every {seen.interval:.0f} s, {gaps}."
    return f"{looks}{told}{_twice(view)}"


def _twice(view: JobView) -> str:
    """
    The core hours of an ended run by both measures: how far they are apart tells what was missed.
    """
    accounted = view.record.get("job.core_seconds.used")
    sampled = view.profile.core_seconds
    if view.running or sampled is None or not isinstance(accounted, int | float):
        return ""
    hours = number(sampled / 3600, "hours"), number(accounted / 3600, "hours")
    return f" {hours[0]} core hours in samples, {hours[1]} accounted."
