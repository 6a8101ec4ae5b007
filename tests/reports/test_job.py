"""
The job view: from samples, from accounting, from both; and advice only where something is known.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from leadline.errors import QuestionError
from leadline.formats import Document
from leadline.formats.times import format_time
from leadline.render import render
from leadline.render.text import width_of
from leadline.reports.advice import advise
from leadline.reports.job import JobView, job_view
from leadline.reports.job_compare import side_by_side
from leadline.reports.job_text import summary
from leadline.reports.settings import AdviceSettings
from leadline.store.contract import Store
from leadline.store.lake import LakeStore
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING
from tests.query.conftest import stored

START = datetime(2026, 11, 20, 8, tzinfo=UTC)
NOW = START + timedelta(days=1)
GIB = 2**30


def record(**fields: object) -> Document:
    """
    A two-hour run of 16 cores and 64 GiB on one node.
    """
    return {
        "dataset": "job",
        "@timestamp": format_time(START),
        "cluster": "fox",
        "job.id": "fox/7",
        "job.run": "fox/7@1",
        "record.version": 1,
        "user.name": "alice",
        "job.state": "COMPLETED",
        "job.cores": 16,
        "job.node.count": 1,
        "job.asked.memory.bytes": 64 * GIB,
        "job.limit.seconds": 3 * 3600.0,
        "job.wall.seconds": 7200.0,
        "job.start": format_time(START),
        "job.end": format_time(START + timedelta(hours=2)),
        **fields,
    }


def samples(
    cores: float, memory: int, host: str = "c1", ticks: range = range(12), **fields: object
) -> list[Document]:
    """
    A sample every ten minutes of a process that keeps CORES busy and MEMORY GiB resident.
    """
    return [
        {
            "dataset": "process",
            "@timestamp": format_time(START + timedelta(minutes=10 * tick + 5)),
            "cluster": "fox",
            "host.name": host,
            "boot.id": "b",
            "sample.uptime": tick,
            "process.entity_id": "1-1",
            "interval.seconds": 600.0,
            "user.name": "alice",
            "job.id": "fox/7",
            "program.name": "VASP",
            "core_seconds": cores * 600,
            "memory.rss.bytes": memory * GIB,
            **fields,
        }
        for tick in ticks
    ]


def card(number: int, busy: float) -> list[Document]:
    return [
        {
            **{k: v for k, v in sample.items() if k not in ("core_seconds", "memory.rss.bytes")},
            "dataset": "process_gpu",
            "gpu.uuid": f"u{number}",
            "gpu.index": number,
            "gpu_seconds": busy * 600,
        }
        for sample in samples(1, 1)
    ]


def idle_card() -> Document:
    """
    The node's cards are watched, whoever uses them.
    """
    return {
        "dataset": "gpu",
        "@timestamp": format_time(START + timedelta(minutes=5)),
        "cluster": "fox",
        "host.name": "c1",
        "boot.id": "b",
        "sample.uptime": 1,
        "gpu.uuid": "u0",
        "gpu_seconds": 0.0,
    }


def view(*documents: Document) -> JobView:
    return job_view(stored(documents), EVERYTHING, "fox/7", NOW)


def advised(*documents: Document) -> dict[str, str]:
    return {known.about: f"{known.text} {known.remedy}" for known in advise(view(*documents))}


def test_both_sources_together() -> None:
    """
    Asked comes from accounting, use over time from samples.
    """
    seen = view(record(), *samples(8, 30))
    assert ("accounting", "samples") == seen.sources
    assert (16, 8.0, 8.0, 0.5) == (seen.cpu.asked, seen.cpu.peak, seen.cpu.mean, seen.cpu.share)
    assert 30 * GIB == seen.memory.peak
    assert ["VASP"] == [share.name for share in seen.programs]
    assert 12 == seen.profile.samples


def test_samples_alone() -> None:
    """
    Without accounting nothing is known of what was asked; what was used is told all the same.
    """
    seen = view(*samples(8, 30))
    assert seen.cpu.asked is None
    assert seen.cpu.share is None
    assert 8.0 == seen.cpu.mean
    assert 7200 == seen.wall
    assert [] == advise(seen)


def test_accounting_alone() -> None:
    """
    Without samples the accounted CPU time gives the mean, and no peak is invented.
    """
    seen = view(record(**{"job.core_seconds.used": 7200.0 * 4}))
    assert (4.0, None, 0.25) == (seen.cpu.mean, seen.cpu.peak, seen.cpu.share)
    assert "No samples" in summary(seen, advise(seen))


def test_core_hours_by_both_measures() -> None:
    """
    16 in samples, 20 accounted: what is short between two looks is seen by accounting alone.
    """
    seen = view(record(**{"job.core_seconds.used": 72000.0}), *samples(8, 30))
    assert "16 core hours in samples, 20 accounted." in summary(seen, advise(seen))


def test_a_two_node_job_is_not_divided_twice() -> None:
    """
    Sixteen cores over two nodes, three busy in all: 19 %, not 9 %.
    """
    both = record(**{"job.node.count": 2})
    seen = view(both, *samples(1.5, 1), *samples(1.5, 1, "c2"))
    assert pytest.approx(3 / 16) == seen.cpu.share
    assert 2 * GIB == seen.memory.peak
    assert ["c1", "c2"] == [node.host for node in seen.nodes]


def test_nothing_measured_is_not_zero_percent() -> None:
    """
    No samples and no accounted use: not measured, and no advice on what nobody saw.
    """
    seen = view(record(**{"job.gpus": 2}))
    assert seen.cpu.share is None
    assert seen.memory.share is None
    assert seen.gpu.share is None
    assert {"time"} >= {known.about for known in advise(seen)}
    assert "not measured" in summary(seen, [])


def test_virtual_memory_gives_no_advice() -> None:
    """
    Grid Engine's maxvmem is no resident memory: it is not held against what was asked.
    """
    told = record(**{"job.memory.peak.bytes": GIB, "job.memory.basis": "virtual"})
    assert "memory" not in advised(told)
    assert "memory" in advised({**told, "job.memory.basis": "cgroup"})


def test_serial_program_on_many_cores() -> None:
    """
    One busy core of sixteen is told as what it is, with the command for next time.
    """
    assert "--cpus-per-task=1" in advised(record(), *samples(1.0, 60))["cpu"]
    assert "cpu" not in advised(record(), *samples(15.5, 60))


def test_memory_advice_leaves_room() -> None:
    """
    Suggested memory is 1.2 times the peak, rounded up.
    """
    assert "--mem=36G" in advised(record(), *samples(16, 30))["memory"]


def test_a_card_never_used() -> None:
    """
    One of two cards idle: ask for one; both idle, though watched: ask for none.
    """
    told = record(**{"job.gpus": 2})
    assert "--gpus=1" in advised(told, *samples(2, 60), *card(0, 0.9))["gpu"]
    assert "No GPU was used" in advised(told, *samples(2, 60), idle_card())["gpu"]
    assert "gpu" not in advised(told, *samples(2, 60))


def test_short_runs_get_no_advice() -> None:
    """
    A run below five minutes tells nothing.
    """
    assert {} == advised(record(**{"job.wall.seconds": 200.0}), *samples(1, 1))


def test_failed_runs_get_no_advice_on_time() -> None:
    """
    A run that failed early says nothing about the time it needs.
    """
    assert "time" not in advised(record(**{"job.state": "FAILED", "job.wall.seconds": 900.0}))
    assert "time" in advised(record(**{"job.wall.seconds": 900.0}))


def test_a_gap_is_a_gap() -> None:
    """
    Intervals without samples are missing, not zero: they do not pull the mean down.
    """
    seen = view(record(), *samples(8, 1, ticks=range(4)), *samples(8, 1, ticks=range(8, 12)))
    assert 4 == seen.profile.missing
    assert 8.0 == seen.cpu.mean


def test_running_jobs_are_told_so_far() -> None:
    """
    A run without an end is running: its time grows, and its memory gets no advice yet.
    """
    told = {k: v for k, v in record().items() if k not in ("job.end", "job.wall.seconds")}
    seen = view(told, *samples(8, 1))
    assert seen.running
    assert 86400 == seen.wall
    assert "memory" not in {known.about for known in advise(seen)}


def test_runs_of_one_id_are_told_apart() -> None:
    """
    A number used again is another run; the newest is shown, the other on request.
    """
    old = record(
        **{
            "@timestamp": "2020-01-01T00:00:00.000Z",
            "job.run": "fox/7@0",
            "job.start": "2020-01-01T00:00:00.000Z",
            "job.end": "2020-01-01T02:00:00.000Z",
            "user.name": "bob",
        }
    )
    store: MemoryStore = stored([record(), old, *samples(8, 1)])
    newest = job_view(store, EVERYTHING, "fox/7", NOW)
    assert ("alice", 12, ("fox/7@1", "fox/7@0")) == (
        newest.user,
        newest.profile.samples,
        newest.runs,
    )
    other = job_view(store, EVERYTHING, "fox/7", NOW, run="fox/7@0")
    assert ("bob", 0) == (other.user, other.profile.samples)
    with pytest.raises(QuestionError):
        job_view(store, EVERYTHING, "fox/8", NOW)


@pytest.mark.opensearch
def test_every_store_shows_the_same_job(opensearch_store: Store, tmp_path: Path) -> None:
    """
    The view of a two-node GPU job is the same on the naive store, the lake and OpenSearch.
    """
    documents = [
        record(**{"job.gpus": 2}),
        *samples(1.5, 1),
        *samples(2.5, 3, "c2"),
        *card(0, 0.9),
        idle_card(),
    ]
    views = []
    lake = LakeStore(tmp_path / "lake")
    for store in (MemoryStore(), lake, opensearch_store):
        store.write(documents, "replace")
        views.append(summary(job_view(store, EVERYTHING, "fox/7", NOW), []))
    lake.close()
    assert views[0] == views[1] == views[2]
    assert "GPU 0" in views[0]


def test_each_node_and_each_card_is_told() -> None:
    """
    A job on two nodes shows both, and its cards with how busy they were.
    """
    seen = view(record(**{"job.gpus": 2}), *samples(1.5, 1), *samples(2.5, 3, "c2"), *card(0, 0.9))
    lines = [" ".join(line.split()) for line in summary(seen, []).splitlines()]
    assert "c1 1.5 cores 1.0 GiB" in lines
    assert "c2 2.5 cores 3.0 GiB" in lines
    assert "c1 GPU 0 90 % busy – GiB" in lines


def test_jobs_side_by_side() -> None:
    """
    One column a job; what is known of none has no row.
    """
    jobs = [view(record(), *samples(8, 30)), view(*samples(8, 30))]
    table = side_by_side(jobs, AdviceSettings())
    rows = {row["what"]: (row["job0"], row["job1"]) for row in table.rows}
    assert ("50 %", "–") == rows["CPU"]
    assert ("30", "30") == rows["memory peak, GiB"]
    assert "GPU" not in rows
    assert "fox/7" in render(table, "table")
    both = record(**{"job.nodes": ["c1", "c2"], "job.node.count": 2, "job.cores": 32})
    wide = view(both, *samples(3, 30), *samples(0.0, 1, "c2"))
    (told,) = [
        r["job0"] for r in side_by_side([wide], AdviceSettings()).rows if r["what"] == "advice"
    ]
    assert "CPU" == told, "two pieces of advice on cores, named once"


@pytest.mark.parametrize("width", [40, 60, 72, 100, 200])
def test_a_summary_fits_its_terminal(width: int) -> None:
    """
    Bars get shorter, and no line of the table is broken: title, asked and share stay together.
    """
    asked = record(**{"job.gpus": 2, "job.limit.seconds": 10 * 86400.0, "job.nodes": ["c1", "c2"]})
    seen = view(asked, *samples(3.1, 41), *samples(0.0, 1, "c2"), *card(0, 0.9), *card(1, 0.2))
    lines = summary(seen, advise(seen), width).splitlines()
    assert all(width_of(line) <= width for line in lines)
    (cores,) = [line for line in lines if line.startswith("  CPU     ")]
    assert "16 cores" in cores
    assert " 19 %" in cores
    assert ("see advice" in cores) == (width >= 72)
    assert any(line.strip().startswith("GPU 1 ") for line in lines)
    assert ("  Too narrow to show mean." in lines) == (width == 40)
