"""
Every measure a second time: from documents, in plain Python, without a look at leadline.query.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from leadline.formats import Document

Number = float | None
Value = Callable[[list[Document]], Number]
Keep = Callable[[Document], bool]
HOUR, KWH = 3600.0, 3_600_000.0
RUNNING = "from job.start to job.end"
OF = {
    "core_allocation": ("core_hours_allocated", "core_hours_capacity"),
    "gpu_allocation": ("gpu_hours_allocated", "gpu_hours_capacity"),
}


def _every(document: Document) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Formula:
    dataset: str
    value: Value
    time: str = "@timestamp"
    keep: Keep = _every


def values(documents: Iterable[Document], field: str) -> list[Any]:
    return [d[field] for d in documents if field in d]


def total(field: str, per: float = 1.0) -> Value:
    def value(documents: list[Document]) -> Number:
        found = values(documents, field)
        return math.fsum(found) / per if found else None

    return value


def distinct(field: str) -> Value:
    return lambda documents: len(set(values(documents, field)))


def greatest(field: str, choose: Callable[[list[float]], float] = max) -> Value:
    return lambda documents: choose(found) if (found := values(documents, field)) else None


def mean(field: str) -> Value:
    return greatest(field, lambda found: math.fsum(found) / len(found))


def at(field: str, percent: int) -> Value:
    """
    The least value that PERCENT of them do not exceed.
    """
    return greatest(field, lambda found: sorted(found)[-(-len(found) * percent // 100) - 1])


def of_both(
    over: str, under: str, join: Callable[[float, float], Number], keep: Keep = _every
) -> Value:
    """
    Sums over documents that have both fields.
    """

    def value(documents: list[Document]) -> Number:
        both = [d for d in documents if over in d and under in d and keep(d)]
        return join(total(over)(both) or 0.0, total(under)(both) or 0.0) if both else None

    return value


def share(over: str, under: Sequence[str], *, needs: str = "") -> Value:
    def value(documents: list[Document]) -> Number:
        part, whole = (
            total(over)(documents),
            math.fsum(v for f in under for v in values(documents, f)),
        )
        if part is None or not whole or (needs and not values(documents, needs)):
            return None
        return 100 * part / whole

    return value


def _percent(over: float, under: float) -> Number:
    return 100 * over / under if under else None


def _processes(documents: list[Document]) -> Number:
    return math.fsum(float(str(d.get("process.count", 1))) for d in documents)


def _ended(document: Document) -> bool:
    return "job.end" in document and document.get("provisional") is not True


def _started(document: Document) -> bool:
    return "job.start" in document


def _real_peak(document: Document) -> bool:
    return document.get("job.memory.basis") != "virtual"


def _of_cards(document: Document) -> bool:
    return "gpu.model" in document


def _of_nodes(document: Document) -> bool:
    return "gpu.model" not in document


def count(documents: list[Document]) -> Number:
    return len(documents)


def _samples() -> Iterator[tuple[str, Formula]]:
    named = {
        "core_hours_used": total("core_seconds", HOUR),
        "gpu_hours_busy": total("gpu_seconds", HOUR),
        "gpu_hours_held": total("gpu_held_seconds", HOUR),
        "memory_mean": mean("memory.rss.bytes"),
        "memory_max": greatest("memory.rss.bytes"),
        "samples": count,
        "processes_sampled": _processes,
        "processes": distinct("process.entity_id"),
        "users": distinct("user.name"),
        "groups": distinct("user.group"),
        "projects": distinct("project"),
        "hosts": distinct("host.name"),
        "programs": distinct("program.name"),
        "jobs_sampled": distinct("job.id"),
        "io_read": total("io.read.bytes"),
        "io_write": total("io.write.bytes"),
        "gpu_memory_max": greatest("gpu.memory.bytes"),
        "system_share": share("core_seconds_system", ("core_seconds_user", "core_seconds_system")),
        **{
            f"memory_{name}": at("memory.rss.bytes", percent)
            for name, percent in (
                ("p25", 25),
                ("median", 50),
                ("p75", 75),
                ("p90", 90),
                ("p99", 99),
            )
        },
    }
    yield from ((name, Formula("process", value)) for name, value in named.items())
    yield "core_hours_counted", Formula("job_cgroup", total("core_seconds", HOUR))


def _accounted() -> Iterator[tuple[str, Formula]]:
    for name, field in (
        ("wall_hours", "wall.seconds"),
        ("core_hours_allocated", "core_seconds_allocated"),
        ("core_hours_accounted", "core_seconds_used"),
        ("gpu_hours_allocated", "gpu_seconds_allocated"),
    ):
        yield name, Formula("job_slice", total(field, HOUR))
    for name, field, time, keep in (
        ("run_time", "job.wall.seconds", "job.end", _ended),
        ("wait", "job.wait.seconds", "job.start", _started),
        ("wait_eligible", "job.wait_eligible.seconds", "job.start", _started),
    ):
        spread = {"mean": mean(field), "median": at(field, 50), "p90": at(field, 90)}
        spread |= {"min": greatest(field, min), "max": greatest(field)}
        yield from ((f"{name}_{at}", Formula("job", v, time, keep)) for at, v in spread.items())
    yield "jobs_running", Formula("job", count, RUNNING, _started)
    yield "jobs_started", Formula("job", count, "job.start", _started)
    yield "jobs_submitted", Formula("job", count, "@timestamp", lambda d: "job.submit" in d)
    allocated, used = "job.core_seconds.allocated", "job.core_seconds.used"
    cards, busy = "job.gpu_seconds.allocated", "job.gpu_seconds.busy"
    peak, asked = "job.memory.peak.bytes", "job.asked.memory.bytes"
    named = {
        "jobs": count,
        "expansion_factor": of_both(
            "job.wait.seconds", "job.wall.seconds", lambda w, r: 1 + w / r if r else None
        ),
        "cpu_efficiency": of_both(used, allocated, _percent),
        "gpu_efficiency": of_both(busy, cards, _percent),
        "memory_efficiency": of_both(peak, asked, _percent, _real_peak),
        "time_efficiency": of_both("job.wall.seconds", "job.limit.seconds", _percent),
        "job_system_share": of_both("job.core_seconds.system", used, _percent),
        "core_hours_wasted": of_both(allocated, used, lambda a, u: (a - u) / HOUR),
        "gpu_hours_wasted": of_both(cards, busy, lambda a, u: (a - u) / HOUR),
        "job_memory_mean": lambda found: mean(peak)([d for d in found if _real_peak(d)]),
        "job_memory_max": lambda found: greatest(peak)([d for d in found if _real_peak(d)]),
        "core_hours_ended": total(allocated, HOUR),
        "gpu_hours_ended": total(cards, HOUR),
        "job_io_read": total("job.io.read.bytes"),
        "job_io_write": total("job.io.write.bytes"),
        "job_users": distinct("user.name"),
        "job_projects": distinct("project"),
        "energy": total("job.energy.joules", KWH),
    }
    yield from ((name, Formula("job", v, "job.end", _ended)) for name, v in named.items())


def _utilised() -> Iterator[tuple[str, Formula]]:
    up, down, drained = "seconds.up", "seconds.down", "seconds.drained"
    nodes = {
        "core_hours_capacity": total("core_seconds_capacity", HOUR),
        "core_hours_lost": total("core_seconds_lost", HOUR),
        **{f"node_hours_{s}": total(f"seconds.{s}", HOUR) for s in ("up", "down", "drained")},
        "node_hours_unknown": total("seconds.unknown", HOUR),
        "availability": share(up, (up, down, drained), needs=up),
        "memory_utilisation": share("memory.byte_seconds", ("memory.byte_seconds_watched",)),
    }
    cards = {
        "gpu_hours_capacity": total("gpu_seconds_capacity", HOUR),
        "gpu_hours_lost": total("gpu_seconds_lost", HOUR),
        "gpu_energy": total("energy.joules", KWH),
    }
    for named, what, where in ((nodes, "core", "cpu"), (cards, "gpu", "gpu")):
        whole = f"{what}_seconds_watched"
        named[f"{where}_utilisation"] = share(f"{what}_seconds", (whole,))
        named[f"{where}_utilisation_installed"] = share(
            f"{what}_seconds", (whole, f"{what}_seconds_lost"), needs=whole
        )
    yield from ((n, Formula("capacity", v, keep=_of_nodes)) for n, v in nodes.items())
    yield from ((n, Formula("capacity", v, keep=_of_cards)) for n, v in cards.items())


FORMULAS: dict[str, Formula] = dict([*_samples(), *_accounted(), *_utilised()])
BY_CARD = {
    "gpu_hours_busy": Formula("process_gpu", total("gpu_seconds", HOUR)),
    "gpu_hours_held": Formula("process_gpu", total("interval.seconds", HOUR)),
}
