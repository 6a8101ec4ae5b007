"""
Step `job_run`: a job of the scheduler gets its qualified id, and each run of it a name of its own.

A reader that knows more (Grid Engine's start time) has named the run itself; that name stays.
"""

from __future__ import annotations

from enrich.step import Context, Fields, Step
from leadline.formats import DATASETS
from leadline.formats.runs import job_id, job_run

RUNS = frozenset(name for name, dataset in DATASETS.items() if "job.run" in dataset.key)
READS = ("cluster", "job.local_id", "host.name", "boot.id", "job.id", "job.run", "job.submit")


def build(context: Context) -> Step:
    def qualify(
        cluster: str,
        local_id: str | None,
        host: str | None,
        boot: str | None,
        job: str | None,
        run: str | None,
        submit: str | None,
    ) -> Fields:
        job = job_id(cluster, local_id, host, boot) if local_id else job
        run = run or (job_run(job, submit) if job else None)
        named = {"job.id": job, "job.run": run}
        return {name: value for name, value in named.items() if value is not None}

    return Step(
        name="job_run",
        reads=READS,
        writes=("job.id", "job.run"),
        compute=qualify,
        datasets=RUNS | {"event"},
    )
