"""Against a real Slurm: every way a job can end or be kept waiting arrives as Slurm wrote it."""

from __future__ import annotations

import time
from collections.abc import Collection

import pytest

from leadline.formats import Document
from tests.schedulers.slurm import CAPPED, RealSlurm
from tests.shipper.slurm.real import Watch, agree

pytestmark = pytest.mark.slurm

SMALL = ("-c1", "--mem=100")


@pytest.fixture(scope="module")
def jobs(slurm: RealSlurm, watch: Watch) -> dict[str, str]:
    """
    Jobs by what becomes of them; all submitted at once, for slurmctld looks at limits each 30 s.
    """
    for node in ("n1", "n2", "n3"):
        slurm.run("scontrol", "update", f"nodename={node}", "state=resume", check=False)
    for line in slurm.run("scontrol", "-o", "show", "reservations").splitlines():
        if line.startswith("ReservationName="):
            name = line.partition("=")[2].partition(" ")[0]
            slurm.run("scontrol", "delete", f"ReservationName={name}")
    whole = ("--exclusive", "--mem=100")
    found = {
        "victim": slurm.submit("games", "-w", "n2", *whole, "--no-requeue"),
        "comes back": slurm.submit("games", "-w", "n3", *whole, "--requeue"),
        "too long": slurm.submit("games", "-w", "n1", "-t", "5", *SMALL),
        "out of memory": slurm.allocate("games", "oom", "-w", "n1", *SMALL),
        "late": slurm.submit("news", "-t1", "--deadline=now+70", "--begin=now+12", *whole),
        "one core": slurm.submit("news", "-w", "n1", "-A", CAPPED, *SMALL),
        "second core": slurm.submit("news", "-w", "n1", "-A", CAPPED, *SMALL),
        "one job": slurm.submit("news", "-w", "n1", "--qos=limited", *SMALL),
        "second job": slurm.submit("news", "-w", "n1", "--qos=limited", *SMALL),
        "long": slurm.submit("news", "-p", "gpu", "-t", "8:00:00", *SMALL),
        "too big": slurm.submit("news", "-c", "64"),
        "put back": slurm.submit("news", "-w", "n1", *SMALL),
        "later": slurm.submit("news", "--begin=now+1hour", *SMALL),
        "by admin": slurm.submit("news", "-H", *SMALL),
        "array": slurm.submit("news", "-w", "n1", "--array=1-3%1", *SMALL, script="sleep 3"),
    }
    found["dependent"] = slurm.submit("news", f"--dependency=afterok:{found['long']}", *SMALL)
    for name in ("victim", "comes back", "too long", "put back"):
        watch.until(watch.saw(found[name], "RUNNING"))
    slurm.run("scontrol", "update", f"jobid={found['too long']}", "endtime=now+1")
    slurm.run("scontrol", "hold", found["by admin"])
    slurm.run("scontrol", "requeuehold", found["put back"])
    slurm.end_out_of_memory(found["out of memory"])
    time.sleep(1.1)  # a run that comes back must not be submitted in the second of the first
    for node in ("n2", "n3"):
        slurm.submit("news", "--qos=urgent", "-w", node, *whole, script="sleep 2")
    return found


def ended(watch: Watch, job: str) -> Document:
    watch.until(lambda: watch.ended(job) is not None, 60)
    found = watch.ended(job)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "state", "reason"),
    [
        ("victim", "PREEMPTED", None),
        ("out of memory", "OUT_OF_MEMORY", "OutOfMemory"),
        ("late", "DEADLINE", "DeadLine"),
        ("too long", "TIMEOUT", "TimeLimit"),
    ],
)
def test_ends(
    watch: Watch, jobs: dict[str, str], name: str, state: str, reason: str | None
) -> None:
    """
    As squeue showed it, and as sacct accounts it.
    """
    assert state == ended(watch, jobs[name])["job.state"]
    assert (state, reason) in watch.states(jobs[name])


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("second core", "AssocGrpCpuLimit"),
        ("second job", "QOSMaxJobsPerUserLimit"),
        ("long", "PartitionTimeLimit"),
        ("too big", "PartitionConfig"),
        ("later", "BeginTime"),
        ("by admin", "JobHeldAdmin"),
        ("late", "BeginTime"),
        ("array", "JobArrayTaskLimit"),
        ("dependent", "Dependency"),
    ],
)
def test_waits(watch: Watch, jobs: dict[str, str], name: str, reason: str) -> None:
    """
    Limits of QOS and association, of the partition and the array, holds, times and dependencies.
    """
    watch.until(lambda: ("PENDING", reason) in watch.states(jobs[name]))


def test_a_run_put_back_is_held(watch: Watch, jobs: dict[str, str]) -> None:
    """
    Requeued to be held: the reason is one of Slurm's that no manual names.
    """
    held = ("PENDING", "job requeued in held state")
    watch.until(lambda: held in watch.states(jobs["put back"]))


def test_json_and_text_agree_on_all_of_them(slurm: RealSlurm, jobs: dict[str, str]) -> None:
    """
    Ended, waiting and requeued jobs of one moment.
    """
    assert agree(slurm) > len(jobs)


def test_preempted_run_comes_back_as_another(watch: Watch, jobs: dict[str, str]) -> None:
    """
    The first run ends PREEMPTED in sacct, with its own submit time; the second one runs.
    """
    job = jobs["comes back"]
    first = ended(watch, job)
    assert "PREEMPTED" == first["job.state"]
    watch.until(lambda: [name for name, _ in watch.states(job)].count("RUNNING") == 2, 60)


def test_node_that_fails_takes_its_jobs(
    slurm: RealSlurm, watch: Watch, jobs: dict[str, str]
) -> None:
    """
    NODE_FAIL for one that may not run again; one that may is another run.
    """
    assert jobs
    dies = slurm.submit("news", "-w", "n2", "--no-requeue", *SMALL)
    again = slurm.submit("news", "-w", "n2", "--requeue", *SMALL)
    for job in (dies, again):
        watch.until(watch.saw(job, "RUNNING"))
    time.sleep(1.1)
    slurm.run("scontrol", "update", "nodename=n2", "state=down", "reason=PSU failure [ticket #42]")
    assert "NODE_FAIL" == ended(watch, dies)["job.state"]
    assert "NODE_FAIL" in [name for name, _ in watch.states(dies)]
    assert ended(watch, again)["job.state"] in ("NODE_FAIL", "REQUEUED")
    assert "PSU failure [ticket #42]" == watch.node("n2")["state.reason"]
    waits = slurm.submit("news", "-w", "n2", *SMALL)
    why = ("ReqNodeNotAvail", "Nodes required")
    watch.until(lambda: any(str(r).startswith(why) for _, r in watch.states(waits)))
    slurm.run("scontrol", "update", "nodename=n2", "state=resume")
    slurm.run("scancel", "-u", "games")
    slurm.run("scancel", "-u", "news")
    watch.until(lambda: not slurm.run("squeue", "-a", "-h").strip(), 60)


def test_whatever_squeue_said_arrived(watch: Watch) -> None:
    """
    Every job, state and reason that squeue wrote before and after a look is in the documents.
    """
    told = {
        (str(d["job.local_id"]), str(d["state.name"]), str(d.get("state.reason", "None")))
        for d in watch.documents
        if d["dataset"] == "job_state"
    }
    assert len(watch.said) > 20
    assert set() == watch.said - told


def test_totals_are_those_of_sacct(slurm: RealSlurm, watch: Watch) -> None:
    """
    Jobs, elapsed, CPU and card seconds of every ended run: summed by sacct and by us, to the
    second.
    """
    said = slurm.run(
        *("sacct", "-a", "-D", "-X", "-n", "-P", "-S", "now-1day", "-E", "now"),
        *("-s", "CD,F,CA,NF,TO,PR,RQ,OOM,DL"),
        *("-o", "JobIDRaw,Submit,ElapsedRaw,CPUTimeRAW,AllocTRES,NodeList"),
    )
    theirs: dict[tuple[str, str], tuple[int, int, int]] = {}
    for line in said.splitlines():
        job, submit, elapsed, cpu, tres, _ = line.split("|")
        cards = [int(p.partition("=")[2]) for p in tres.split(",") if p.startswith("gres/gpu=")]
        used = int(elapsed) > 0
        theirs[job, submit] = int(elapsed), int(cpu) * used, sum(cards) * int(elapsed)
    end = time.monotonic() + 30
    while theirs != ours(watch, theirs) and time.monotonic() < end:
        time.sleep(0.5)
        watch.look()
    assert theirs == ours(watch, theirs)
    assert sum(wall > 0 for wall, _, _ in theirs.values()) >= 10
    assert sum(gpu for _, _, gpu in theirs.values()) > 0


def ours(
    watch: Watch, asked: Collection[tuple[str, str]]
) -> dict[tuple[str, str], tuple[int, int, int]]:
    """
    Runs that sacct was asked for: those it lists by state and time leave out some never eligible.
    """
    found = {
        (str(d["job.local_id"]), str(d["job.submit"])[:19]): (
            int(d.get("job.wall.seconds", 0)),  # type: ignore[call-overload]
            int(d.get("job.core_seconds.allocated", 0)),  # type: ignore[call-overload]
            int(d.get("job.gpu_seconds.allocated", 0)),  # type: ignore[call-overload]
        )
        for d in watch.documents
        if d["dataset"] == "job" and d["job.source"] == "sacct"
    }
    return {key: amounts for key, amounts in found.items() if key in asked or amounts[0]}
