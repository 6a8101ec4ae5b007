"""
Step `job_id`: the scheduler's number becomes a name that is unique over clusters and years.
"""

from __future__ import annotations

from enrich.step import Context, Fields, Step
from leadline.formats.runs import job_id

SAMPLED = frozenset({"process", "process_gpu", "job_cgroup"})


def build(context: Context) -> Step:
    def qualify(cluster: str, local_id: str | None, host: str | None, boot: str | None) -> Fields:
        return {"job.id": job_id(cluster, local_id, host, boot)} if local_id else {}

    return Step(
        name="job_id",
        reads=("cluster", "job.local_id", "host.name", "boot.id"),
        writes=("job.id",),
        compute=qualify,
        datasets=SAMPLED,
    )
