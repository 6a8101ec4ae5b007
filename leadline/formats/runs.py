"""
What a job and a run of a job are called, on every cluster, for samples and accounting alike.
"""

from __future__ import annotations

from leadline.formats.times import epoch_seconds

# States of Slurm in which a run is over; unless it is COMPLETING still.
ENDED = frozenset(
    {
        "BOOT_FAIL",
        "CANCELLED",
        "COMPLETED",
        "DEADLINE",
        "FAILED",
        "NODE_FAIL",
        "OUT_OF_MEMORY",
        "PREEMPTED",
        "REVOKED",
        "TIMEOUT",
    }
)


def job_id(cluster: str, local_id: str, host: str | None = None, boot: str | None = None) -> str:
    """
    A job's id wherever it is spoken of: fox/1234567, or fox/node1/<boot>-<session>-<start>.

    LOCAL_ID is as the node or scheduler writes it. A session's id is only unique on its host.
    """
    if host and boot and local_id.startswith(f"{boot}-"):
        return f"{cluster}/{host}/{local_id}"
    return f"{cluster}/{local_id}"


def job_run(
    job: str, submit: str | None, start: str | None = None, *, with_start: bool = False
) -> str | None:
    """
    One run of JOB: <job>@<submit>, for Grid Engine (`with_start`) also +<start>, Unix seconds.

    Times are canonical ones; a start that is not known is 0. None when the submit time is unknown.
    """
    if submit is None:
        return None
    run = f"{job}@{epoch_seconds(submit)}"
    if not with_start:
        return run
    return f"{run}+{epoch_seconds(start) if start else 0}"
