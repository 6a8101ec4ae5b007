"""
Plain advice on a job: what to ask for next time, as a command, and never without a measurement.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from leadline.formats import Document
from leadline.render import number
from leadline.reports.enough import enough_cores, enough_memory, memory_each, saw_enough
from leadline.reports.job import JobView
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
    return [Advice("red", "cpu", text, fewer_nodes(view.record, len(view.nodes) - len(idle)))]


def fewer_nodes(record: Document, nodes: int) -> str:
    if record.get("job.scheduler") == "sge":
        return "ask for fewer slots, or start it on all with mpirun"
    return f"--nodes={nodes}, or start it on all with srun or mpirun"


def idle_nodes(view: JobView) -> list[str]:
    """
    Those of several on which next to nothing of it ran, while it did on others.
    """
    idle = [node.host for node in view.nodes if node.cores is not None and node.cores < IDLE]
    return idle if len(idle) < len(view.nodes) else []


def _cpu(view: JobView, limits: AdviceSettings) -> list[Advice]:
    asked, share = view.cpu.asked, view.cpu.share
    if not asked or share is None or share > limits.cpu_note or asked <= 1 or view.gpu.asked:
        return []
    enough = enough_cores(view, limits)
    idle = 0 if enough is None else len(idle_nodes(view))
    if idle and share * len(view.nodes) / (len(view.nodes) - idle) > limits.cpu_note:
        return []  # where it ran it was busy
    severity: Severity = "red" if share < limits.cpu_red else "note"
    mean = view.cpu.mean or 0.0
    if enough == 1:
        text = f"One core of {asked:.0f} was used: the program ran serially."
        slurm = view.record.get("job.scheduler") != "sge"
        remedy = "--ntasks=1 --cpus-per-task=1" if slurm else "leave -pe out"
        return [Advice("red", "cpu", text, remedy)]
    text = (
        f"{number(mean, 'hours')} of {asked:.0f} cores were busy on average ({100 * share:.0f} %)."
    )
    remedy = ""
    if enough is not None and enough < asked:
        remedy = f"{enough} cores would have sufficed"
    return [Advice(severity, "cpu", text, remedy)]


def _memory(view: JobView, limits: AdviceSettings) -> list[Advice]:
    asked, peak, share = view.memory.asked, view.memory.peak, view.memory.share
    if asked is None or peak is None or share is None or share >= limits.memory_note:
        return []
    if view.running or (view.state or "").startswith("OUT_OF_ME"):
        return []
    wanted = enough_memory(view, limits)
    if wanted is None or wanted >= asked:
        return []
    text = f"{number(peak, 'bytes')} of {number(asked, 'bytes')} GiB were used at peak."
    return [Advice("note", "memory", text, _less_memory(view, limits))]


def _less_memory(view: JobView, limits: AdviceSettings) -> str:
    wanted = memory_each(view, limits)
    if wanted is None:
        return ""
    if len(view.nodes) > 1:
        return f"--mem={wanted}G on each of {len(view.nodes)} nodes leaves room"
    return f"--mem={wanted}G leaves room"


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
