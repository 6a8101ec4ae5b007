"""
What jobs use by their control groups, versions 1 and 2, on a fake machine.
"""

from collections.abc import Callable
from pathlib import Path

from leadline.formats import Document
from shipper.snapshot import Snapshots
from tests.shipper.conftest import of
from tests.shipper.fake import FakeSystem

Start = Callable[..., Snapshots]
MIB = 1 << 20
SLURM = "/sys/fs/cgroup/system.slice/slurmstepd.scope"


def version_2(system: FakeSystem, job: str, usec: int, *, killed: int = 0) -> str:
    folder = f"{SLURM}/job_{job}"
    system.put("/sys/fs/cgroup/cgroup.controllers", "cpu memory pids\n")
    part = usec // 4
    times = f"usage_usec {usec}\nuser_usec {3 * part}\nsystem_usec {part}\n"
    system.put(f"{folder}/cpu.stat", times)
    system.put(f"{folder}/memory.current", f"{300 * MIB}\n")
    system.put(f"{folder}/memory.peak", f"{500 * MIB}\n")
    system.put(f"{folder}/memory.max", "max\n")
    system.put(f"{folder}/memory.stat", f"anon 1\ninactive_file {100 * MIB}\n")
    system.put(f"{folder}/memory.events", f"oom 1\noom_kill {killed}\n")
    system.put(f"{folder}/step_0/user/task_0/cpu.stat", "usage_usec 1\n")
    return folder


def look(snapshots: Snapshots, system: FakeSystem, seconds: float = 60) -> dict[object, Document]:
    system.pass_time(seconds)
    return {told["job.local_id"]: told for told in of(snapshots.take(), "job_cgroup")}


def measured(told: Document) -> Document:
    about = ("core", "cpu", "memory")
    return {name: value for name, value in told.items() if name.startswith(about)}


def test_a_job_tells_its_growth_and_its_memory(system: FakeSystem, start: Start) -> None:
    """
    Seconds since the last look, user and system; memory charged, its peak and its idle cache; steps
    are within the job, not beside it.
    """
    version_2(system, "4711", 1_000_000)
    snapshots = start(collectors=("cgroup",))
    look(snapshots, system)
    version_2(system, "4711", 91_000_000, killed=2)
    found = look(snapshots, system)
    assert ["4711"] == list(found)
    assert measured(found["4711"]) == {
        "core_seconds": 90.0,
        "core_seconds_user": 67.5,
        "core_seconds_system": 22.5,
        "cpu.percent": 150.0,
        "memory.used.bytes": 300 * MIB,
        "memory.peak.bytes": 500 * MIB,
        "memory.cached.bytes": 100 * MIB,
        "memory.killed": 2,
    }


def test_first_sight_counts_only_what_was_made_since(system: FakeSystem, start: Start) -> None:
    """
    A job that was there before we looked has no delta; one made since the last look counts whole,
    also when a requeue took the same number again.
    """
    version_2(system, "1", 7_000_000)
    snapshots = start(collectors=("cgroup",))
    first = look(snapshots, system)["1"]
    assert "core_seconds" not in first
    assert first["memory.used.bytes"] == 300 * MIB
    version_2(system, "2", 5_000_000)
    version_2(system, "1", 3_000_000)
    found = look(snapshots, system)
    assert (5.0, 3.0) == (found["2"]["core_seconds"], found["1"]["core_seconds"])


def test_an_ended_job_is_forgotten(system: FakeSystem, start: Start, tmp_path: Path) -> None:
    """
    Nothing is sent of it, nothing is remembered: a daemon sees thousands of jobs.
    """
    folder = version_2(system, "1", 7_000_000)
    snapshots = start(collectors=("cgroup",), state=tmp_path)
    look(snapshots, system)
    assert '"cgroup":{"1":' in (tmp_path / "counters.json").read_text()
    for path in sorted(Path(system.root + folder).rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    assert look(snapshots, system) == {}
    Path(system.root + folder).rmdir()
    assert look(snapshots, system) == {}
    assert '"cgroup":{}' in (tmp_path / "counters.json").read_text()


def test_counters_outlive_a_restart(system: FakeSystem, start: Start, tmp_path: Path) -> None:
    """
    Runs from cron tell what was used since the run before.
    """
    version_2(system, "1", 7_000_000)
    start(collectors=("cgroup",), state=tmp_path).take()
    version_2(system, "1", 9_000_000)
    again = start(collectors=("cgroup",), state=tmp_path)
    assert look(again, system)["1"]["core_seconds"] == 2.0


def test_version_1_has_a_folder_per_controller(system: FakeSystem, start: Start) -> None:
    """
    CPU and memory of a job stand in two trees, and either may be missing.
    """
    cpu, memory = "/sys/fs/cgroup/cpuacct/slurm/uid_1001", "/sys/fs/cgroup/memory/slurm/uid_1001"
    system.put(f"{cpu}/job_5/cpuacct.usage", "2000000000\n")
    system.put(f"{cpu}/job_5/cpuacct.stat", "user 150\nsystem 50\n")
    system.put(f"{memory}/job_5/memory.usage_in_bytes", f"{MIB}\n")
    system.put(f"{memory}/job_5/memory.limit_in_bytes", f"{8 * MIB}\n")
    system.put(f"{memory}/job_6/memory.usage_in_bytes", f"{2 * MIB}\n")
    system.put(f"{memory}/job_6/memory.limit_in_bytes", "9223372036854771712\n")
    snapshots = start(collectors=("cgroup",))
    look(snapshots, system)
    system.put(f"{cpu}/job_5/cpuacct.usage", "32000000000\n")
    system.put(f"{cpu}/job_5/cpuacct.stat", "user 2550\nsystem 650\n")
    found = look(snapshots, system)
    assert measured(found["5"]) == {
        "core_seconds": 30.0,
        "core_seconds_user": 24.0,
        "core_seconds_system": 6.0,
        "cpu.percent": 50.0,
        "memory.used.bytes": MIB,
        "memory.limit.bytes": 8 * MIB,
        "memory.killed": 0,
    }
    assert measured(found["6"]) == {"memory.used.bytes": 2 * MIB}


def test_other_schedulers_jobs_are_found(system: FakeSystem, start: Start) -> None:
    """
    PBS and Grid Engine by their folders; the first task of an array by its processes' environment.
    """
    system.put("/sys/fs/cgroup/cgroup.controllers", "cpu memory\n")
    for folder in ("pbs_jobs.service/jobid/77.server", "sge/900.1", "system.slice/cron.service"):
        system.put(f"/sys/fs/cgroup/{folder}/cpu.stat", "usage_usec 5\n")
    system.put("/sys/fs/cgroup/sge/900.1/cgroup.procs", "31\n32\n")
    system.process(31, environ=b"JOB_ID=900\0SGE_TASK_ID=1\0SGE_ROOT=/sge\0")
    snapshots = start(collectors=("cgroup",))
    look(snapshots, system)
    found = look(snapshots, system)
    assert {"77.server", "900.1"} == set(found)


def test_without_control_groups_it_is_silent(system: FakeSystem, start: Start) -> None:
    """
    For `leadline doctor` to tell.
    """
    assert "no control groups" in start(collectors=("cgroup",)).unavailable["cgroup"]
