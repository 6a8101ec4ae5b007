"""
Step `job_context`: a sample's run, project and partition, learned from the scheduler's documents.

Nodes know only the job's number. What job and job_state documents say passes here before it is
stored, so nobody has to ask the scheduler on every node. A job not heard of yet leaves the sample
as it is: what is absent is looked up again when the hour is closed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import orjson

from enrich.step import Context
from leadline.formats import Document

TELLING = frozenset({"job", "job_state"})
SAMPLED = frozenset({"process", "process_gpu", "job_cgroup"})
FIELDS = ("project", "partition")
NEEDED = ("dataset", "job.id", "job.run", "job.submit", "@timestamp", *FIELDS)
JOBS_KEPT = 200_000


@dataclass(frozen=True)
class Run:
    submit: str  # no sample before it is of this run
    fields: Document

    @cached_property
    def members(self) -> bytes:
        """
        The fields as members of a JSON object, a comma first.
        """
        return b"," + orjson.dumps(self.fields)[1:-1]


class JobContext:
    name = "job_context"

    def __init__(self, kept: int = JOBS_KEPT) -> None:
        self._kept = kept
        self._jobs: dict[str, tuple[Run, ...]] = {}  # the latest run of a job first
        self.runs_of: Callable[[str | None], tuple[Run, ...] | None] = self._jobs.get  # type: ignore[assignment]

    def __call__(self, document: Document) -> None:
        dataset = document["dataset"]
        if dataset in SAMPLED:
            runs = self._jobs.get(document.get("job.id"))  # type: ignore[call-overload]
            if runs is not None and (run := run_at(runs, _taken(document))):
                document.update(run.fields)
        elif dataset in TELLING:
            self.learn(document)

    def learn(self, document: Document) -> None:
        job, run = document.get("job.id"), document.get("job.run")
        if not isinstance(job, str) or not isinstance(run, str):
            return
        fields = {name: document[name] for name in FIELDS if name in document}
        # What a later document leaves out is still true: a state may come without its project.
        others = []
        for known in self._jobs.pop(job, ()):
            if known.fields["job.run"] == run:
                fields = {**known.fields, **fields}
            else:
                others.append(known)
        submit = str(document.get("job.submit", document["@timestamp"]))
        runs = [Run(submit, {**fields, "job.run": run}), *others]
        runs.sort(key=lambda one: one.submit, reverse=True)
        self._jobs[job] = tuple(runs)
        if len(self._jobs) > self._kept:
            del self._jobs[next(iter(self._jobs))]  # the one not heard of for longest

    def learn_all(self, documents: Iterable[Document]) -> None:
        for document in documents:
            self.learn(document)


def run_at(runs: tuple[Run, ...], taken: str) -> Run | None:
    return next((run for run in runs if run.submit <= taken), None)


def told_of(runs: tuple[Run, ...], taken: str) -> bytes:
    """
    What is known of a sample of a job with RUNS, as members of a JSON object.
    """
    run = run_at(runs, taken)
    return run.members if run else b""


def _taken(document: Document) -> str:
    # Taken after its middle: a run submitted between the two is the one that was seen.
    return str(document.get("sample.time", document["@timestamp"]))


def build(context: Context) -> JobContext:
    return JobContext()
