"""
Every measure in one table: name, unit, formula, sentence, and the sums it is made from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches

from leadline.errors import QuestionError
from leadline.query.accounted import ACCOUNTED
from leadline.query.measure import (
    Measure,
    Parts,
    part,
    per_hour,
    percent,
    ratio,
    same,
    summed,
)
from leadline.query.utilised import UTILISED
from leadline.store.plan import Condition, Function, Op


def _hours(name: str, title: str, field: str, sentence: str, by_card: str = "") -> Measure:
    found = Measure(
        name=name,
        title=title,
        unit="hours",
        formula=f"Σ {field} / 3600",
        sentence=sentence,
        dataset="process",
        parts=(part(Function.SUM, field),),
        value=per_hour,
        adds=True,
    )
    return replace(found, cards=_card_by_card(found, by_card)) if by_card else found


def _card_by_card(known: Measure, field: str) -> Measure:
    """
    The same told by the documents of processes on cards, which know the card.
    """
    parts = tuple(replace(each, field=field) for each in known.parts)
    return replace(known, dataset="process_gpu", parts=parts)


def _distinct(
    name: str, title: str, field: str, sentence: str, dataset: str = "process"
) -> Measure:
    return Measure(
        name=name,
        title=title,
        unit="",
        formula=f"distinct {field}",
        sentence=sentence,
        dataset=dataset,
        parts=(part(Function.DISTINCT, field),),
        value=same,
    )


def _summed(name: str, title: str, field: str, unit: str, sentence: str) -> Measure:
    return Measure(
        name=name,
        title=title,
        unit=unit,
        formula=f"Σ {field}",
        sentence=sentence,
        dataset="process",
        parts=(part(Function.SUM, field),),
        value=same,
        adds=True,
    )


def _share(name: str, title: str, over: str, under: Sequence[str], sentence: str) -> Measure:
    whole = tuple(part(Function.SUM, field) for field in under)

    def value(parts: Parts) -> float | None:
        known = [number for number in parts[1:] if number is not None]
        return percent((parts[0], math.fsum(known)))

    return Measure(
        name=name,
        title=title,
        unit="percent",
        formula=f"100 × Σ {over} / Σ ({' + '.join(under)})",
        sentence=sentence,
        dataset="process",
        parts=(part(Function.SUM, over), *whole),
        value=value,
    )


def _rss(name: str, title: str, at: float) -> Measure:
    return Measure(
        name=name,
        title=title,
        unit="bytes",
        formula=f"percentile {at:g} of memory.rss.bytes",
        sentence=f"{at:g} % of the samples have no more resident memory than this.",
        dataset="process",
        parts=(part(Function.PERCENTILE, "memory.rss.bytes", percent=at),),
        value=same,
        approximate=True,
    )


SAMPLED: tuple[Measure, ...] = (
    _hours(
        "core_hours_used",
        "core hours used",
        "core_seconds",
        "CPU time that sampled processes used; one core busy for an hour is one.",
    ),
    replace(
        _hours(
            "core_hours_counted",
            "core hours counted",
            "core_seconds",
            "CPU time the kernel counted for jobs' control groups, short-lived processes included.",
        ),
        dataset="job_cgroup",
    ),
    _hours(
        "gpu_hours_busy",
        "GPU hours busy",
        "gpu_seconds",
        "Utilisation times time; a card half busy for two hours is one.",
        "gpu_seconds",
    ),
    _hours(
        "gpu_hours_held",
        "GPU hours held",
        "gpu_held_seconds",
        "Time a process had a card open, busy or not.",
        "interval.seconds",
    ),
    Measure(
        name="memory_mean",
        title="mean memory",
        unit="bytes",
        formula="Σ memory.rss.bytes / samples that have it",
        sentence="Resident memory of a sample, the mean over samples.",
        dataset="process",
        parts=(
            part(Function.SUM, "memory.rss.bytes"),
            part(Function.COUNT, "memory.rss.bytes"),
        ),
        value=ratio,
    ),
    Measure(
        name="memory_max",
        title="max memory",
        unit="bytes",
        formula="max memory.rss.bytes",
        sentence="The greatest resident memory of one sample.",
        dataset="process",
        parts=(part(Function.MAX, "memory.rss.bytes"),),
        value=same,
    ),
    _rss("memory_p25", "memory, 25 %", 25),
    _rss("memory_median", "median memory", 50),
    _rss("memory_p75", "memory, 75 %", 75),
    _rss("memory_p90", "memory, 90 %", 90),
    _rss("memory_p99", "memory, 99 %", 99),
    Measure(
        name="samples",
        title="samples",
        unit="",
        formula="number of process documents",
        sentence="How many times a process, or a roll-up of like ones, was seen.",
        dataset="process",
        parts=(part(Function.COUNT),),
        value=same,
        adds=True,
    ),
    Measure(
        name="processes_sampled",
        title="processes sampled",
        unit="",
        formula="Σ process.count, 1 where it is absent",
        sentence="Processes summed over samples; a roll-up counts what it merged.",
        dataset="process",
        parts=(
            part(Function.SUM, "process.count"),
            part(Function.COUNT, "", Condition("process.count", Op.MISSING)),
        ),
        value=summed,
        adds=True,
    ),
    _distinct(
        "processes",
        "processes",
        "process.entity_id",
        "Distinct processes seen; a roll-up of like ones counts once.",
    ),
    _distinct("users", "users", "user.name", "Distinct users seen."),
    _distinct("groups", "groups", "user.group", "Distinct groups seen."),
    _distinct("projects", "projects", "project", "Distinct projects seen."),
    _distinct("hosts", "nodes", "host.name", "Distinct nodes seen."),
    _distinct("programs", "programs", "program.name", "Distinct programs that rules name."),
    _distinct("jobs_sampled", "jobs seen", "job.id", "Distinct jobs seen in samples."),
    _summed("io_read", "read", "io.read.bytes", "bytes", "Bytes read from storage."),
    _summed("io_write", "written", "io.write.bytes", "bytes", "Bytes written to storage."),
    _share(
        "system_share",
        "system CPU",
        "core_seconds_system",
        ("core_seconds_user", "core_seconds_system"),
        "The part of CPU time spent in the kernel, where the two are told apart.",
    ),
    Measure(
        name="gpu_memory_max",
        title="max GPU memory",
        unit="bytes",
        formula="max gpu.memory.bytes",
        sentence="The greatest GPU memory of one sample, all its cards together.",
        dataset="process",
        parts=(part(Function.MAX, "gpu.memory.bytes"),),
        value=same,
    ),
)

MEASURES: tuple[Measure, ...] = (*SAMPLED, *ACCOUNTED, *UTILISED)
BY_NAME = {measure.name: measure for measure in MEASURES}
ALIASES = {"core_hours": "core_hours_used", "gpu_hours": "gpu_hours_busy", "nodes": "hosts"}
ALIASES |= {"utilisation": "cpu_utilisation", "utilization": "cpu_utilisation"}


def measure(name: str) -> Measure:
    found = BY_NAME.get(name) or BY_NAME.get(ALIASES.get(name, ""))
    if found is None:
        near = get_close_matches(name, BY_NAME, 1)
        hint = f"do you mean {near[0]}?" if near else "`leadline usage --list` names all"
        raise QuestionError(f"no measure {name!r}: {hint}")
    return found
