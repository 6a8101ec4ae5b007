"""Against a real Slurm: what is done to it arrives as it was, by every way of asking."""

from __future__ import annotations

import time

import pytest

from tests.schedulers.slurm import RealSlurm
from tests.shipper.slurm.real import Watch, agree

pytestmark = pytest.mark.slurm


def test_life_of_jobs(slurm: RealSlurm, watch: Watch) -> None:
    """
    Held, waiting for another, running, suspended, failed, cancelled: each state and reason.
    """
    held = slurm.submit("games", "-H", "-J", "held")
    fails = slurm.submit("news", "-H", "-J", "fails", "-c1", "--mem=100", script="sleep 2; exit 3")
    after = slurm.submit("news", f"--dependency=afterok:{fails}", "-J", "after")
    stopped = slurm.submit("games", "-J", 'we|rd "n" a=b', "-c2", "-w", "n1", "--mem=100")
    watch.until(lambda: ("PENDING", "Dependency") in watch.states(after))
    slurm.run("scontrol", "release", fails)
    watch.until(watch.saw(stopped, "RUNNING"))
    slurm.run("scontrol", "suspend", stopped)
    watch.until(watch.saw(stopped, "SUSPENDED"))
    slurm.run("scontrol", "resume", stopped)
    watch.until(lambda: watch.states(stopped)[-1][0] == "RUNNING")
    slurm.run("scancel", stopped)
    watch.until(lambda: watch.ended(stopped) is not None and watch.ended(fails) is not None)
    watch.until(lambda: ("PENDING", "DependencyNeverSatisfied") in watch.states(after))
    slurm.run("scancel", held, after)
    watch.until(lambda: watch.ended(held) is not None)

    assert ("PENDING", "JobHeldUser") in watch.states(held)
    assert ("PENDING", "Dependency") in watch.states(after)
    names = [name for name, _ in watch.states(stopped)]
    assert ["RUNNING", "SUSPENDED", "RUNNING"] == [
        n for n in names if n in ("RUNNING", "SUSPENDED")
    ]
    assert ("FAILED", "NonZeroExitCode") in watch.states(fails)
    failed, cancelled, never = (watch.ended(job) for job in (fails, stopped, held))
    assert failed is not None
    assert cancelled is not None
    assert never is not None
    assert (3, False, "biology", "news") == (
        failed["job.exit_code"],
        failed["provisional"],
        failed["project"],
        failed["user.name"],
    )
    assert ('we|rd "n" a=b', "CANCELLED") == (
        str(cancelled["job.name"]).replace("`", '"'),
        cancelled["job.state"],
    )
    assert "job.wall.seconds" not in never


def test_requeue_is_a_new_run(slurm: RealSlurm, watch: Watch) -> None:
    """
    Two submit times, two runs of one id; how the first one ended comes from sacct.
    """
    job = slurm.submit("games", "--requeue", "-J", "again", "-c1", "--mem=100")
    watch.until(watch.saw(job, "RUNNING"))
    time.sleep(1.1)  # the second run must not begin in the second of the first
    slurm.run("scontrol", "requeue", job)
    watch.until(lambda: watch.ended(job) is not None)
    first = watch.ended(job)
    watch.until(lambda: [n for n, _ in watch.states(job)].count("RUNNING") == 2)
    slurm.run("scancel", job)
    watch.until(lambda: (watch.ended(job) or {}).get("job.submit") != (first or {})["job.submit"])
    submits = {
        d["job.submit"]
        for d in watch.documents
        if d["dataset"] == "job_state" and d["job.local_id"] == job
    }
    assert 2 == len(submits)


def test_nodes_tell_all(slurm: RealSlurm, watch: Watch) -> None:
    """
    Cards in use, a drain with its reason and author, a reservation, a node that is down.
    """
    job = slurm.submit("games", "-w", "n3", "--gres=gpu:a100:1", "-c2", "--mem=100")
    watch.until(watch.saw(job, "RUNNING"))
    reason = 'fan noise; check "rack 3" | later'
    slurm.run("scontrol", "update", "nodename=n3", "state=drain", f"reason={reason}")
    slurm.run("scontrol", "update", "nodename=n1", "state=down", "reason=PSU")
    slurm.run(
        *("scontrol", "create", "reservation", "ReservationName=course", "StartTime=now"),
        *("Duration=01:00:00", "Nodes=n2", "Users=news", "Flags=IGNORE_JOBS"),
    )
    watch.until(lambda: watch.node("n2").get("reservations") == ["course"])
    watch.until(lambda: "DRAIN" in watch.node("n3").get("state.flags", []))  # type: ignore[operator]
    watch.until(lambda: watch.node("n1")["state.name"] == "DOWN")
    drained = watch.node("n3")
    assert (reason, "root") == (drained["state.reason"], drained["state.reason_user"])
    assert ("MIXED", {"A100": {"total": 2, "allocated": 1}}) == (
        drained["state.name"],
        drained["gpu.by_model"],
    )
    assert "PSU" == watch.node("n1")["state.reason"]
    slurm.run("scontrol", "update", "nodename=n1", "state=resume")
    slurm.run("scancel", job)
    watch.until(lambda: watch.ended(job) is not None, 60)
    assert (1, ["A100"]) == (
        (watch.ended(job) or {})["job.gpus"],
        (watch.ended(job) or {})["gpu.models"],
    )


def test_json_and_text_agree(slurm: RealSlurm) -> None:
    """
    The same moment asked in both ways gives the same documents.
    """
    assert agree(slurm) > 8
