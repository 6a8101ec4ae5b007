"""
Every fault that others are known for has a test here or elsewhere, and those that had none.
"""

from __future__ import annotations

import ast
from datetime import timedelta
from pathlib import Path

import pytest

from leadline.query import MEASURES, measure
from leadline.reports.job import job_view
from leadline.store.scope import EVERYTHING
from tests.query.conftest import answer, sample, stored
from tests.query.faults import FAULTS, GOLDEN
from tests.query.test_accounted import run, slices
from tests.reports.test_job import NOW, record, samples

ROOT = Path(__file__).resolve().parents[2]
GIB = 2**30


@pytest.mark.parametrize("known", FAULTS, ids=lambda known: known[0])
def test_a_test_stands_against_it(known: tuple[str, str]) -> None:
    """
    The test that is named is there; a case has an input and what is expected of it.
    """
    path, _, name = known[1].partition("::")
    if not name:
        assert {"input", "expected"} <= {
            child.name.partition(".")[0] for child in (ROOT / path).iterdir()
        }
        path, _, name = GOLDEN.partition("::")
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_a_peak_is_no_average() -> None:
    """
    A job that peaked at 10 GiB once is found by its peak, though its mean is far below.
    """
    sizes = [10, 1, 1, 1]
    store = stored(
        [sample(n, **{"job.id": "fox/1", "memory.rss.bytes": s * GIB}) for n, s in enumerate(sizes)]
    )
    (row,) = answer(store, "memory_max, memory_mean by job during all").rows
    assert (10 * GIB, 3.25 * GIB) == (row["memory_max"], row["memory_mean"])


def test_nothing_is_called_a_deviation() -> None:
    """
    No measure calls itself a deviation; spreads are told by percentiles.
    """
    assert not [m.name for m in MEASURES if "dev" in m.name or "error" in m.name]
    assert measure("run_time_p90").approximate


def test_gpu_hours_come_from_gpus() -> None:
    """
    A run of 64 cores and 2 GPUs for an hour holds 64 core hours and 2 GPU hours.
    """
    made = run(1, "2026-10-10T08:00", "2026-10-10T08:00", "2026-10-10T09:00")
    made |= {"job.cores": 64, "job.gpus": 2, "job.gpu_seconds.allocated": 7200.0}
    made |= {"job.core_seconds.allocated": 64 * 3600.0}
    found = answer(stored([made]), "gpu_hours_ended, core_hours_ended during all")
    assert {"gpu_hours_ended": 2.0, "core_hours_ended": 64.0} == found.total


def test_one_number_on_two_clusters_is_two_jobs() -> None:
    """
    Job 1 of fox and job 1 of betzy are two runs with hours of their own.
    """
    other = {"cluster": "betzy", "job.run": "betzy/1@1"}
    fox = run(1, "2026-10-10T08:00", "2026-10-10T08:00", "2026-10-10T09:00")
    days = slices(1, ("2026-10-10", 1.0))
    store = stored([fox, {**fox, **other}, *days, *({**day, **other} for day in days)])
    found = answer(store, "jobs, core_hours_allocated by cluster during 2026-10")
    assert [1, 1] == [row["jobs"] for row in found.rows]
    assert {"jobs": 2, "core_hours_allocated": 8.0} == found.total


def test_one_sample_without_a_difference_is_no_share() -> None:
    """
    A job seen once has no CPU time yet: its share is not measured, neither 0 % nor 100 %.
    """
    (seen,) = samples(1, 1, ticks=range(1))
    del seen["core_seconds"]
    view = job_view(stored([record(), seen]), EVERYTHING, "fox/7", NOW)
    assert (None, None) == (view.cpu.share, view.cpu.mean)
    assert timedelta(seconds=view.profile.watched) < timedelta(minutes=15)
