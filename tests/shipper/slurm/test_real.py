"""Against a real Slurm: what is done to it arrives as it was, by every way of asking."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from leadline.formats import Document
from leadline.formats.validate import check
from leadline.settings import Duration
from shipper.collectors.slurm.asking import Asking
from shipper.collectors.slurm.changes import Changes
from shipper.settings import CollectSettings, SlurmLiveSettings
from shipper.snapshot import Snapshots
from shipper.system import System
from tests.schedulers.slurm import RealSlurm, missing

pytestmark = pytest.mark.slurm


class AtSlurm(System):
    """
    This machine, with the environment in which its Slurm's commands find it.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        super().__init__()
        self._environment = {**os.environ, **environment}

    def run(self, command: Sequence[str], timeout: float = 10.0) -> bytes | None:
        try:
            done = subprocess.run(
                list(command),
                env=self._environment,
                capture_output=True,
                timeout=timeout,
                check=True,
                stdin=subprocess.DEVNULL,
            )
        except (OSError, subprocess.SubprocessError):
            return None
        return done.stdout


@pytest.fixture(scope="module")
def slurm() -> Iterator[RealSlurm]:
    if (why := missing()) is not None:
        if os.environ.get("CI") == "true":
            pytest.fail(why)
        pytest.skip(why)
    folder = Path(tempfile.mkdtemp(prefix="leadline-slurm-"))  # one that jobs' users may enter
    real = RealSlurm(folder)
    try:
        real.start()
        yield real
    finally:
        real.stop()
        shutil.rmtree(folder, ignore_errors=True)


class Watch:
    """
    Looks again and again, and keeps all documents.
    """

    def __init__(self, slurm: RealSlurm) -> None:
        live = SlurmLiveSettings(enabled=True, every=Duration(0))
        settings = CollectSettings(collectors=("slurm",), slurm_live=live, cluster="leadtest")
        self.snapshots = Snapshots(settings, AtSlurm(slurm.environment))
        assert {} == self.snapshots.unavailable
        self.documents: list[Document] = []

    def look(self) -> None:
        self.documents += [check(document) for document in self.snapshots.take()]
        assert [] == [d for d in self.documents if "labels" in d]

    def until(self, done: Callable[[], bool], seconds: float = 30) -> None:
        end = time.monotonic() + seconds
        while not done():
            assert time.monotonic() < end, self.documents[-20:]
            time.sleep(0.3)
            self.look()

    def states(self, job: str) -> list[tuple[object, object]]:
        return [
            (d["state.name"], d.get("state.reason"))
            for d in self.documents
            if d["dataset"] == "job_state" and d["job.local_id"] == job and "snapshot" not in d
        ]

    def saw(self, job: str, state: str) -> Callable[[], bool]:
        return lambda: state in [name for name, _ in self.states(job)]

    def ended(self, job: str) -> Document | None:
        found = [
            d
            for d in self.documents
            if d["dataset"] == "job" and d["job.local_id"] == job and d["job.source"] == "sacct"
        ]
        return found[-1] if found else None

    def node(self, name: str) -> Document:
        return [
            d for d in self.documents if d["dataset"] == "node_state" and d["host.name"] == name
        ][-1]


@pytest.fixture(scope="module")
def watch(slurm: RealSlurm) -> Watch:
    return Watch(slurm)


def test_life_of_jobs(slurm: RealSlurm, watch: Watch) -> None:
    """
    Held, waiting for another, running, suspended, failed, cancelled: each state and reason.
    """
    held = slurm.submit("games", "-H", "-J", "held")
    fails = slurm.submit("news", "-J", "fails", "-c1", "--mem=100", script="sleep 2; exit 3")
    after = slurm.submit("news", f"--dependency=afterok:{fails}", "-J", "after")
    stopped = slurm.submit("games", "-J", 'we|rd "n" a=b', "-c2", "-w", "n1", "--mem=100")
    watch.look()
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
    found = {}
    for source in ("json", "text"):
        settings = SlurmLiveSettings(enabled=True, source=source)
        asking = Asking(AtSlurm(slurm.environment), settings)
        look = asking.look(time.clock_gettime(time.CLOCK_BOOTTIME) + 20)
        assert look is not None, asking.problem
        documents = [check(d) for d in Changes().of(look, 1_795_300_000)]
        found[source] = sorted(map(str, ([*sorted(d.items())] for d in documents)))
    assert found["json"] == found["text"]
    assert len(found["json"]) > 8


def test_totals_are_those_of_sacct(slurm: RealSlurm, watch: Watch) -> None:
    """
    Wall seconds of all ended runs, summed by sacct and by us, to the second.
    """
    said = slurm.run(
        *("sacct", "-a", "-D", "-X", "-n", "-P", "-S", "now-1day", "-E", "now"),
        *("-s", "CD,F,CA,NF,TO,PR,RQ", "-o", "JobIDRaw,Submit,ElapsedRaw,NodeList"),
    )
    theirs = {
        (job, submit): int(elapsed)
        for job, submit, elapsed, nodes in (line.split("|") for line in said.splitlines())
        if nodes != "None assigned"
    }
    ours = {
        (str(d["job.local_id"]), str(d["job.submit"])[:19]): d["job.wall.seconds"]
        for d in watch.documents
        if d["dataset"] == "job" and d["job.source"] == "sacct" and "job.wall.seconds" in d
    }
    assert len(theirs) >= 5
    assert theirs == ours
