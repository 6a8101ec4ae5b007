"""Stray processes: who has no business on a node, and who only seems so."""

from __future__ import annotations

from collections.abc import Callable

from shipper.settings import StraySettings
from shipper.snapshot import Snapshots
from tests.shipper.conftest import processes
from tests.shipper.fake import FakeSystem

Start = Callable[..., Snapshots]
JOB = "0::/system.slice/slurmstepd.scope/job_42/step_0\n"


def strays(system: FakeSystem, start: Start, **settings: object) -> dict[object, object]:
    """
    pid → stray, on a node with a job of bob's.
    """
    system.process(900, uid=1002, cgroup=JOB, name=b"sim", command=b"sim\0")
    return {p["process.pid"]: p.get("stray") for p in processes(start(**settings).take())}


def test_a_process_outside_jobs_is_a_stray(system: FakeSystem, start: Start) -> None:
    """
    Old enough, of a user, on a node with a scheduler; inside a job nothing is.
    """
    system.process(300)
    assert strays(system, start) == {300: True, 900: False}


def test_a_young_process_has_its_grace(system: FakeSystem, start: Start) -> None:
    """
    A prologue, a login on its way: no stray before the grace time is over.
    """
    system.process(300, start=90_000)
    snapshots = start(stray=StraySettings(grace=300))  # type: ignore[arg-type]
    system.process(900, uid=1002, cgroup=JOB)
    assert [p["stray"] for p in processes(snapshots.take()) if p["process.pid"] == 300] == [False]
    system.pass_time(250)
    assert [p["stray"] for p in processes(snapshots.take()) if p["process.pid"] == 300] == [True]


def test_the_system_and_the_allowed_are_no_strays(system: FakeSystem, start: Start) -> None:
    """
    Daemons, and users the site lets work beside the scheduler.
    """
    system.process(300, uid=0)
    system.process(301, uid=1001)
    told = strays(system, start, stray=StraySettings(allowed_users=("alice",)))
    assert told == {300: False, 301: False, 900: False}


def test_login_nodes_have_no_strays(system: FakeSystem, start: Start) -> None:
    """
    People are there to work without a job.
    """
    system.process(300)
    assert strays(system, start, stray=StraySettings(login_nodes=("n1|login.*",)))[300] is None


def test_without_a_scheduler_nobody_is_stray(system: FakeSystem, start: Start) -> None:
    """
    The question has no answer there: absent, not false.
    """
    system.process(300)
    (told,) = processes(start().take())
    assert "stray" not in told
