"""
A real Slurm as the collector sees it, look by look.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence

from leadline.formats import Document
from leadline.formats.validate import check
from leadline.settings import Duration
from shipper.collectors.slurm.asking import Asking
from shipper.collectors.slurm.changes import Changes
from shipper.settings import CollectSettings, SlurmLiveSettings
from shipper.snapshot import Snapshots
from shipper.system import System
from tests.schedulers.slurm import RealSlurm


class AtSlurm(System):
    """
    This machine, with the environment in which its Slurm's commands find it.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        super().__init__()
        self._environment = {**os.environ, **environment}

    def run(self, command: Sequence[str], timeout: float = 10.0) -> bytes | None:
        try:
            done = subprocess.run(
                list(command),
                env=self._environment,
                capture_output=True,
                timeout=timeout,
                check=True,
                stdin=subprocess.DEVNULL,
            )
        except (OSError, subprocess.SubprocessError):
            return None
        return done.stdout


class Watch:
    """
    Looks again and again, and keeps all documents.
    """

    def __init__(self, slurm: RealSlurm) -> None:
        live = SlurmLiveSettings(enabled=True, every=Duration(0))
        settings = CollectSettings(collectors=("slurm",), slurm_live=live, cluster="leadtest")
        self.snapshots = Snapshots(settings, AtSlurm(slurm.environment))
        assert {} == self.snapshots.unavailable
        self.documents: list[Document] = []
        self.said: set[tuple[str, str, str]] = set()  # job, state and reason as squeue wrote them
        self._slurm = slurm

    def look(self) -> None:
        before = self._squeue()
        self._look()
        self.said |= before & self._squeue()

    def _squeue(self) -> set[tuple[str, str, str]]:
        lines = self._slurm.run("squeue", "-a", "-h", "-t", "all", "-O", "JobID:|,State:|,Reason:|")
        cells = (line.split("|") for line in lines.splitlines())
        return {(job, state, reason) for job, state, reason, _ in cells}

    def _look(self) -> None:
        self.documents += [check(document) for document in self.snapshots.take()]
        assert [] == [d for d in self.documents if "labels" in d]

    def until(self, done: Callable[[], bool], seconds: float = 30) -> None:
        end = time.monotonic() + seconds
        while not done():
            assert time.monotonic() < end, self.documents[-5:]
            time.sleep(0.3)
            self.look()

    def states(self, job: str) -> list[tuple[object, object]]:
        return [
            (d["state.name"], d.get("state.reason"))
            for d in self.documents
            if d["dataset"] == "job_state" and d["job.local_id"] == job and "snapshot" not in d
        ]

    def saw(self, job: str, state: str) -> Callable[[], bool]:
        return lambda: state in [name for name, _ in self.states(job)]

    def ended(self, job: str) -> Document | None:
        found = [
            d
            for d in self.documents
            if d["dataset"] == "job" and d["job.local_id"] == job and d["job.source"] == "sacct"
        ]
        return found[-1] if found else None

    def node(self, name: str) -> Document:
        return [
            d for d in self.documents if d["dataset"] == "node_state" and d["host.name"] == name
        ][-1]


def agree(slurm: RealSlurm) -> int:
    """
    The same moment asked as JSON and as text gives the same documents; how many. What happens
    between the two is no difference: there are some tries.
    """
    for _ in range(5):
        by_json, by_text = asked(slurm, "json"), asked(slurm, "text")
        if by_json == by_text:
            return len(by_json)
    raise AssertionError(sorted(set(by_json) ^ set(by_text)))


def asked(slurm: RealSlurm, source: str) -> list[str]:
    settings = SlurmLiveSettings(enabled=True, source=source)  # type: ignore[arg-type]
    asking = Asking(AtSlurm(slurm.environment), settings)
    look = asking.look(time.clock_gettime(time.CLOCK_BOOTTIME) + 20)
    assert look is not None, asking.problem
    documents = [check(d) for d in Changes().of(look, 1_795_300_000)]
    return sorted(str(sorted(document.items())) for document in documents)
