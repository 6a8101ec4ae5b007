"""
Step `job_id`: the scheduler's number becomes a name that is unique over clusters and years.
"""

from __future__ import annotations

from enrich.step import Context, Fields, Step
from leadline.formats import DATASETS
from leadline.formats.runs import job_id, job_run

READS = ("cluster", "job.local_id", "host.name", "boot.id", "job.id", "job.run", "job.submit")
SAMPLED = frozenset({"process", "process_gpu", "node", "event"})
RUNS = frozenset(name for name, dataset in DATASETS.items() if "job.run" in dataset.key)


def build(context: Context) -> Step:
    def qualify(
        cluster: str,
        local: str | None,
        host: str | None,
        boot: str | None,
        job: str | None,
        run: str | None,
        submit: str | None,
    ) -> Fields:
        job = job_id(cluster, local, host, boot) if local else job
        # A reader that knows more (Grid Engine's start) has made the run's name itself.
        run = run or (job_run(job, submit) if job else None)
        named = {"job.id": job, "job.run": run}
        return {name: value for name, value in named.items() if value is not None}

    return Step(
        name="job_id",
        reads=READS,
        writes=("job.id", "job.run"),
        compute=qualify,
        datasets=SAMPLED | RUNS,
    )
