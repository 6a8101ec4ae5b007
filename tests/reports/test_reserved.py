"""
What was held and not used: each figure as it comes out by hand.
"""

from __future__ import annotations

from leadline.formats import Document
from leadline.reports.finding import Case
from leadline.reports.findings import findings
from leadline.store.contract import Store
from leadline.store.scope import EVERYTHING
from tests.any_store import STORES
from tests.reports.documents import NOW, START, at, found, job, node, process

NODES = ("c1", "c2", "c3", "c4")


def wide(**fields: object) -> Document:
    """
    Four nodes of ten cores, from one o'clock to nine.
    """
    return job(**{"job.nodes": list(NODES), "job.cores": 40, **fields})


def heard(*hosts: str, hours: int = 24) -> list[Document]:
    return [node(hour + 0.5, host=host) for host in hosts for hour in range(hours)]


def ran(*hosts: str, **fields: object) -> list[Document]:
    own = {"job.id": "fox/7", "core_seconds": 30000.0, **fields}
    return [process(hour + 0.5, **own, **{"host.name": h}) for h in hosts for hour in range(1, 9)]


def test_nodes_of_a_job_that_did_nothing() -> None:
    """
    Two of four nodes for eight hours: 2 × 10 cores × 8 h are at stake, since the job began.
    """
    (idle,) = found(wide(), *heard(*NODES), *ran("c1", "c2"), kind="idle node")
    assert ("fox/7", "alice", at(1), 160.0) == (idle.object, idle.user, idle.since, idle.hours)
    assert "2 of 4 nodes did nothing in 8 h: c3, c4" == idle.evidence
    assert idle.remedy.startswith("--nodes=2,")


def test_nodes_of_which_nobody_knows() -> None:
    """
    Not heard, used by processes nobody took for the job's, busy, or all alike: nothing is said.
    """
    half = ran("c1", "c2")
    assert [] == found(wide(), *heard("c1", "c2", "c3"), *half, kind="idle node")
    outside = {"job.id": None}
    alone = [{k: v for k, v in one.items() if k != "job.id"} for one in ran("c3", "c4", **outside)]
    assert [] == found(wide(), *heard(*NODES), *half, *alone, kind="idle node")
    assert [] == found(wide(), *heard(*NODES), *ran(*NODES), kind="idle node")
    assert [] == found(wide(), *heard(*NODES), kind="idle node")
    short = {"job.end": at(2.5), "job.wall.seconds": 5400.0}
    assert [] == found(wide(**short), *heard(*NODES), *half, kind="idle node")


def reservation(why: str = "c[1-4]; users bob", **fields: object) -> Document:
    """
    The four nodes from ten o'clock to eight in the evening.
    """
    return {
        "dataset": "event",
        "@timestamp": at(0.2),
        "cluster": "fox",
        "rule.name": "slurm.reservation",
        "event.object": "course",
        "event.reason": why,
        "event.start": at(10),
        "event.end": at(20),
        "event.names": list(NODES),
        "record.version": 1,
        **fields,
    }


def test_a_reservation_nobody_came_to() -> None:
    """
    Four nodes of ten cores for ten hours: 400 core hours, since it began.
    """
    (one,) = found(reservation(), wide(), *heard(*NODES), kind="empty reservation")
    assert ("reservation course", 400.0) == (one.object, one.hours)
    assert (at(10), at(20)) == (one.since, one.until)
    assert "no job on 4 of 4 nodes in 10 h: c1, c2, c3, c4" == one.evidence
    came = wide(**{"job.start": at(12), "job.end": at(13), "job.nodes": ["c1", "c2"]})
    (half,) = found(reservation(), came, *heard(*NODES), kind="empty reservation")
    assert ("no job on 2 of 4 nodes in 10 h: c3, c4", 200.0) == (half.evidence, half.hours)


def test_a_reservation_that_is_in_order() -> None:
    """
    Used on most nodes, as accounted or as seen; for maintenance; short; or no job is known at all.
    """
    kind = "empty reservation"
    used = wide(**{"job.start": at(12), "job.end": at(13), "job.nodes": ["c1", "c2", "c3"]})
    assert [] == found(reservation(), used, *heard(*NODES), kind=kind)
    seen = [process(12.5, **{"job.id": "fox/9", "host.name": host}) for host in NODES[:3]]
    assert [] == found(reservation(), wide(), *seen, *heard(*NODES), kind=kind)
    maintenance = reservation("c[1-4]; flags MAINT, IGNORE_JOBS")
    assert [] == found(maintenance, wide(), *heard(*NODES), kind=kind)
    assert [] == found(reservation(**{"event.end": at(11)}), wide(), *heard(*NODES), kind=kind)
    assert [] == found(reservation(), *heard(*NODES), kind=kind)
    gone = reservation("gone", **{"@timestamp": at(10.5)})
    del gone["event.start"], gone["event.end"], gone["event.names"]
    assert [] == found(reservation(), gone, wide(), *heard(*NODES), kind=kind)


@STORES
def test_every_store_finds_them(other: Store) -> None:
    """
    A job that left two of its nodes idle, and a reservation that nobody came to.
    """
    documents = [reservation(), wide(), *heard(*NODES), *ran("c1", "c2")]
    assert not other.write(documents, "replace").rejected
    kinds = ["idle node", "empty reservation"]
    told = findings(Case(other, EVERYTHING, START, NOW, NOW), kinds)
    assert {
        "idle node": "2 of 4 nodes did nothing in 8 h: c3, c4",
        "empty reservation": "no job on 4 of 4 nodes in 10 h: c1, c2, c3, c4",
    } == {one.kind: one.evidence for one in told}
