"""
A job's view for scripts: all of it as JSON, and its use over time as a table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from leadline.formats.times import from_epoch
from leadline.render import Column, Table
from leadline.render.table import Value
from leadline.reports.advice import advise
from leadline.reports.job import JobView
from leadline.reports.settings import AdviceSettings


def as_json(view: JobView, limits: AdviceSettings) -> dict[str, object]:
    return {**asdict(view), "advice": [asdict(known) for known in advise(view, limits)]}


def profile_table(views: Sequence[JobView]) -> Table:
    """
    One row per interval of each job; what was not measured stays empty.
    """
    columns = [
        Column("job", "job"),
        Column("time", "time"),
        Column("cores", "cores", "hours"),
        Column("memory_bytes", "memory", "bytes"),
        Column("gpus", "GPUs", "hours"),
        Column("io_bytes_per_second", "I/O a second", "bytes"),
    ]
    return Table(tuple(columns), tuple(row for view in views for row in _profile(view)))


def _profile(view: JobView) -> Iterator[dict[str, Value]]:
    seen = view.profile
    assert seen.start is not None or not seen.memory
    begin = seen.start.timestamp() if seen.start else 0.0
    for tick in range(len(seen.memory)):
        yield {
            "job": view.job,
            "time": from_epoch(begin + tick * seen.interval),
            "cores": seen.cores[tick],
            "memory_bytes": seen.memory[tick],
            "gpus": seen.gpus[tick],
            "io_bytes_per_second": seen.io[tick],
        }
