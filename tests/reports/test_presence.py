"""Strays as the scheduler sees them: a process of a user without a job on that node."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from leadline.formats import Document
from leadline.formats.times import format_time
from leadline.reports.finding import Case, Finding
from leadline.reports.findings import findings
from leadline.store.scope import EVERYTHING
from tests.query.conftest import stored

START = datetime(2026, 11, 20, tzinfo=UTC)
NOW = START + timedelta(hours=24)


def at(hours: float) -> str:
    return format_time(START + timedelta(hours=hours))


def process(hour: float, **fields: object) -> Document:
    return {
        "dataset": "process",
        "@timestamp": at(hour),
        "cluster": "fox",
        "host.name": "c1",
        "boot.id": "b",
        "sample.uptime": int(hour * 3600),
        "process.entity_id": "1-1",
        "user.name": "alice",
        "user.id": "2000",
        "process.name": "work",
        "core_seconds": 600.0,
        **fields,
    }


def told(hour: float, state: str, **fields: object) -> Document:
    return {
        "dataset": "job_state",
        "@timestamp": at(hour),
        "cluster": "fox",
        "job.run": f"fox/7@{fields.get('user.name')}",
        "user.name": "alice",
        "state.name": state,
        "state.hash": f"{state}{hour}",
        "job.nodes": ["c1", "c2"],
        **fields,
    }


def node_told(host: str = "c1") -> Document:
    return {
        "dataset": "node_state",
        "@timestamp": at(-1),
        "cluster": "fox",
        "host.name": host,
        "state.name": "MIXED",
        "state.hash": "m",
        "snapshot": True,
    }


def looks(start: float, end: float) -> list[Document]:
    return [
        {
            "dataset": "node",
            "@timestamp": at(start + n / 6),
            "sample.time": at(start + n / 6),
            "cluster": "fox",
            "host.name": "head",
            "boot.id": "h",
            "sample.uptime": n,
            "slurm.nodes": 2,
        }
        for n in range(int((end - start) * 6) + 1)
    ]


def strays(*documents: Document) -> list[Finding]:
    case = Case(stored(documents), EVERYTHING, START, NOW, NOW)
    return findings(case, ["stray"])


def test_no_job_there_is_a_stray() -> None:
    """
    No job was ever sampled on the node and the shipper said nothing: the scheduler is enough.
    """
    (one,) = strays(node_told(), *looks(0, 12), process(2.1), process(2.9))
    assert ("alice", "c1: work", "fox") == (one.user, one.object, one.cluster)


def test_own_job_on_that_node_is_none() -> None:
    """
    A login beside the own job, though the shipper calls it a stray; after the job's end it is one.
    """
    job = [told(1, "RUNNING"), told(4, "COMPLETED", **{"job.start": at(1), "job.end": at(4)})]
    seen = [process(h + 0.1, stray=True) for h in (2, 3, 6, 7)]
    (one,) = strays(node_told(), *looks(0, 12), *job, *seen)
    assert (at(6.1), at(7.1)) == (one.since, one.until)


def test_job_of_days_ago_still_holds() -> None:
    """
    It is told anew each day: a run that started long before the period is known by that.
    """
    daily = told(-10, "RUNNING", snapshot=True, **{"job.start": at(-240)})
    assert [] == strays(node_told(), *looks(0, 12), daily, process(2.1), process(2.9))


def test_job_of_somebody_else_or_elsewhere_does_not_count() -> None:
    """
    Another user's job there, and the own one on another node.
    """
    other = told(0, "RUNNING", **{"user.name": "bob"})
    elsewhere = told(0, "RUNNING", **{"job.nodes": ["c2"]})
    found = strays(node_told(), *looks(0, 12), other, elsewhere, process(2.1), process(2.9))
    assert ["alice"] == [one.user for one in found]


def test_what_is_left_over_has_a_moment_to_go() -> None:
    """
    Minutes after the job's end nothing is called a stray.
    """
    job = [told(1, "RUNNING"), told(4, "COMPLETED", **{"job.end": at(4)})]
    assert [] == strays(node_told(), *looks(0, 12), *job, process(4.05))


def test_time_nobody_asked_is_judged_by_the_samples() -> None:
    """
    The collector was away: only what the shipper itself says is told.
    """
    assert [] == strays(node_told(), *looks(0, 1), process(5.1), process(5.9))
    assert 1 == len(strays(node_told(), *looks(0, 1), process(5.1, stray=True)))


def test_login_nodes_are_not_judged() -> None:
    """
    The scheduler does not have them.
    """
    assert [] == strays(node_told(), *looks(0, 12), process(2.1, **{"host.name": "login"}))
