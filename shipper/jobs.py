"""
Which job a process belongs to, by what the scheduler left on the node: its cgroup, its group id,
its environment. Without a scheduler a session is the job, so that there always is one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

# Steps that older Slurms write as numbers.
SLURM_STEPS = {
    "4294967290": "interactive",
    "4294967291": "batch",
    "4294967292": "extern",
    "4294967294": "batch",
    "4294967295": "extern",
}

_SLURM = re.compile(r"(?:slurm[^/\n]*(?:/[^/\n]+)*?)/job_(\d+)(?:/step_([^/\n]+))?")
_GRID_ENGINE = re.compile(r"/(?:sge|uge|SGE|UGE|gridengine|ocs)(?:/[^/\n]+)*?/(\d+)\.(\d+)")
_PBS = re.compile(
    r"(?:/(?:pbs|pbspro|pbs_jobs|pbs_jobs\.service|torque|jobid)(?:/jobid)?/|pbspro-)"
    r"(\d+(?:\[\d+\])?(?:\.[A-Za-z0-9_][\w.-]*?)?)(?:\.slice)?(?:/|$)",
    re.MULTILINE,
)
_CONTAINER = re.compile(
    r"(?P<docker>/docker[-/]|docker-[0-9a-f]{12})|(?P<podman>libpod)"
    r"|(?P<kubernetes>kubepods)|(?P<containerd>cri-containerd|/containerd/)|(?P<crio>crio-)"
    r"|(?P<apptainer>apptainer|singularity)|(?P<lxc>/lxc)"
)


@dataclass(frozen=True, slots=True)
class Job:
    local_id: str
    step: str | None
    scheduler: str | None  # None: a session stands in for a job


@lru_cache(maxsize=8192)
def job_of_cgroup(cgroup: bytes) -> Job | None:
    """
    The job of a /proc/PID/cgroup, v1 or v2. The deepest step named wins.
    """
    text = cgroup.decode("utf-8", "replace")
    if found := list(_SLURM.finditer(text)):
        best = max(found, key=lambda match: match[2] is not None)
        step = best[2]
        return Job(best[1], SLURM_STEPS.get(step, step) if step else None, "slurm")
    if match := _GRID_ENGINE.search(text):
        return Job(_array(match[1], match[2] if match[2] != "1" else None), None, "sge")
    if match := _PBS.search(text):
        return Job(match[1], None, "pbs")
    return None


@lru_cache(maxsize=8192)
def container_of_cgroup(cgroup: bytes) -> str | None:
    match = _CONTAINER.search(cgroup.decode("utf-8", "replace"))
    return match.lastgroup if match else None


def variables(environ: bytes | None) -> dict[str, str]:
    """
    Those variables of /proc/PID/environ that name a job or a container.
    """
    found: dict[str, str] = {}
    for entry in (environ or b"").split(b"\0"):
        name, _, value = entry.partition(b"=")
        if name in _VARIABLES and value:
            found[name.decode()] = value.decode("utf-8", "replace")
    return found


_VARIABLES = frozenset(
    {
        b"SLURM_JOB_ID",
        b"SLURM_STEP_ID",
        b"JOB_ID",
        b"SGE_TASK_ID",
        b"SGE_ROOT",
        b"PBS_JOBID",
        b"APPTAINER_CONTAINER",
        b"SINGULARITY_CONTAINER",
    }
)


def job_of_variables(variables: Mapping[str, str]) -> Job | None:
    """
    The job its environment says a process was started in.
    """
    if (slurm := variables.get("SLURM_JOB_ID", "")).isdigit():
        step = variables.get("SLURM_STEP_ID")
        return Job(slurm, SLURM_STEPS.get(step, step) if step else None, "slurm")
    if (number := variables.get("JOB_ID", "")).isdigit() and "SGE_TASK_ID" in variables:
        task = variables["SGE_TASK_ID"]
        return Job(_array(number, task if task.isdigit() else None), None, "sge")
    if pbs := variables.get("PBS_JOBID"):
        return Job(pbs, None, "pbs")
    return None


def refine(job: Job, variables: Mapping[str, str]) -> Job:
    """
    Grid Engine's cgroup of task 1 is that of a plain job, too: the environment tells.
    """
    if job.scheduler != "sge" or variables.get("JOB_ID") != job.local_id.partition(".")[0]:
        return job
    return job_of_variables(variables) or job


@lru_cache(maxsize=1024)  # one object for all of a session
def session_job(host: str, boot_id: str, session: int, leader_start: int | None) -> Job:
    """
    The job where no scheduler is: a login session, named so that a pid used again is another.
    """
    return Job(f"{host}/{boot_id}-{session}-{leader_start or 0}", None, None)


def _array(number: str, task: str | None) -> str:
    return f"{number}.{task}" if task else number
