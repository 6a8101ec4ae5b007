"""
Measures on what schedulers account: counts of runs, their hours, waits and efficiencies.

Hours by period come from `job_slice` (a run's hours told apart by local day), so a run across an
edge counts on both sides for what it ran there. Counts come from `job`: "jobs" ended in the period.
"""

from __future__ import annotations

from leadline.query.measure import Measure, Parts, part, per_hour, percent, ratio, same, summed
from leadline.store.plan import Condition, Function, Op

ENDED = (Condition("provisional", Op.NOT_IN, (True,)), Condition("job.end", Op.EXISTS))
STARTED = (Condition("job.start", Op.EXISTS),)
# Grid Engine's maxvmem is virtual memory: no peak to judge anything by.
REAL_PEAK = Condition("job.memory.basis", Op.NOT_IN, ("virtual",))


def _jobs(name: str, title: str, time: str, sentence: str) -> Measure:
    return Measure(
        name=name,
        title=title,
        unit="",
        formula=f"number of runs with {time} in the period",
        sentence=sentence,
        dataset="job",
        parts=(part(Function.COUNT),),
        value=same,
        time="@timestamp" if time == "job.submit" else time,  # the same, with its hour and weekday
        where=ENDED if time == "job.end" else (Condition(time, Op.EXISTS),),
        adds=True,
    )


def _sliced(name: str, title: str, field: str, sentence: str) -> Measure:
    return Measure(
        name=name,
        title=title,
        unit="hours",
        formula=f"Σ {field} / 3600 over the days of the period",
        sentence=sentence,
        dataset="job_slice",
        parts=(part(Function.SUM, field),),
        value=per_hour,
        adds=True,
    )


def _spread(
    name: str, title: str, field: str, time: str, sentence: str, where: tuple[Condition, ...]
) -> tuple[Measure, ...]:
    """
    Minimum, maximum, mean, median and 90 % of a duration.
    """

    def one(suffix: str, formula: str, function: Function, at: float = 50.0) -> Measure:
        mean = suffix == "mean"
        sums = (part(Function.SUM, field), part(Function.COUNT, field))
        return Measure(
            name=f"{name}_{suffix}",
            title=f"{title}, {suffix.replace('p90', '90 %')}",
            unit="seconds",
            formula=f"{formula} {field}",
            sentence=f"{sentence} ({formula}).",
            dataset="job",
            parts=sums if mean else (part(function, field, percent=at),),
            value=ratio if mean else same,
            time=time,
            where=where,
            approximate=function is Function.PERCENTILE,
        )

    return (
        one("mean", "mean of", Function.SUM),
        one("median", "median of", Function.PERCENTILE),
        one("p90", "90th percentile of", Function.PERCENTILE, 90),
        one("min", "least", Function.MIN),
        one("max", "greatest", Function.MAX),
    )


def _efficiency(
    name: str, title: str, over: str, under: str, sentence: str, *where: Condition
) -> Measure:
    """
    Used of what was had, over ended runs that have both figures; NULL is not 0.
    """
    both = (Condition(over, Op.EXISTS), Condition(under, Op.EXISTS), *where)
    return Measure(
        name=name,
        title=title,
        unit="percent",
        formula=f"100 × Σ {over} / Σ {under}, runs that have both",
        sentence=sentence,
        dataset="job",
        parts=(part(Function.SUM, over, *both), part(Function.SUM, under, *both)),
        value=percent,
        time="job.end",
        where=ENDED,
    )


def _ended(name: str, title: str, field: str, what: str) -> Measure:
    return Measure(
        name=name,
        title=title,
        unit="hours",
        formula=f"Σ {field} / 3600",
        sentence=f"{what} hours of runs that ended in the period, all of each run's.",
        dataset="job",
        parts=(part(Function.SUM, field),),
        value=per_hour,
        time="job.end",
        where=ENDED,
        adds=True,
    )


def _difference(parts: Parts) -> float | None:
    if parts[0] is None or parts[1] is None:
        return None
    return (parts[0] - parts[1]) / 3600


def _wasted(name: str, title: str, kind: str, used: str) -> Measure:
    allocated = f"job.{kind}_seconds.allocated"
    both = (Condition(allocated, Op.EXISTS), Condition(used, Op.EXISTS))
    return Measure(
        name=name,
        title=title,
        unit="hours",
        formula=f"Σ ({allocated} − {used}) / 3600, runs that have both",
        sentence="Allocated and not used, of runs that ended in the period.",
        dataset="job",
        parts=(part(Function.SUM, allocated, *both), part(Function.SUM, used, *both)),
        value=_difference,
        time="job.end",
        where=ENDED,
        adds=True,
    )


def _expansion(parts: Parts) -> float | None:
    stretched = ratio(parts)
    return None if stretched is None else 1 + stretched


def _kwh(parts: Parts) -> float | None:
    return None if parts[0] is None else parts[0] / 3_600_000


_WAITED = (Condition("job.wait.seconds", Op.EXISTS), Condition("job.wall.seconds", Op.EXISTS))

ACCOUNTED: tuple[Measure, ...] = (
    _jobs("jobs", "jobs", "job.end", "Runs that ended in the period, as sacct and qacct count."),
    _jobs("jobs_started", "jobs started", "job.start", "Runs that started in the period."),
    _jobs("jobs_submitted", "jobs submitted", "job.submit", "Runs submitted in the period."),
    Measure(
        name="jobs_running",
        title="jobs running",
        unit="",
        formula="runs with job.start before the end and job.end after the start of the period",
        sentence="Runs that ran at any time of the period, each once.",
        dataset="job",
        parts=(part(Function.COUNT),),
        value=summed,
        time="job.start",
        where=STARTED,
        adds=True,
        running=True,
    ),
    _sliced("wall_hours", "wall hours", "wall.seconds", "Hours that runs ran."),
    _sliced(
        "core_hours_allocated",
        "core hours allocated",
        "core_seconds_allocated",
        "Cores (Grid Engine: slots) times wall time, used or not.",
    ),
    _sliced(
        "core_hours_accounted",
        "core hours accounted",
        "core_seconds_used",
        "CPU time the scheduler accounted, spread evenly over each run.",
    ),
    _sliced(
        "gpu_hours_allocated",
        "GPU hours allocated",
        "gpu_seconds_allocated",
        "GPUs times wall time, used or not.",
    ),
    *_spread("run_time", "run time", "job.wall.seconds", "job.end", "Wall time of a run", ENDED),
    *_spread(
        "wait", "wait", "job.wait.seconds", "job.start", "Start less submit of a run", STARTED
    ),
    *_spread(
        "wait_eligible",
        "wait since eligible",
        "job.wait_eligible.seconds",
        "job.start",
        "Start less eligible of a run",
        STARTED,
    ),
    Measure(
        name="expansion_factor",
        title="expansion factor",
        unit="ratio",
        formula="1 + Σ job.wait.seconds / Σ job.wall.seconds, runs that have both",
        sentence="Wait and run time together, per run time.",
        dataset="job",
        parts=(
            part(Function.SUM, "job.wait.seconds", *_WAITED),
            part(Function.SUM, "job.wall.seconds", *_WAITED),
        ),
        value=_expansion,
        time="job.end",
        where=ENDED,
    ),
    _efficiency(
        "cpu_efficiency",
        "CPU efficiency",
        "job.core_seconds.used",
        "job.core_seconds.allocated",
        "CPU time used of the cores allocated.",
    ),
    _efficiency(
        "gpu_efficiency",
        "GPU efficiency",
        "job.gpu_seconds.busy",
        "job.gpu_seconds.allocated",
        "GPU time busy of the GPUs allocated.",
    ),
    _efficiency(
        "memory_efficiency",
        "memory efficiency",
        "job.memory.peak.bytes",
        "job.asked.memory.bytes",
        "Peak memory of the memory asked for.",
        REAL_PEAK,
    ),
    _efficiency(
        "time_efficiency",
        "time efficiency",
        "job.wall.seconds",
        "job.limit.seconds",
        "Wall time of the time asked for.",
    ),
    _wasted("core_hours_wasted", "core hours not used", "core", "job.core_seconds.used"),
    _wasted("gpu_hours_wasted", "GPU hours not used", "gpu", "job.gpu_seconds.busy"),
    Measure(
        name="job_memory_mean",
        title="mean peak memory",
        unit="bytes",
        formula="mean of job.memory.peak.bytes",
        sentence="Peak memory of a run, the mean over runs; virtual memory is left out.",
        dataset="job",
        parts=(
            part(Function.SUM, "job.memory.peak.bytes", REAL_PEAK),
            part(Function.COUNT, "job.memory.peak.bytes", REAL_PEAK),
        ),
        value=ratio,
        time="job.end",
        where=ENDED,
    ),
    Measure(
        name="job_memory_max",
        title="max peak memory",
        unit="bytes",
        formula="max job.memory.peak.bytes",
        sentence="The greatest peak memory of one run; virtual memory is left out.",
        dataset="job",
        parts=(part(Function.MAX, "job.memory.peak.bytes", REAL_PEAK),),
        value=same,
        time="job.end",
        where=ENDED,
    ),
    _ended("core_hours_ended", "core hours of ended jobs", "job.core_seconds.allocated", "Core"),
    _ended("gpu_hours_ended", "GPU hours of ended jobs", "job.gpu_seconds.allocated", "GPU"),
    _efficiency(
        "job_system_share",
        "system CPU, accounted",
        "job.core_seconds.system",
        "job.core_seconds.used",
        "The part of CPU time spent in the kernel, as accounted.",
    ),
    *(
        Measure(
            name=f"job_io_{way}",
            title=f"{way}, accounted",
            unit="bytes",
            formula=f"Σ job.io.{way}.bytes",
            sentence=f"Bytes that runs which ended in the period {said}.",
            dataset="job",
            parts=(part(Function.SUM, f"job.io.{way}.bytes"),),
            value=same,
            time="job.end",
            where=ENDED,
            adds=True,
        )
        for way, said in (("read", "read"), ("write", "wrote"))
    ),
    Measure(
        name="job_io",
        title="read and written, accounted",
        unit="bytes",
        formula="Σ (job.io.read.bytes + job.io.write.bytes + job.io.bytes)",
        sentence="Bytes that runs which ended in the period moved, told apart (Slurm) or not"
        " (Grid Engine).",
        dataset="job",
        parts=tuple(part(Function.SUM, f"job.io.{name}bytes") for name in ("read.", "write.", "")),
        value=summed,
        time="job.end",
        where=ENDED,
        adds=True,
    ),
    *(
        Measure(
            name=f"job_{what}s",
            title=f"{what}s with jobs",
            unit="",
            formula=f"distinct {field}",
            sentence=f"Distinct {what}s with a run that ended in the period.",
            dataset="job",
            parts=(part(Function.DISTINCT, field),),
            value=same,
            time="job.end",
            where=ENDED,
        )
        for what, field in (
            ("user", "user.name"),
            ("group", "user.group"),
            ("project", "project"),
            ("node", "job.nodes"),
        )
    ),
    Measure(
        name="energy",
        title="energy",
        unit="kWh",
        formula="Σ job.energy.joules / 3,600,000",
        sentence="Energy of runs that ended in the period, where it was measured.",
        dataset="job",
        parts=(part(Function.SUM, "job.energy.joules"),),
        value=_kwh,
        time="job.end",
        where=ENDED,
        adds=True,
    ),
)
