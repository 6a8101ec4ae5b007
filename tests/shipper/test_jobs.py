"""Which job a process belongs to, by what real schedulers leave on a node."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from shipper.jobs import Job, job_of_cgroup, job_of_variables
from shipper.snapshot import Snapshots
from tests.shipper.conftest import processes
from tests.shipper.fake import BOOT_ID, FakeSystem

Start = Callable[..., Snapshots]

V1 = "12:memory:{0}\n11:cpuset:{0}\n1:name=systemd:/system.slice/slurmd.service\n"
SCOPE = "0::/system.slice/slurmstepd.scope"


@pytest.mark.parametrize(
    ("cgroup", "job"),
    [
        (V1.format("/slurm/uid_1001/job_42/step_0/task_3"), Job("42", "0", "slurm")),
        (V1.format("/slurm_n1/uid_1001/job_42/step_batch"), Job("42", "batch", "slurm")),
        (V1.format("/slurm/uid_1001/job_42/step_4294967291"), Job("42", "batch", "slurm")),
        (V1.format("/slurm/uid_1001/job_42/step_4294967292"), Job("42", "extern", "slurm")),
        (V1.format("/slurm/uid_1001/job_42"), Job("42", None, "slurm")),
        (f"{SCOPE}/job_42/step_12/user/task_0\n", Job("42", "12", "slurm")),
        (f"{SCOPE}/job_42/step_interactive/slurm\n", Job("42", "interactive", "slurm")),
        ("0::/system.slice/n1_slurmstepd.scope/job_42/step_extern\n", Job("42", "extern", "slurm")),
        # A container's own cgroup below the job's.
        (f"{SCOPE}/job_7/step_0/user/task_0/libpod-abc/x\n", Job("7", "0", "slurm")),
        ("4:memory:/sge/123.1\n", Job("123", None, "sge")),
        ("4:memory:/UGE/123.45/0\n", Job("123.45", None, "sge")),
        ("5:cpuset:/pbspro/123.server/x\n", Job("123.server", None, "pbs")),
        ("0::/pbs_jobs.service/jobid/123.pbs01\n", Job("123.pbs01", None, "pbs")),
        ("0::/pbs.slice/pbspro-123.server.slice\n", Job("123.server", None, "pbs")),
        ("5:cpuset:/torque/77[3].head\n", Job("77[3].head", None, "pbs")),
        ("0::/user.slice/user-1001.slice/session-3.scope\n", None),
        ("0::/system.slice/slurmd.service\n", None),
        ("0::/home/job_12\n", None),
        ("", None),
    ],
)
def test_a_cgroup_tells_the_job(cgroup: str, job: Job | None) -> None:
    """
    Slurm, Grid Engine and PBS, cgroups v1 and v2, steps by name or by old number.
    """
    assert job_of_cgroup(cgroup.encode()) == job


@pytest.mark.parametrize(
    ("variables", "job"),
    [
        ({"SLURM_JOB_ID": "9", "SLURM_STEP_ID": "4294967291"}, Job("9", "batch", "slurm")),
        ({"JOB_ID": "5", "SGE_TASK_ID": "undefined"}, Job("5", None, "sge")),
        ({"JOB_ID": "5", "SGE_TASK_ID": "3"}, Job("5.3", None, "sge")),
        ({"JOB_ID": "5"}, None),  # somebody's own variable
        ({"PBS_JOBID": "8.head"}, Job("8.head", None, "pbs")),
        ({"SLURM_JOB_ID": "$(rm)"}, None),
    ],
)
def test_the_environment_tells_the_job(variables: dict[str, str], job: Job | None) -> None:
    """
    Where no cgroup does.
    """
    assert job_of_variables(variables) == job


def test_the_environment_is_read_without_cgroups(system: FakeSystem, start: Start) -> None:
    """
    A cluster that tracks processes without cgroups still has jobs.
    """
    system.process(300, environ=b"A=1\0SLURM_JOB_ID=42\0SLURM_STEP_ID=0\0")
    (told,) = processes(start().take())
    assert (told["job.local_id"], told["job.step"]) == ("42", "0")


def test_slurm_can_be_left_out(system: FakeSystem, start: Start) -> None:
    """
    `--slurm no`: a session is the job, as on a machine without Slurm.
    """
    system.process(300, cgroup=f"{SCOPE}/job_42/step_0\n")
    (told,) = processes(start(slurm="no").take())
    assert told["job.local_id"] == f"n1/{BOOT_ID}-300-50000"


def test_a_group_id_tells_the_job(system: FakeSystem, start: Start) -> None:
    """
    Grid Engine marks processes with an additional group, which execd's spool resolves.
    """
    spool = "/var/spool/sge/n1/active_jobs"
    system.put(f"{spool}/123.1/addgrpid", "65401\n")
    system.put(f"{spool}/124.2/addgrpid", "65402\n")
    system.process(300)
    system.put("/proc/300/status", "Uid:\t1001\t1001\t1001\t1001\nGroups:\t100 65401 \n")
    system.process(301)
    system.put("/proc/301/status", "Uid:\t1001\t1001\t1001\t1001\nGroups:\t65402\n")
    told = processes(start(scheduler_spool=Path("/var/spool/sge/n1")).take())
    assert [p["job.local_id"] for p in told] == ["123", "124.2"]


def test_a_session_is_a_job_for_all_its_processes(system: FakeSystem, start: Start) -> None:
    """
    Children share their session's job, also one whose pid is below its leader's.
    """
    system.process(300, name=b"bash", command=b"bash\0", session=300, start=100)
    system.process(200, name=b"make", command=b"make\0", session=300, start=200)
    assert {p["job.local_id"] for p in processes(start().take())} == {f"n1/{BOOT_ID}-300-100"}


def test_a_session_outlives_its_leader(system: FakeSystem, start: Start, tmp_path: Path) -> None:
    """
    After logout, and over a restart of the shipper, what still runs belongs to the same job.
    """
    system.process(300, name=b"bash", command=b"bash\0", start=100)
    system.process(301, name=b"sim", command=b"sim\0", session=300, start=200)
    start(state=tmp_path / "s").take()
    system.end(300)
    system.process(302, name=b"late", command=b"late\0", session=300, start=300)
    told = processes(start(state=tmp_path / "s").take())
    assert {p["job.local_id"] for p in told} == {f"n1/{BOOT_ID}-300-100"}


def test_a_process_moved_into_a_job_is_noticed(system: FakeSystem, start: Start) -> None:
    """
    A login that is adopted into a job right after its start belongs to the job from then on.
    """
    snapshots = start()
    snapshots.take()
    system.pass_time(60)
    system.process(300, start=105_990)
    snapshots.take()
    system.pass_time(60)
    system.process(300, start=105_990, user=1, cgroup=f"{SCOPE}/job_42/step_extern\n")
    (told,) = processes(snapshots.take())
    assert told["job.local_id"] == "42"


@pytest.mark.parametrize(
    ("cgroup", "environ", "container"),
    [
        ("0::/system.slice/docker-0123456789abcdef.scope\n", b"", "docker"),
        ("3:cpu:/docker/0123456789abcdef\n", b"", "docker"),
        ("0::/user.slice/libpod-123.scope\n", b"", "podman"),
        ("0::/kubepods.slice/x\n", b"", "kubernetes"),
        ("0::/user.slice\n", b"APPTAINER_CONTAINER=/x.sif\0", "apptainer"),
        ("0::/user.slice\n", b"SINGULARITY_CONTAINER=/x.sif\0", "singularity"),
        ("0::/user.slice\n", b"", None),
    ],
)
def test_containers_are_marked(
    system: FakeSystem, start: Start, cgroup: str, environ: bytes, container: str | None
) -> None:
    """
    By cgroup or environment; the command line is the one inside.
    """
    system.process(300, cgroup=cgroup, environ=environ, command=b"inside\0")
    (told,) = processes(start().take())
    assert (told.get("container"), told["process.command_line"]) == (container, "inside")
