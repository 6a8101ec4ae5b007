"""
Measures on hourly capacity: what nodes could have done, and how much of it was done.

Nodes without a job and clusters without a user are in it like any other. Time a node was down or
drained is lost capacity; time when nobody looked is in no figure, and the answer says how much.
"""

from __future__ import annotations

from leadline.query.measure import Measure, Parts, part, per_hour, percent
from leadline.store.plan import Condition, Function, Op

NODES = (Condition("gpu.model", Op.MISSING),)
CARDS = (Condition("gpu.model", Op.EXISTS),)


def _hours(
    name: str, title: str, field: str, sentence: str, where: tuple[Condition, ...] = NODES
) -> Measure:
    return Measure(
        name=name,
        title=title,
        unit="hours",
        formula=f"Σ {field} / 3600",
        sentence=sentence,
        dataset="capacity",
        parts=(part(Function.SUM, field),),
        value=per_hour,
        where=where,
        adds=True,
    )


def _share(
    name: str,
    title: str,
    over: str,
    under: tuple[str, ...],
    sentence: str,
    where: tuple[Condition, ...] = NODES,
) -> Measure:
    return Measure(
        name=name,
        title=title,
        unit="percent",
        formula=f"100 × Σ {over} / Σ ({' + '.join(under)})",
        sentence=sentence,
        dataset="capacity",
        parts=(part(Function.SUM, over), *(part(Function.SUM, field) for field in under)),
        value=_of_all,
        where=where,
    )


def _of_all(parts: Parts) -> float | None:
    """
    The first of the sum of the others; nothing watched is not measured.
    """
    if parts[1] is None:
        return None
    return percent((parts[0], sum(known for known in parts[1:] if known is not None)))


def _kwh(parts: Parts) -> float | None:
    return None if parts[0] is None else parts[0] / 3_600_000


def _allocation(name: str, title: str, over: str, under: str, what: str) -> Measure:
    return Measure(
        name=name,
        title=title,
        unit="percent",
        formula=f"100 × {over} / {under}",
        sentence=f"{what} hours that schedulers gave, of those that nodes were up for.",
        dataset="capacity",
        parts=(),
        value=percent,
        of=(over, under),
    )


UTILISED: tuple[Measure, ...] = (
    _hours(
        "core_hours_capacity",
        "core hours up",
        "core_seconds_capacity",
        "Cores times the time their nodes were up, used or not.",
    ),
    _hours(
        "core_hours_lost",
        "core hours lost",
        "core_seconds_lost",
        "Cores times the time their nodes were down or drained.",
    ),
    _hours(
        "gpu_hours_capacity",
        "GPU hours up",
        "gpu_seconds_capacity",
        "Cards times the time their nodes were up, used or not.",
        CARDS,
    ),
    _hours(
        "gpu_hours_lost",
        "GPU hours lost",
        "gpu_seconds_lost",
        "Cards times the time their nodes were down or drained.",
        CARDS,
    ),
    *(
        _hours(
            f"node_hours_{state}",
            f"node hours {state}",
            f"seconds.{state}",
            f"Hours nodes were {said}.",
        )
        for state, said in (
            ("up", "up"),
            ("down", "down"),
            ("drained", "drained: up, not to be used"),
            ("unknown", "not asked about: nobody looked"),
        )
    ),
    _share(
        "availability",
        "availability",
        "seconds.up",
        ("seconds.up", "seconds.down", "seconds.drained"),
        "Time nodes were up, of the time anybody knows about.",
    ),
    _share(
        "cpu_utilisation",
        "CPU utilisation",
        "core_seconds",
        ("core_seconds_watched",),
        "Busy cores of all cores of nodes that were running and sampled, idle ones too.",
    ),
    _share(
        "cpu_utilisation_installed",
        "CPU utilisation of what is installed",
        "core_seconds",
        ("core_seconds_watched", "core_seconds_lost"),
        "The same, with the time nodes were down or drained counted as not used.",
    ),
    _share(
        "gpu_utilisation",
        "GPU utilisation",
        "gpu_seconds",
        ("gpu_seconds_watched",),
        "Busy cards of all cards of nodes that were running and sampled, idle ones too.",
        CARDS,
    ),
    _share(
        "gpu_utilisation_installed",
        "GPU utilisation of what is installed",
        "gpu_seconds",
        ("gpu_seconds_watched", "gpu_seconds_lost"),
        "The same, with the time nodes were down or drained counted as not used.",
        CARDS,
    ),
    _share(
        "memory_utilisation",
        "memory utilisation",
        "memory.byte_seconds",
        ("memory.byte_seconds_watched",),
        "Memory in use of all memory of nodes that were running and sampled.",
    ),
    _allocation(
        "core_allocation", "cores allocated", "core_hours_allocated", "core_hours_capacity", "Core"
    ),
    _allocation(
        "gpu_allocation", "GPUs allocated", "gpu_hours_allocated", "gpu_hours_capacity", "GPU"
    ),
    Measure(
        name="gpu_energy",
        title="energy of GPUs",
        unit="kWh",
        formula="Σ energy.joules / 3,600,000",
        sentence="Energy that cards used, whoever had them, where they tell.",
        dataset="capacity",
        parts=(part(Function.SUM, "energy.joules"),),
        value=_kwh,
        where=CARDS,
        adds=True,
    ),
)
