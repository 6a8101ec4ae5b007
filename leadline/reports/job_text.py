"""
The one-page summary of a job, as it is printed on a terminal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from leadline.render import bar, duration, number, paragraphs, sparkline
from leadline.reports.advice import Advice
from leadline.reports.job import JobView, Resource
from leadline.reports.profile import Series

SPARK = 32
PARTS = 8  # nodes and cards told one by one


def summary(view: JobView, advice: Sequence[Advice], width: int = 100) -> str:
    lines = [_head(view), "", *_resources(view, advice), "", *_profile(view)]
    if advice:
        lines += ["Advice", *(_advice(known) for known in advice)]
    elif view.wall is not None:
        lines.append("Nothing to advise.")
    lines += ["", *_parts(view), _programs(view), _samples(view)]
    if len(view.runs) > 1:
        others = ", ".join(run for run in view.runs if run != view.run)
        lines.append(f"Other runs of this id: {others} (--run shows one).")
    return paragraphs(lines, width)


def _head(view: JobView) -> str:
    record = view.record
    owner = " / ".join(filter(None, [view.user, _text(record.get("project"))])) or "user unknown"
    took = "" if view.wall is None else duration(view.wall)
    if view.time.asked:
        took += f" of {duration(view.time.asked)} asked"
    hosts = [node.host for node in view.nodes]
    place = ", ".join(filter(None, [_partition(record.get("partition")), _hosts(hosts)]))
    name = _text(record.get("job.name"))
    parts = [view.job, name, owner, view.state or "state unknown", took, place]
    return "  ".join(part for part in parts if part)


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _partition(value: object) -> str:
    return "" if value is None else f"{value} partition"


def _hosts(hosts: Sequence[str]) -> str:
    return ", ".join(hosts) if len(hosts) < 5 else f"{', '.join(hosts[:3])} … {len(hosts)} nodes"


def _resources(view: JobView, advice: Sequence[Advice]) -> list[str]:
    noted = {known.about for known in advice}
    lines = [f"{'':10}{'asked':>13}{'used at peak':>14}{'mean':>9}"]
    rows = [
        ("CPU", view.cpu, "cpu", lambda value: number(value, "hours"), " cores"),
        ("memory", view.memory, "memory", lambda value: number(value, "bytes"), " GiB"),
        ("GPU", view.gpu, "gpu", lambda value: number(value, "hours"), ""),
        ("time", view.time, "time", duration, ""),
    ]
    for title, resource, about, write, unit in rows:
        if resource.known:
            lines.append(_resource(title, resource, write, unit, see=about in noted))
    return lines


def _resource(title: str, known: Resource, write, unit: str, *, see: bool) -> str:  # type: ignore[no-untyped-def]
    def cell(value: float | None, with_unit: bool = False) -> str:
        if value is None:
            return "–"
        return write(value) + (unit if with_unit else "")  # type: ignore[no-any-return]

    cells = f"{cell(known.asked, True):>13}{cell(known.peak):>14}{cell(known.mean):>9}"
    share = "  not measured"
    if known.share is not None:
        share = f"  {bar(known.share, 12):12} {100 * known.share:3.0f} %"
    return f"  {title:8}{cells}{share}{'  see advice' if see else ''}".rstrip()


def _profile(view: JobView) -> list[str]:
    seen = view.profile
    if len(seen.memory) < 2:
        return []
    parts = [f"CPU {sparkline(shrunk(seen.cores), view.cpu.asked)}"]
    parts.append(f"memory {sparkline(shrunk(seen.memory))}")
    parts += [f"{card.name} {sparkline(shrunk(card.series), 1.0)}" for card in view.cards[:8]]
    return [f"  {'   '.join(parts[:2])}", *(f"  {part}" for part in parts[2:]), ""]


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
    remedy = f" {known.remedy[:1].upper()}{known.remedy[1:]}." if known.remedy else ""
    return f"  • {known.text}{remedy}"


def _parts(view: JobView) -> list[str]:
    """
    Each node of several and each card, as far as they fit.
    """
    lines = []
    if len(view.nodes) > 1:
        for node in view.nodes[:PARTS]:
            memory = number(node.peak_memory, "bytes")
            lines.append(f"  {node.host:16}{number(node.cores, 'hours'):>8} cores{memory:>8} GiB")
        if len(view.nodes) > PARTS:
            lines.append(f"  and {len(view.nodes) - PARTS} nodes more")
    for card in view.cards[:PARTS]:
        busy = "–" if card.mean is None else f"{100 * card.mean:.0f} %"
        memory = number(card.peak_memory, "bytes")
        name = f"{card.host} {card.name}"
        lines.append(f"  {name:16}{busy:>8} busy {memory:>8} GiB  {card.model or ''}".rstrip())
    return [*lines, ""] if lines else []


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
        return "No samples: figures are what the scheduler accounted."
    gaps = f"{seen.missing:,} missing" if seen.missing else "none missing"
    told = "" if view.record else " Not accounted (yet): nothing is known of what was asked."
    return f"{seen.samples:,} samples, every {seen.interval:.0f} s, {gaps}.{told}{_twice(view)}"


def _twice(view: JobView) -> str:
    """
    The core hours of an ended run by both measures: how far they are apart tells what was missed.
    """
    accounted = view.record.get("job.core_seconds.used")
    known = [cores for cores in view.profile.cores if cores is not None]
    if view.running or not known or not isinstance(accounted, int | float):
        return ""
    sampled = sum(known) * view.profile.interval / 3600
    return f" {sampled:.2f} core hours in samples, {accounted / 3600:.2f} accounted."
