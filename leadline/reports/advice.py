"""
Plain advice on a job: what to ask for next time, as a command, and never without a measurement.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from leadline.render import number
from leadline.reports.job import JobView
from leadline.reports.job import number as number_of
from leadline.reports.settings import AdviceSettings

Severity = Literal["note", "red"]


@dataclass(frozen=True, slots=True)
class Advice:
    severity: Severity
    about: str  # cpu, gpu, memory or time
    text: str
    remedy: str  # a scheduler option, or empty


DEFAULT = AdviceSettings()
IDLE = 0.05  # cores: a node that kept fewer busy did nothing


def advise(view: JobView, limits: AdviceSettings = DEFAULT) -> list[Advice]:
    found = _ended(view)
    if view.wall is not None and view.wall >= limits.shortest:
        found += [*_gpu(view, limits), *_nodes(view, limits), *_cpu(view, limits)]
        found += [*_memory(view, limits), *_time(view, limits)]
    return sorted(found, key=lambda advice: advice.severity != "red")


def saw_enough(view: JobView, limits: AdviceSettings = DEFAULT) -> bool:
    """
    Whether samples know what the run needed at most, and what it never used.
    """
    seen = view.profile.watched >= limits.shortest and (view.covered or 0) >= limits.seen_share
    return seen and (view.agreed is None or view.agreed >= limits.seen_share)


def _ended(view: JobView) -> list[Advice]:
    """
    Why it was ended, where that was for want of something.
    """
    state = view.state or ""
    if state.startswith("OUT_OF_ME"):
        had = number(view.memory.asked, "bytes")
        text = f"It ran out of memory: {had} GiB were not enough."
        if view.memory.asked is None:
            text = "It ran out of memory."
        return [Advice("red", "memory", text, "ask for more, or for more nodes with less on each")]
    if state == "TIMEOUT":
        asked = number(view.time.asked, "seconds")
        text = f"It was ended at its time limit, {asked}."
        return [Advice("red", "time", text, "ask for more, or let it go on from where it was")]
    return []


def _gpu(view: JobView, limits: AdviceSettings) -> list[Advice]:
    asked = view.gpu.asked
    if not asked or view.gpu.share is None or view.gpu.peak is None:
        return []
    if (view.covered or 0) < limits.seen_share:
        return []
    used = int(view.gpu.peak)
    hours = (asked - used) * (view.wall or 0) / 3600
    if used == 0:
        freed = number(hours, "hours")
        text = f"No GPU was used: a job without GPUs would have freed {freed} GPU hours."
        return [Advice("red", "gpu", text, "leave --gpus out")]
    found = []
    if used < asked:
        text = (
            f"{used} of {asked:.0f} GPUs used: asking for no more would have freed"
            f" {number(hours, 'hours')} GPU hours."
        )
        found.append(Advice("red", "gpu", text, f"--gpus={used}"))
    busy = (view.gpu.mean or 0) / used
    if busy < limits.gpu_note:
        severity: Severity = "red" if busy <= limits.gpu_red else "note"
        text = (
            f"The GPUs used were busy {100 * busy:.0f} % of the time; often data comes too slowly."
        )
        found.append(Advice(severity, "gpu", text, ""))
    return found


def _nodes(view: JobView, limits: AdviceSettings) -> list[Advice]:
    idle = idle_nodes(view)
    if not idle or not saw_enough(view, limits):
        return []
    names = f"{', '.join(idle[:3])} …" if len(idle) > 3 else ", ".join(idle)
    text = f"{len(idle)} of {len(view.nodes)} nodes did nothing: {names}."
    remedy = f"--nodes={len(view.nodes) - len(idle)}, or start it on all with srun or mpirun"
    return [Advice("red", "cpu", text, remedy)]


def idle_nodes(view: JobView) -> list[str]:
    """
    Those of several on which next to nothing of it ran, while it did on others.
    """
    idle = [node.host for node in view.nodes if node.cores is not None and node.cores < IDLE]
    return idle if len(idle) < len(view.nodes) else []


def _cpu(view: JobView, limits: AdviceSettings) -> list[Advice]:
    asked, share, peak = view.cpu.asked, view.cpu.share, view.cpu.peak
    if not asked or share is None or share > limits.cpu_note or asked <= 1 or view.gpu.asked:
        return []
    enough = saw_enough(view, limits)
    idle = len(idle_nodes(view)) if enough else 0
    if idle and share * len(view.nodes) / (len(view.nodes) - idle) > limits.cpu_note:
        return []  # where it ran it was busy
    severity: Severity = "red" if share < limits.cpu_red else "note"
    mean = view.cpu.mean or 0.0
    if enough and peak is not None and peak < 1.5:
        text = f"One core of {asked:.0f} was used: the program ran serially."
        return [Advice("red", "cpu", text, "--ntasks=1 --cpus-per-task=1")]
    text = (
        f"{number(mean, 'hours')} of {asked:.0f} cores were busy on average ({100 * share:.0f} %)."
    )
    remedy = ""
    if enough and peak is not None and math.ceil(peak) < asked:
        remedy = f"{math.ceil(peak)} cores would have sufficed"
    return [Advice(severity, "cpu", text, remedy)]


def _memory(view: JobView, limits: AdviceSettings) -> list[Advice]:
    asked, peak, share = view.memory.asked, view.memory.peak, view.memory.share
    if asked is None or peak is None or share is None or share >= limits.memory_note:
        return []
    if view.running or (view.state or "").startswith("OUT_OF_ME"):
        return []
    accounted = number_of(view.record, "job.memory.peak.bytes") is not None
    accounted = accounted and view.record.get("job.memory.basis") != "virtual"
    if not accounted and not saw_enough(view, limits):
        return []
    wanted = max(1, math.ceil(peak * limits.head_room / 2**30))
    if wanted * 2**30 >= asked:
        return []
    text = f"{number(peak, 'bytes')} of {number(asked, 'bytes')} GiB were used at peak."
    return [Advice("note", "memory", text, _less_memory(view, limits))]


def _less_memory(view: JobView, limits: AdviceSettings) -> str:
    """
    Slurm asks memory per node: the node that held most decides.
    """
    count = view.record.get("job.node.count")
    most = max((node.peak_memory or 0 for node in view.nodes), default=0)
    if count != 1 and not saw_enough(view, limits):
        return ""
    if count == 1 or (not most and len(view.nodes) == 1):
        most = view.memory.peak or most
    if not most:
        return ""
    each = f" per node ({len(view.nodes)} nodes)" if len(view.nodes) > 1 else ""
    return f"--mem={max(1, math.ceil(most * limits.head_room / 2**30))}G{each} leaves room"


def _time(view: JobView, limits: AdviceSettings) -> list[Advice]:
    share = view.time.share
    if view.state != "COMPLETED" or share is None or share >= limits.time_note:
        return []
    severity: Severity = "red" if share <= limits.time_red else "note"
    asked = number(view.time.asked, "seconds")
    text = f"{number(view.wall, 'seconds')} of {asked} were needed."
    minutes = math.ceil((view.wall or 0) * limits.head_room / 60)
    remedy = f"--time={minutes // 60}:{minutes % 60:02d}:00 would have started sooner"
    return [Advice(severity, "time", text, remedy)]
