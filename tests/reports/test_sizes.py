"""
Mice, whales and vampires: found where they are, never where nobody measured or nobody waits.
"""

from __future__ import annotations

from leadline.formats import Document
from tests.reports.documents import at, found, job, node, process

GIB = 2.0**30
LARGE = {"memory.total.bytes": 100 * GIB}
WHOLE: Document = {
    "job.cores": 10,
    "job.memory.peak.bytes": 2 * GIB,
    "job.core_seconds.allocated": 80 * 3600.0,
}


def test_a_mouse_holds_a_whole_node_and_needs_little() -> None:
    """
    Half a core and 2 of 100 GiB on a node held whole for eight hours.
    """
    samples = [process(h + 0.5, core_seconds=1800.0, **{"job.id": "fox/7"}) for h in range(1, 9)]
    (mouse,) = found(node(2, **LARGE), job(**WHOLE), *samples, kind="mouse")
    assert ("fox/7", "alice", 76.0) == (mouse.object, mouse.user, mouse.hours)
    assert "0.5 cores and 2.0 GiB used at most" in mouse.evidence


def test_no_mouse_where_it_needs_its_node_or_nobody_measured() -> None:
    """
    A busy hour, a memory peak, a shared node, a card or a missing figure: nothing is said.
    """
    samples = [process(h + 0.5, core_seconds=1800.0, **{"job.id": "fox/7"}) for h in range(1, 9)]
    busy = process(5.7, 1, core_seconds=9000.0, **{"job.id": "fox/7"})
    large = node(2, **LARGE)
    assert [] == found(large, job(**WHOLE), *samples, busy, kind="mouse")
    for other in (
        {"job.memory.peak.bytes": 90 * GIB},
        {"job.memory.peak.bytes": None},
        {"job.cores": 2},
        {"job.gpus": 1},
        {"job.end": at(2), "job.wall.seconds": 3600.0},
    ):
        fields = {k: v for k, v in {**WHOLE, **other}.items() if v is not None}
        assert [] == found(large, job(**fields), *samples, kind="mouse"), other
    assert [] == found(large, job(**WHOLE), kind="mouse")
    assert [] == found(node(2), job(**WHOLE), *samples, kind="mouse")


def test_a_whale_wants_half_of_the_cluster() -> None:
    """
    Five of ten cores is one, four is not; one that asks for eleven can never start.
    """
    (whale,) = found(node(2), job(**{"job.cores": 5}), kind="whale")
    assert ("5 of the cluster's 10 cores", 40.0) == (whale.evidence, whale.hours)
    assert [] == found(node(2), job(**{"job.cores": 4}), kind="whale")
    assert [] == found(job(**{"job.cores": 500}), kind="whale")
    waits = {
        "job.submit": at(1),
        "job.start": None,
        "job.end": None,
        "job.wall.seconds": None,
        "job.asked.cores": 11,
    }
    waiting = {k: v for k, v in job(**waits).items() if v is not None}
    (never,) = found(node(2), waiting, kind="whale")
    assert "can never start" in never.evidence
    assert never.hours is None


def test_a_whale_of_cards() -> None:
    """
    Cards are counted by the hours of capacity, apart from cores.
    """
    cards: Document = {
        "dataset": "capacity",
        "@timestamp": at(2),
        "cluster": "fox",
        "host.name": "g1",
        "gpu.model": "A100",
        "gpu.total": 4,
        "record.version": 1,
    }
    (whale,) = found(cards, job(**{"job.gpus": 3}), kind="whale")
    assert ("3 of the cluster's 4 GPUs", "GPU hours") == (whale.evidence, whale.unit)
    assert [] == found(cards, job(**{"job.gpus": 1}), kind="whale")


def small_jobs(count: int, cores: float) -> list[Document]:
    return [
        process(3.5, n, core_seconds=cores * 3600, **{"job.id": f"fox/{n}"}) for n in range(count)
    ]


def test_vampires_need_many_small_jobs_and_a_busy_cluster() -> None:
    """
    Sixty jobs that take three of ten cores together, where eight are busy; else nothing.
    """
    busy = [node(h + 0.5, 8) for h in range(24)]
    (vampire,) = found(*busy, *small_jobs(60, 0.05), kind="vampire")
    assert ("alice", 3.0) == (vampire.user, round(vampire.hours or 0, 6))
    assert "up to 60 small jobs an hour took up to 30 %" in vampire.evidence
    idle = [node(h + 0.5, 4) for h in range(24)]
    assert [] == found(*idle, *small_jobs(60, 0.05), kind="vampire")
    assert [] == found(*busy, *small_jobs(40, 0.075), kind="vampire")
    assert [] == found(*busy, *small_jobs(60, 0.03), kind="vampire")
    assert [] == found(*busy, *small_jobs(2, 3.0), kind="vampire")
