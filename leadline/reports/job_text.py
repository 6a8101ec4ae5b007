"""
The one-page summary of a job, as it is printed on a terminal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo

from leadline.formats import Document
from leadline.render import bar, duration, number, paragraphs, sparkline
from leadline.reports.advice import DEFAULT, Advice, saw_enough
from leadline.reports.job import JobView, Resource
from leadline.reports.job_cards import Series
from leadline.reports.job_runs import moment
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
    lines = [_head(view), _times(view, zone), "", *_resources(view, advice), "", *_profile(view)]
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
    known = f"{100 * (view.covered or 0):.0f} % of its time"
    if view.agreed is not None:
        known += f", {100 * view.agreed:.0f} % of its CPU time"
    if view.profile.samples:
        return f"Samples saw {known}: too little to say what would have sufficed."
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
        took += f" of {duration(view.time.asked)} asked"
    took = took.strip()
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


def _resources(view: JobView, advice: Sequence[Advice]) -> list[str]:
    noted = {known.about for known in advice}
    lines = [f"{'':10}{'asked':>13}{'used at peak':>14}{'mean':>9}"]
    asked = (
        "–" if view.cpu.asked is None else f"{number(view.cpu.asked)} {_cores(view.cpu.asked)}",
        "–" if view.memory.asked is None else f"{number(view.memory.asked, 'bytes')} GiB",
        _cards(view),
        "–" if view.time.asked is None else duration(view.time.asked),
    )
    rows: tuple[tuple[str, Resource, str, str], ...] = (
        ("CPU", view.cpu, number(view.cpu.peak, "hours"), number(view.cpu.mean, "hours")),
        ("memory", view.memory, _gib(view.memory.peak), _gib(view.memory.mean)),
        ("GPU", view.gpu, number(view.gpu.peak), number(view.gpu.mean, "hours")),
        ("time", view.time, "–" if view.time.peak is None else duration(view.time.peak), "–"),
    )
    for told, (title, resource, peak, mean) in zip(asked, rows, strict=True):
        if resource.known:
            line = f"  {title:8}{told:>13}{peak:>14}{mean:>9}{_share(resource, view)}"
            lines.append(line + ("  see advice" if title.lower() in noted else ""))
    return lines


def _gib(value: float | None) -> str:
    return number(value, "bytes")


def _cores(count: float) -> str:
    return "core" if count == 1 else "cores"


def _cards(view: JobView) -> str:
    """
    2 × A100, where one model was seen.
    """
    if view.gpu.asked is None:
        return "–"
    models = {card.model for card in view.cards}
    model = models.pop() if len(models) == 1 else None
    shown = f"{number(view.gpu.asked)} × {model}"
    return shown if model and len(shown) <= 13 else number(view.gpu.asked)


def _share(known: Resource, view: JobView) -> str:
    if known.share is not None:
        return f"  {bar(known.share, 12):12} {100 * known.share:3.0f} %"
    if view.record and view.start is None:
        return ""
    return "  asked: not known" if known.asked is None else "  not measured"


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
    if len(view.nodes) > 1 and view.profile.samples:
        for node in view.nodes[:PARTS]:
            lines.append(_node(node))
        if len(view.nodes) > PARTS:
            lines.append(f"  and {len(view.nodes) - PARTS} nodes more")
    for card in view.cards[:PARTS]:
        busy = "–" if card.mean is None else f"{100 * card.mean:.0f} %"
        memory = number(card.peak_memory, "bytes")
        name = f"{card.host} {card.name}"
        lines.append(f"  {name:16}{busy:>8} busy {memory:>8} GiB  {card.model or ''}".rstrip())
    return [*lines, ""] if lines else []


def _node(node: Node) -> str:
    if node.cores is None:
        return f"  {node.host:16} not sampled"
    if node.peak_memory is None:
        return f"  {node.host:16} no process of it was seen"
    memory = number(node.peak_memory, "bytes")
    return f"  {node.host:16}{number(node.cores, 'hours'):>8} cores{memory:>8} GiB"


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
    return f"{seen.samples:,} samples, every {seen.interval:.0f} s, {gaps}.{told}{_twice(view)}"


def _twice(view: JobView) -> str:
    """
    The core hours of an ended run by both measures: how far they are apart tells what was missed.
    """
    accounted = view.record.get("job.core_seconds.used")
    sampled = view.profile.core_seconds
    if view.running or sampled is None or not isinstance(accounted, int | float):
        return ""
    return f" {sampled / 3600:.2f} core hours in samples, {accounted / 3600:.2f} accounted."
