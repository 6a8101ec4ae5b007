"""
Runs that ended are completed from sacct: by their ids, a bounded number a look, in one call.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from leadline.errors import FormatError
from leadline.formats import Document
from leadline.formats.gres import Gres
from leadline.formats.times import from_epoch
from shipper.collectors.slurm import sacct
from shipper.collectors.slurm.documents import (
    Threads,
    has_ended,
    job_document,
    state_hash,
)
from shipper.collectors.slurm.from_text import CUT, moment
from shipper.collectors.slurm.records import JobSeen, reason_of
from shipper.settings import SlurmLiveSettings
from shipper.system import System

PATIENCE = 1800  # seconds that slurmdbd may lag; then what squeue knew has to do
UNNAMED = "allocation"
WAITING = 20_000  # runs that may wait for slurmdbd
Key = tuple[int, int]
OF_A_RUN = (
    *("job.local_id", "job.name", "project", "partition", "qos", "job.state", "job.class"),
    *("user.name", "user.id", "user.group", "gpu.models", "job.cores", "job.gpus"),
    *("job.node.count", "job.nodes", "job.priority", "job.reservation", "job.limit.seconds"),
    *("job.submit", "job.eligible", "job.start", "job.end"),
)


class Accounting:
    def __init__(self, system: System, settings: SlurmLiveSettings) -> None:
        self._system = system
        self._settings = settings
        self._waiting: dict[Key, tuple[JobSeen, int]] = {}  # the run, and since when it waits

    def complete(
        self, ended: Iterable[JobSeen], threads: Threads, now: int, until: float
    ) -> list[Document]:
        """
        Documents of runs that ended, whole as sacct knows them by now; the others wait.
        """
        for job in ended:
            self._waiting.setdefault((job.id, job.submit or 0), (job, now))
        if not self._waiting:
            return []
        if not self._settings.accounting:
            return self._give_up(list(self._waiting), threads)
        batch = list(self._waiting)[: self._settings.accounting_batch]
        documents: list[Document] = []
        for row, steps in self._ask(batch, until):
            key = _key(row)
            if key in self._waiting and _is_whole(row, self._waiting[key][0]):
                try:
                    made = [sacct.document(row, steps, threads)]
                except (FormatError, ValueError):
                    continue  # waits, and is told as squeue knew it in the end
                job, _ = self._waiting.pop(key)
                if not has_ended(job):
                    made.append(_end_state(made[0], row, now))
                documents += made
        for key in batch:
            if key in self._waiting:
                self._waiting[key] = self._waiting.pop(key)  # to the end of the queue
        late = [key for key, (_, since) in self._waiting.items() if now - since >= PATIENCE]
        late += list(self._waiting)[: max(0, len(self._waiting) - WAITING)]
        return documents + self._give_up(late, threads)

    def dump(self) -> object:
        return [[asdict(job), since] for job, since in self._waiting.values()]

    def restore(self, kept: object) -> None:
        if not isinstance(kept, list):
            return
        for told, since in kept:
            told["gpus"] = tuple(Gres(**one) for one in told["gpus"])
            job = JobSeen(**{**told, "flags": tuple(told["flags"])})
            self._waiting[job.id, job.submit or 0] = (job, since)

    def _give_up(self, keys: Iterable[Key], threads: Threads) -> list[Document]:
        """
        What squeue knew of a run that ended; of one that only vanished nothing is known to say.
        """
        jobs = [self._waiting.pop(key)[0] for key in keys if key in self._waiting]
        return [job_document(job, threads) for job in jobs if job.user and has_ended(job)]

    def _ask(self, keys: list[Key], until: float) -> list[tuple[sacct.Row, list[sacct.Row]]]:
        left = until - self._system.uptime()
        if left <= 0:
            return []
        numbers = ",".join(sorted({str(number) for number, _ in keys}, key=int))
        raw = self._system.run(command(numbers), left)
        if raw is None:
            return []
        try:
            return list(sacct.read(raw))
        except FormatError:
            return []


def command(numbers: str) -> tuple[str, ...]:
    """
    With -j alone sacct looks these ids up, and lists also what was never eligible to start.
    """
    columns = ",".join(sacct.COLUMNS)
    asked = ("sacct", "-n", "-P", "-D", f"--delimiter={CUT}", "-j", numbers, "-o", columns)
    return ("env", "TZ=UTC", "SLURM_TIME_FORMAT=standard", *asked)


def _is_whole(row: sacct.Row, job: JobSeen) -> bool:
    """
    slurmdbd calls a run `allocation` while it has the end and waits for what it began with.
    """
    unnamed = job.name not in (None, UNNAMED) and row["JobName"].removesuffix(CUT) == UNNAMED
    return moment(row["End"]) is not None and not unnamed


def _key(row: sacct.Row) -> Key:
    number = row["JobIDRaw"]
    return (int(number) if number.isdigit() else 0, moment(row["Submit"]) or 0)


def _end_state(run: Document, row: sacct.Row, now: int) -> Document:
    """
    The end of a run that squeue never showed: it was requeued, or forgotten between two looks.
    """
    name, reason = str(run["job.state"]), reason_of(row["Reason"])
    told = {field: run[field] for field in OF_A_RUN if field in run}
    return {
        "dataset": "job_state",
        "@timestamp": from_epoch(min(moment(row["End"]) or now, now)),
        "state.name": name,
        "state.hash": state_hash(name, (), reason),
        **({} if reason is None else {"state.reason": reason}),
        **told,
    }
