"""
What the kernel counted for a job as a whole is better than the sum of its processes.
"""

from __future__ import annotations

from leadline.formats import Document
from tests.reports.test_job import GIB, record, samples, view


def groups(cores: float | None, memory: float | None) -> list[Document]:
    gone = ("process.entity_id", "core_seconds", "memory.rss.bytes", "program.name", "user.name")
    told: Document = {"dataset": "job_cgroup", "job.local_id": "7"}
    if cores is not None:
        told["core_seconds"] = cores * 600
    if memory is not None:
        told |= {"memory.used.bytes": int(memory * GIB) + GIB, "memory.cached.bytes": GIB}
    return [{k: v for k, v in one.items() if k not in gone} | told for one in samples(0, 0)]


def test_shared_memory_counts_once_and_short_lives_count() -> None:
    """
    Processes of 60 GiB that share most of it hold 20, and a quarter of the CPU time was of
    processes between two looks.
    """
    seen = view(record(), *samples(6, 60), *groups(8, 20))
    assert (20 * GIB, 8.0) == (seen.memory.peak, seen.cpu.mean)
    assert [("VASP", 0.75), ("(short-lived)", 0.25)] == [
        (share.name, share.share) for share in seen.programs
    ]


def test_what_a_group_does_not_tell_comes_from_processes() -> None:
    """
    A group without memory, or no group at all: the processes' sum stays.
    """
    assert 60 * GIB == view(record(), *samples(6, 60), *groups(8, None)).memory.peak
    assert ["VASP"] == [s.name for s in view(record(), *samples(6, 60), *groups(6, 20)).programs]
