"""
When a report speaks up: sections `advice` and `findings` of the settings. Shares are of 1.
"""

from __future__ import annotations

from dataclasses import dataclass

HOUR = 3600.0


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
    head_room: float = 1.2  # what is suggested is the peak times this


@dataclass(frozen=True, slots=True)
class FindingSettings:
    hog_share: float = 0.4  # a hog takes this share of a node's cores outside any job
    busy_share: float = 0.5  # a node below this is not busy, and nobody hogs there
    hog_hours: int = 1  # in so many busy hours
    stray_core_hours: float = 0.01  # a stray process is told from so many core hours on
    stray_seconds: float = 0.5 * HOUR  # or when seen for so long, whatever it used
    dead_seconds: float = 2 * HOUR  # dead weight used no CPU for so long
    dead_memory: float = 2.0**30  # and holds so many bytes
    gpu_job_seconds: float = 2 * HOUR  # shorter GPU jobs are left alone
    gpu_peak_percent: float = 25.0  # peaks of GPU use and GPU memory both below: poor use
    waste_share: float = 0.65  # a job that used less than this share of its core hours
    waste_core_hours: float = 100.0  # and left at least so many unused
    late_seconds: float = 300.0  # a run is past its limit by more than this
    silent_seconds: float = 900.0  # a node not heard for so long, or three intervals
    sparse_share: float = 0.8  # a node covered for less of its time has too few samples
    short_seconds: float = 60.0  # a job shorter than this is short
    short_jobs: int = 500  # so many short jobs of one user are a load
