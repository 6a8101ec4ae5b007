"""
One simulation from plan to files: documents by day, the scheduler's words, and the truth.
"""

from __future__ import annotations

import gzip
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from random import Random
from typing import BinaryIO, cast

import orjson

from leadline.errors import LeadlineError
from leadline.simulate.activity import Activity, Job
from leadline.simulate.fleet import Fleet, build_fleet
from leadline.simulate.grants import grants
from leadline.simulate.nodes import Slurmctld
from leadline.simulate.people import processes
from leadline.simulate.shipping import NodeShipper
from leadline.simulate.states import job_documents
from leadline.simulate.timeline import DAY, schedule
from leadline.simulate.truth import HOUR, Ledger, findings, keys, real_amounts

# Read before the samples: what project a job belongs to must be known when they come.
JOBS_FILE = "0-jobs.ndjson"
TRUTH_FILE = "truth.json"
GRANTS_FILE = "grants.csv"


@dataclass(frozen=True, slots=True)
class Plan:
    """
    What to simulate. The same plan makes the same files, byte for byte.
    """

    seed: int
    nodes: int
    days: int
    every: int  # seconds between samples
    end: int  # the last tick, seconds since the epoch
    cluster: str = "fox"
    compress: bool = True

    @property
    def start(self) -> int:
        return self.end - self.days * DAY

    def check(self) -> None:
        for name, value in (("nodes", self.nodes), ("days", self.days), ("every", self.every)):
            if value < 1:
                raise LeadlineError(f"simulate: --{name} {value}: give 1 or more")
        if self.every < 30:
            raise LeadlineError(f"simulate: --every {self.every}s: give 30s or more")


@dataclass(frozen=True, slots=True)
class Report:
    """
    What was written, and how far samples are from what really happened.
    """

    files: tuple[Path, ...]
    documents: int
    sampled: dict[str, float]
    real: dict[str, float]

    @property
    def errors(self) -> dict[str, float]:
        """
        By measure: the share of the real hours that no sample could see.
        """
        return {
            name: (real - self.sampled.get(name, 0.0)) / real
            for name, real in self.real.items()
            if real and "hours" in name
        }


def simulate(plan: Plan, folder: Path) -> Report:
    """
    Write FOLDER/*.ndjson.gz, FOLDER/truth.json, and FOLDER/grants.csv for the settings.
    """
    plan.check()
    random = Random(plan.seed)  # noqa: S311 - a simulation, not a secret
    fleet = build_fleet(random, plan.nodes, plan.start, plan.end, plan.seed)
    jobs = schedule(random, fleet, plan.start, plan.end)
    activities = processes(random, fleet, jobs, plan.start, plan.end)
    real = _real(activities, plan)
    found = findings(activities, jobs, plan.start, plan.end)

    folder.mkdir(parents=True, exist_ok=True)
    sampled, days = Ledger(), dict[str, dict[str, int]]()
    files: list[Path] = []
    slurm = Slurmctld(fleet, jobs, plan.seed, plan.start, plan.end, plan.every)
    documents = _write_told(jobs, slurm, plan, folder, files)
    shippers = _shippers(fleet, activities, plan, slurm)
    documents += _write_samples(shippers, plan, folder, files, sampled, days)
    truth = {
        "plan": {
            "seed": plan.seed,
            "nodes": plan.nodes,
            "days": plan.days,
            "every": plan.every,
            "cluster": plan.cluster,
            "start": _iso(plan.start),
            "end": _iso(plan.end),
        },
        "documents": documents,
        "sampled": sampled.as_dict() | {"by_day": _by_day(days)},
        "real": real.as_dict(),
        "findings": found,
        "nodes": slurm.truth(),
        "users": {u.name: {"group": u.group, "project": u.project} for u in fleet.users},
    }
    (folder / TRUTH_FILE).write_bytes(orjson.dumps(truth, option=orjson.OPT_INDENT_2) + b"\n")
    granted = grants(jobs, plan.cluster, plan.start, plan.end)
    (folder / GRANTS_FILE).write_text(granted, encoding="utf-8")
    return Report(tuple(files), documents, _hours(sampled), _hours(real))


def _real(activities: list[Activity], plan: Plan) -> Ledger:
    ledger = Ledger()
    for activity in activities:
        start = plan.start - activity.host.delay
        amounts = real_amounts(activity, start, plan.end - activity.host.delay)
        if amounts:
            ledger.add(keys(activity, plan.cluster), amounts)
    return ledger


def _hours(ledger: Ledger) -> dict[str, float]:
    return {name: n / HOUR for name, n in ledger.totals.items() if "hours" in name}


def _by_day(days: dict[str, dict[str, int]]) -> dict[str, object]:
    """
    Core hours by UTC day and program: any run of days can be added up from them.
    """
    return {
        day: {
            "core_hours_used": {"program": {p: round(n / HOUR, 5) for p, n in sorted(sums.items())}}
        }
        for day, sums in days.items()
    }


def _write_told(
    jobs: list[Job], slurm: Slurmctld, plan: Plan, folder: Path, files: list[Path]
) -> int:
    """
    What the scheduler tells: of nodes, and of jobs.
    """
    count = 0
    with _file(folder, JOBS_FILE, plan, files) as out:
        told = job_documents(jobs, plan.cluster, plan.start, plan.end)
        for line in chain(slurm.documents(plan.cluster), told):
            out.write(line)
            count += 1
    return count


def _write_samples(
    shippers: list[NodeShipper],
    plan: Plan,
    folder: Path,
    files: list[Path],
    ledger: Ledger,
    days: dict[str, dict[str, int]],
) -> int:
    ticks = list(range(plan.start + plan.every, plan.end + 1, plan.every))
    count = 0
    for name, in_file in _by_name(ticks, plan.every).items():
        with _file(folder, f"{name}.ndjson", plan, files) as out:
            for tick in in_file:
                lines: list[bytes] = []
                for shipper in shippers:
                    day = days.setdefault(_day(tick, shipper, plan), defaultdict(int))
                    lines += shipper.tick(tick - shipper.host.delay, ledger, day)
                out.write(b"".join(lines))
                count += len(lines)
    for shipper in shippers:
        shipper.finish(ledger)
    return count


def _shippers(
    fleet: Fleet, activities: list[Activity], plan: Plan, slurm: Slurmctld
) -> list[NodeShipper]:
    here: dict[str, list[Activity]] = defaultdict(list)
    for activity in activities:
        here[activity.host.name].append(activity)
    return [
        NodeShipper(
            host,
            here[host.name],
            plan.cluster,
            plan.every,
            plan.start,
            f"{plan.seed}/{host.name}",
            slurm.look if host is slurm.asks else None,
        )
        for host in fleet.hosts
    ]


def _by_name(ticks: list[int], every: int) -> dict[str, list[int]]:
    files: dict[str, list[int]] = {}
    for tick in ticks:
        files.setdefault(f"{datetime.fromtimestamp(tick - every, UTC):%Y-%m-%d}", []).append(tick)
    return files


def _day(tick: int, shipper: NodeShipper, plan: Plan) -> str:
    """
    The UTC day a sample belongs to: that of the middle of its interval.
    """
    middle = tick - shipper.host.delay - plan.every / 2
    return f"{datetime.fromtimestamp(middle, UTC):%Y-%m-%d}"


def _iso(moment: float) -> str:
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%dT%H:%M:%SZ}"


@contextmanager
def _file(folder: Path, name: str, plan: Plan, files: list[Path]) -> Iterator[BinaryIO]:
    path = folder / (f"{name}.gz" if plan.compress else name)
    files.append(path)
    with path.open("wb") as raw:
        if not plan.compress:
            yield raw
            return
        # No name and no time inside: the same plan shall make the same bytes.
        with gzip.GzipFile("", "wb", compresslevel=1, fileobj=raw, mtime=0) as packed:
            yield cast(BinaryIO, packed)
