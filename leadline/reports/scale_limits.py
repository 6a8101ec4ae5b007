"""
What limits a job: one function for each limit, each silent when its measurement is missing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from leadline.formats.counted import counted
from leadline.render import duration
from leadline.reports.job import JobView
from leadline.reports.job_cards import Series
from leadline.reports.scale_facts import Machine, Size

Limit = Literal[
    "memory", "GPUs", "feeding", "one core", "I/O", "threads", "cores", "serial parts", "balance",
    "nothing found", "not measured",
]  # fmt: skip

HIGH = 0.85  # of what there was: it was all in use
BUSY_CARD = 0.70  # a card busy for so much of the time does the work
WAITING = 0.25  # of processes or of time, waiting for I/O
DISK = 0.80  # of the time, a disk had I/O in flight
SERIAL = 1.5  # cores busy below this: one
SERIAL_TIME = 0.15  # of the time on one core before it counts
STEADY = 0.85  # least over greatest use: the number of threads is what it is
UNEVEN = 0.5  # a node busy for less than this of the busiest
WELL = 0.7  # of the speed that so many more cores could give at best
HARDLY = 0.3
FEW = 10  # intervals; of fewer nothing steady can be said


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """
    A resource: None is not measured, or not known.
    """

    name: str  # cores, memory, GPUs
    unit: str
    had: float | None  # what the job had, or its nodes where it was alone and asked for nothing
    fitted: float | None = None  # what its nodes have
    mean: float | None = None
    usual: float | None = None  # 95 % of the time it was no more than this
    peak: float | None = None
    full: float | None = None  # share of the time with nearly all of it in use
    sufficed: float | None = None  # what would have been enough

    @property
    def share(self) -> float | None:
        return None if self.mean is None or not self.had else self.mean / self.had


@dataclass(frozen=True, slots=True)
class Verdict:
    limit: Limit
    sentence: str
    evidence: tuple[str, ...]
    would_help: tuple[str, ...] = ()
    clear: bool = True  # measured on the job itself, and far from the threshold


NOTHING = Verdict(
    "not measured",
    "Too little was sampled of this run to say what limits it.",
    (),
)


def judged(
    view: JobView, uses: Sequence[Use], had: Machine, sizes: Sequence[Size], *, enough: bool
) -> Verdict:
    """
    The first that holds; what ended the run or starves the rest comes first. Where samples did not
    see ENOUGH of it, only what needs no more is said.
    """
    cores, memory, gpus = uses
    if not enough:
        return _by_memory(view, memory) or _seen_in_part(view)
    found = (
        _by_memory(view, memory)
        or _by_gpus(gpus, cores, had)
        or _by_one_core(cores)
        or _by_io(cores, had)
        or _by_balance(view)
        or _by_cores(cores, sizes)
        or _by_serial_parts(view, cores)
        or _by_threads(view, cores)
    )
    if found:
        return _without_gpus(found, gpus)
    if cores.mean is None or cores.had is None:
        return NOTHING
    return Verdict(
        "nothing found",
        "Nothing it had was used up: it waits for something that is not measured, "
        "such as messages, locks or other services.",
        (f"{cores.mean:.1f} of {counted(cores.had, 'core')} busy on average",),
        ("a profile of the program itself",),
        clear=False,
    )


def _seen_in_part(view: JobView) -> Verdict:
    if not view.covered:
        return NOTHING
    seen = [f"samples saw {100 * view.covered:.0f} % of its time"]
    if view.agreed is not None:
        seen.append(f"samples saw {100 * view.agreed:.0f} % of its CPU time")
    return replace(NOTHING, evidence=tuple(seen))


def _without_gpus(found: Verdict, gpus: Use) -> Verdict:
    if not gpus.had or gpus.sufficed != 0:
        return found
    evidence = f"{counted(gpus.had, 'GPU')} had, none used"
    helps = ("a program that uses its GPUs, or asking for none",)
    return replace(
        found, evidence=(*found.evidence, evidence), would_help=(*found.would_help, *helps)
    )


def _by_memory(view: JobView, memory: Use) -> Verdict | None:
    if (view.state or "").startswith("OUT_OF_ME"):
        return Verdict(
            "memory",
            "It ran out of memory.",
            (f"it ended as {view.state}",),
            ("more memory, or more nodes with less of the problem on each",),
        )
    if memory.peak is None or not memory.had or memory.peak < 0.95 * memory.had:
        return None
    share = 100 * memory.peak / memory.had
    return Verdict(
        "memory",
        "It used all the memory it had: a larger problem will not fit.",
        (f"peak memory was {share:.0f} % of what it had",),
        ("more memory per core", "more nodes with less of the problem on each"),
        clear=memory.peak >= 0.98 * memory.had,
    )


def _by_gpus(gpus: Use, cores: Use, had: Machine) -> Verdict | None:
    if not gpus.sufficed or gpus.mean is None:
        return None
    busy = gpus.mean / gpus.sufficed
    had_cards = gpus.had or gpus.sufficed
    had_told = counted(had_cards, "GPU")
    evidence = f"{gpus.sufficed:.0f} of {had_told} used, busy {100 * busy:.0f} % of the time"
    if busy >= BUSY_CARD and gpus.sufficed < had_cards:
        return Verdict(
            "GPUs",
            "It keeps some of its GPUs busy and leaves the others idle: more of them will not make "
            "it faster.",
            (evidence,),
            ("a program, or an option of it, that uses all its GPUs", "asking for those it uses"),
            clear=busy >= HIGH,
        )
    if busy >= BUSY_CARD:
        return Verdict(
            "GPUs",
            "Its GPUs do the work and are busy: more or faster GPUs may make it faster.",
            (evidence,),
            ("a trial with twice the GPUs",),
            clear=busy >= HIGH,
        )
    if cores.share is not None and cores.share >= HIGH:
        return Verdict(
            "feeding",
            "Its GPUs wait for its cores: more cores per GPU may make it faster.",
            (evidence, f"its cores were busy {100 * cores.share:.0f} %"),
            ("more cores for each GPU", "more loader processes"),
        )
    return _by_io(cores, had)


def _by_one_core(cores: Use) -> Verdict | None:
    if cores.usual is None or cores.had is None or cores.had <= 1 or cores.usual >= SERIAL:
        return None
    if cores.mean is not None and cores.mean < 0.5:
        return None  # it mostly waits
    return Verdict(
        "one core",
        "It ran on one core: more cores will not make it faster.",
        (f"95 % of the time no more than {cores.usual:.1f} of {cores.had:.0f} cores were busy",),
        ("several runs side by side, each on one core",),
    )


def _by_io(cores: Use, had: Machine) -> Verdict | None:
    if cores.share is not None and cores.share >= HIGH:
        return None
    evidence = []
    if had.waiting is not None and had.waiting >= WAITING:
        evidence.append(f"{100 * had.waiting:.0f} % of its processes were waiting for I/O")
    if had.alone and had.pressure is not None and had.pressure >= WAITING:
        evidence.append(f"on its nodes tasks waited for I/O {100 * had.pressure:.0f} % of the time")
    if had.alone and had.disk is not None and had.disk >= DISK:
        evidence.append(f"a disk of its nodes was busy {100 * had.disk:.0f} % of the time")
    if not evidence:
        return None
    return Verdict(
        "I/O",
        "It waits for files: more cores will not make it faster.",
        tuple(evidence),
        ("larger reads and fewer files", "data on a local disk", "a faster file system"),
        clear=had.waiting is not None and had.waiting >= WAITING,
    )


def _by_cores(cores: Use, sizes: Sequence[Size]) -> Verdict | None:
    if cores.share is None or cores.mean is None or cores.share < HIGH:
        return None
    busy = f"{cores.mean:.1f} of {counted(cores.had or 0, 'core')} busy on average"
    gain = gained(cores.had, sizes)
    if gain and gain.ratio < 1 + HARDLY * (gain.ideal - 1):
        return Verdict(
            "cores",
            "It used the cores it had, and its runs on more took hardly less time: its cores may "
            "wait for memory or for each other, which is not measured.",
            (busy, gain.text),
            ("fewer cores for each run, and several runs side by side",),
            clear=False,
        )
    doubt = "cores that wait for memory look busy, too, and memory bandwidth is not measured"
    return Verdict(
        "cores",
        "It used the cores it had: more cores may make it faster.",
        (busy, gain.text if gain else doubt),
        ("a trial with twice the cores",),
        clear=bool(gain and gain.ratio >= WELL * gain.ideal),
    )


@dataclass(frozen=True, slots=True)
class Gain:
    ratio: float  # so many times as fast
    ideal: float  # with so many times the cores
    text: str


def gained(had: float | None, sizes: Sequence[Size]) -> Gain | None:
    """
    How much faster runs of the same name were on the next larger number of cores.
    """
    timed = [(size.cores, size.wall) for size in sizes if size.wall]
    own = next(((cores, wall) for cores, wall in timed if cores == had), None)
    more = next(((cores, wall) for cores, wall in timed if had and cores > had), None)
    if own is None or more is None:
        return None
    text = (
        f"runs of this name took {duration(own[1])} on {counted(own[0], 'core')}"
        f" and {duration(more[1])} on {more[0]:,}"
    )
    return Gain(own[1] / more[1], more[0] / own[0], text)


def _by_serial_parts(view: JobView, cores: Use) -> Verdict | None:
    share = serial(view.profile.cores)
    if share is None or cores.had is None or cores.usual is None or cores.had <= 1:
        return None
    if share < SERIAL_TIME or cores.usual < HIGH * cores.had:
        return None
    return Verdict(
        "serial parts",
        f"Parts of it run on one core: no number of cores makes it more than "
        f"{1 / share:.1f} times as fast.",
        (f"one core or less was busy for {100 * share:.0f} % of the time",),
        ("the serial parts as a job of their own", "a program that does them in parallel"),
    )


def _by_threads(view: JobView, cores: Use) -> Verdict | None:
    cores_busy = known(view.profile.cores)
    if cores.had is None or cores.usual is None or len(cores_busy) < FEW:
        return None
    least = cores_busy[math.floor(0.05 * len(cores_busy))]
    if cores.usual >= HIGH * cores.had or least < STEADY * cores.usual:
        return None
    busy = f"{cores.usual:.0f} of {cores.had:.0f} cores"
    return Verdict(
        "threads",
        f"It kept {busy} busy and never more: so many threads or processes it starts.",
        (f"nearly all the time {least:.1f} cores were busy at least, {cores.usual:.1f} at most",),
        ("as many threads as cores, such as OMP_NUM_THREADS", "fewer cores"),
    )


def _by_balance(view: JobView) -> Verdict | None:
    means = [node.cores for node in view.nodes]
    if len(means) < 2 or any(mean is None for mean in means):
        return None
    least, most = min(m for m in means if m is not None), max(m for m in means if m is not None)
    if not most or least >= UNEVEN * most:
        return None
    idle = sum(mean < UNEVEN * most for mean in means if mean is not None)
    return Verdict(
        "balance",
        f"Its nodes do not share the work: {idle} of {len(means)} did less than half of what the "
        "busiest did.",
        (f"{most:.1f} cores were busy on one node, {least:.1f} on another",),
        ("fewer nodes", "starting it with srun or mpirun on all nodes"),
    )


def known(series: Series) -> list[float]:
    return sorted(value for value in series if value is not None)


def serial(series: Series) -> float | None:
    """
    The share of the time with one core busy or less.
    """
    busy = known(series)
    return sum(value < SERIAL for value in busy) / len(busy) if busy else None
