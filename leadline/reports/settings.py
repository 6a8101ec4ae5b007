"""
When a report speaks up: sections `advice` and `findings` of the settings. Shares are of 1. And
what projects were granted: section `allocations`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

HOUR = 3600.0

Charge = Literal["allocated", "used"]


@dataclass(frozen=True, slots=True)
class AdviceSettings:
    """
    Shares of what was asked for; below `red` something is wrong, below `note` it could be better.
    """

    gpu_red: float = 0.15  # GPUs busy at most this share of the time: red
    gpu_note: float = 0.25  # GPUs busy less than this: a note
    cpu_red: float = 0.65  # cores busy less than this: red
    cpu_note: float = 0.80  # cores busy at most this: a note
    memory_note: float = 0.70  # peak memory below this share of what was asked: a note
    time_red: float = 0.10  # at most this share of the time limit needed: red
    time_note: float = 0.60  # less than this share of the time limit needed: a note
    shortest: float = 300.0  # seconds; a shorter run tells nothing
    seen_share: float = 0.8  # samples of less of a run, or of its CPU time, know no peak
    head_room: float = 1.2  # what is suggested is the peak times this


@dataclass(frozen=True, slots=True)
class FindingSettings:
    hog_share: float = 0.4  # a hog takes this share of a node's cores outside any job
    busy_share: float = 0.5  # a node below this is not busy, and nobody hogs there
    hog_hours: int = 1  # in so many busy hours
    card_cpu_share: float = 0.1  # of the cores of a node whose cards lie idle, by one user
    card_hours: int = 2  # in so many busy hours
    stray_core_hours: float = 0.01  # a stray process is told from so many core hours on
    stray_seconds: float = 0.5 * HOUR  # or when seen for so long, whatever it used
    dead_seconds: float = 2 * HOUR  # dead weight used no CPU for so long
    dead_memory: float = 2.0**30  # and holds so many bytes
    gpu_job_seconds: float = 2 * HOUR  # shorter GPU jobs are left alone
    gpu_peak_percent: float = 25.0  # peaks of GPU use and GPU memory both below: poor use
    waste_share: float = 0.65  # a job that used less than this share of its core hours
    waste_core_hours: float = 100.0  # and left at least so many unused
    idle_node_seconds: float = 2 * HOUR  # a node held and not used for so long
    empty_share: float = 0.5  # of a reservation's nodes no job came to: it stands empty
    late_seconds: float = 300.0  # a run is past its limit by more than this
    silent_seconds: float = 900.0  # a node not heard for so long, or three intervals
    sparse_share: float = 0.8  # a node covered for less of its time has too few samples
    agree_share: float = 0.8  # samples saw less than this of what was accounted, or so much more
    agree_core_hours: float = 10.0  # and the two are so far apart
    short_seconds: float = 60.0  # a job shorter than this is short
    short_jobs: int = 500  # so many short jobs of one user are a load
    mouse_seconds: float = 2 * HOUR  # a run that held whole nodes for so long
    mouse_share: float = 0.1  # and never used more than this of their cores and memory
    whale_share: float = 0.5  # a run that wants so much of all cores or cards of its cluster
    vampire_jobs: int = 50  # so many jobs of one user in an hour
    vampire_cores: float = 2.0  # that kept fewer cores busy than this, each
    vampire_share: float = 0.25  # and took this share of a busy cluster together


@dataclass(frozen=True, slots=True)
class GrantSettings:
    """
    Hours granted; a year is 365 days of 24 hours. One grant may be of cores and of GPUs.
    """

    period: str  # 2026-04-01..2026-09-30, 2026-Q2, or a name of the section periods
    project: str = ""  # the project or account; empty: all together
    cluster: str = ""  # empty: on all clusters together
    partition: str = ""  # the partition or queue; empty: in all of them
    gpu_model: str = ""  # of GPU hours: on cards of this model, as `by gpu_model` calls it
    core_hours: float = 0.0  # cores times hours
    core_years: float = 0.0  # cores times 8,760 hours
    gpu_hours: float = 0.0  # cards times hours
    gpu_years: float = 0.0  # cards times 8,760 hours
    charge: Charge = "allocated"  # allocated: what the scheduler gave; used: what samples saw
    note: str = ""  # for people

    def __post_init__(self) -> None:
        amounts = (self.core_hours, self.core_years, self.gpu_hours, self.gpu_years)
        if not all(math.isfinite(amount) and amount >= 0 for amount in amounts):
            raise ValueError("an amount must be 0 or more")
        if not any(amounts):
            raise ValueError("core_hours, core_years, gpu_hours or gpu_years: one must be given")
        if self.gpu_model and (self.core_hours or self.core_years):
            raise ValueError("gpu_model: only GPU hours are of a model; grant cores apart")
        for name in ("core", "gpu"):
            if getattr(self, f"{name}_hours") and getattr(self, f"{name}_years"):
                raise ValueError(f"{name}_hours and {name}_years: give one of them")


@dataclass(frozen=True, slots=True)
class AllocationSettings:
    grants: tuple[GrantSettings, ...] = ()  # who may use how much, when
    files: tuple[Path, ...] = ()  # CSV or TSV of more grants, the same names as columns
    behind: float = 0.8  # projected below this share of the grant: behind
    recent_days: float = 30.0  # the burn rate is the mean of so many days
