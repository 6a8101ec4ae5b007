"""
Will a job scale? What it really used of what it and its nodes had, what limits it, how sure that
is, and what would have sufficed. Of what was not measured nothing is said, except that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from leadline.reports.advice import DEFAULT
from leadline.reports.enough import enough_cores, enough_memory, saw_enough
from leadline.reports.job import JobView
from leadline.reports.job_cards import Series
from leadline.reports.scale_facts import Machine, Size, machine, sizes
from leadline.reports.scale_limits import (
    FEW,
    HIGH,
    NOTHING,
    SERIAL_TIME,
    Limit,
    Use,
    Verdict,
    judged,
    known,
    serial,
)
from leadline.reports.settings import AdviceSettings
from leadline.store.contract import Store
from leadline.store.scope import Scope

Sure = Literal["sure", "likely", "a guess"]

MANY = 30  # intervals: from so many on it is sure
GAPS = 0.1  # of the intervals may be missing before that costs certainty


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    job: str
    run: str | None
    uses: tuple[Use, ...]
    limit: Limit
    sentence: str
    sure: Sure | None  # None: nothing can be said
    evidence: tuple[str, ...]
    would_help: tuple[str, ...]
    speedup: float | None  # at most, however many cores there were, by its serial parts
    sizes: tuple[Size, ...]  # other runs of the same name and user, by cores
    missing: tuple[str, ...]  # what was not measured, so that nothing is said of it


def scale(store: Store, scope: Scope, view: JobView, limits: AdviceSettings = DEFAULT) -> Scale:
    """
    From the job's profile, its nodes, and other runs of the same name.
    """
    had = machine(store, scope, view)
    uses = (_cores(view, had, limits), _memory(view, had, limits), _gpus(view))
    missing = _missing(view, uses, had)
    told = sizes(store, scope, view)
    verdict, sure = NOTHING, None
    if view.profile.watched >= limits.shortest and (view.wall or 0) >= limits.shortest:
        verdict = judged(view, uses, had, told, enough=saw_enough(view, limits))
        if verdict.limit != "not measured":
            sure = _sure(view, verdict)
    return Scale(
        job=view.job,
        run=view.run,
        uses=tuple(use for use in uses if use.had is not None or use.mean is not None),
        limit=verdict.limit,
        sentence=verdict.sentence,
        sure=sure,
        evidence=verdict.evidence,
        would_help=verdict.would_help,
        speedup=_speedup(view, uses[0]) if sure else None,
        sizes=told,
        missing=missing,
    )


def _usual(series: Series) -> float | None:
    """
    95 % of the time no more: a single spike does not count.
    """
    values = known(series)
    return values[min(len(values) - 1, math.floor(0.95 * len(values)))] if values else None


def _full(series: Series, had: float | None) -> float | None:
    values = known(series)
    return sum(v >= HIGH * had for v in values) / len(values) if values and had else None


def _cores(view: JobView, had: Machine, limits: AdviceSettings) -> Use:
    series = view.profile.cores
    cores = view.cpu.asked or (had.cores if had.alone else None)
    enough = enough_cores(view, limits)
    return Use(
        name="cores",
        unit="hours",
        had=cores,
        fitted=had.cores,
        mean=None if view.profile.mean(series) is None else view.cpu.mean,
        usual=_usual(series),
        peak=view.cpu.peak,
        full=_full(series, cores),
        sufficed=None if enough is None else float(enough),
    )


def _memory(view: JobView, had: Machine, limits: AdviceSettings) -> Use:
    series = view.profile.memory
    memory = view.memory.asked or (had.memory if had.alone else None)
    return Use(
        name="memory",
        unit="bytes",
        had=memory,
        fitted=had.memory,
        mean=view.profile.mean(series),
        usual=_usual(series),
        peak=view.memory.peak,
        full=_full(series, memory),
        sufficed=enough_memory(view, limits),
    )


def _gpus(view: JobView) -> Use:
    """
    Mean and greatest use of all the job's cards together: 2 is two cards, busy all the time.
    """
    had = view.gpu.asked or (float(len(view.cards)) or None)
    measured = view.gpu.peak is not None
    ticks = [
        sum(values) if (values := [v for v in tick if v is not None]) else None
        for tick in zip(*(card.series for card in view.cards), strict=False)
    ]
    return Use(
        name="GPUs",
        unit="hours",
        had=had,
        mean=view.gpu.mean if measured else None,
        usual=_usual(tuple(ticks)),
        peak=view.profile.peak(tuple(ticks)),
        full=_full(tuple(ticks), had),
        sufficed=view.gpu.peak,  # cards that were used at all
    )


def _missing(view: JobView, uses: Sequence[Use], had: Machine) -> tuple[str, ...]:
    cores, memory, gpus = uses
    found = []
    if cores.mean is None:
        found.append("CPU use")
    elif cores.had is None:
        found.append("cores the job had")
    if memory.peak is None:
        found.append("memory use")
    elif memory.had is None:
        found.append("memory the job had")
    if gpus.had and gpus.mean is None:
        found.append("GPU use")
    if had.waiting is None and had.pressure is None and had.disk is None:
        found.append("waiting for I/O")
    elif had.waiting is None and not had.alone:
        found.append("waiting for I/O (its nodes were shared)")
    found.append("memory bandwidth")
    return (*found, "messages between its nodes") if len(view.nodes) > 1 else tuple(found)


def _speedup(view: JobView, cores: Use) -> float | None:
    """
    Amdahl's bound by the share of the time on one core; of a serial run nothing is left to gain.
    """
    share = serial(view.profile.cores)
    return 1 / share if share and cores.had is not None and share >= SERIAL_TIME else None


def _sure(view: JobView, verdict: Verdict) -> Sure:
    """
    By how long it was seen and how clear it was, of which other runs may be a part.
    """
    seen = sum(value is not None for value in view.profile.memory)
    gaps = view.profile.missing / max(1, seen + view.profile.missing)
    if verdict.limit == "memory" and (view.state or "").startswith("OUT_OF_ME"):
        return "sure"
    if seen < FEW:
        return "a guess"
    if seen >= MANY and gaps <= GAPS and verdict.clear:
        return "sure"
    return "likely" if verdict.clear or verdict.limit == "cores" else "a guess"
