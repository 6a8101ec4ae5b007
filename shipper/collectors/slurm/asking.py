"""
One call of each kind a tick, whatever the cluster's size, each under what is left of the budget.

By pyslurm where it is there and fits the running Slurm, else by JSON, else by text. What a Slurm
cannot do is learnt once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

from leadline.errors import FormatError
from shipper.collectors.slurm import from_json, from_pyslurm, from_text
from shipper.collectors.slurm.records import JobSeen, Look, NodeSeen, ReservationSeen
from shipper.settings import SlurmLiveSettings
from shipper.system import System

T = TypeVar("T")
Source = Literal["pyslurm", "json", "text"]
Call = tuple[tuple[str, ...], Callable[[bytes], list[T]]]

PYSLURM = (sys.executable, "-m", "shipper.collectors.slurm.pyslurm_dump")
UTC = ("env", "TZ=UTC")

JOBS: dict[str, Call[JobSeen]] = {
    "json": (("squeue", "-a", "-t", "all", "--json"), from_json.read_jobs),
    "text": (
        (*UTC, "squeue", "-a", "-t", "all", "-h", "-O", from_text.FORMAT),
        from_text.read_jobs,
    ),
}
NODES: dict[str, Call[NodeSeen]] = {
    "json": (("scontrol", "-a", "show", "nodes", "--json"), from_json.read_nodes),
    "json, old": (("sinfo", "-a", "--json"), from_json.read_nodes),
    "text": ((*UTC, "scontrol", "-a", "-d", "-o", "show", "nodes"), from_text.read_nodes),
}
RESERVATIONS: dict[str, Call[ReservationSeen]] = {
    "json": (
        ("scontrol", "-a", "show", "reservations", "--json"),
        from_json.read_reservations,
    ),
    "text": (
        (*UTC, "scontrol", "-a", "-o", "show", "reservations"),
        from_text.read_reservations,
    ),
}


def find_source(system: System) -> bytes | None:
    """
    `slurm 22.05.8`; None where no Slurm commands are.
    """
    return system.run(("sinfo", "-V"), 5.0)


class Asking:
    def __init__(self, system: System, settings: SlurmLiveSettings) -> None:
        self._system = system
        self._source = settings.source
        self._pyslurm = settings.source in ("auto", "pyslurm")
        self._works: dict[str, str] = {}  # kind → the way that answered last time
        self.problem = ""

    def look(self, until: float) -> Look | None:
        """
        None when jobs or nodes were not answered by UNTIL.
        """
        if self._pyslurm and (look := self._by_pyslurm(until)) is not None:
            return look
        if self._source == "pyslurm":
            return None
        nodes = self._ask("nodes", NODES, until)
        jobs = self._ask("jobs", JOBS, until) if nodes is not None else None
        if nodes is None or jobs is None:
            return None
        return Look(jobs, nodes, self._ask("reservations", RESERVATIONS, until))

    def _by_pyslurm(self, until: float) -> Look | None:
        raw = self._system.run(PYSLURM, self._left(until) / 2)
        if raw is None:
            self._pyslurm = self._source == "pyslurm"  # auto: not there, not tried again
            self.problem = "pyslurm is not there, or does not fit the Slurm that runs"
            return None
        try:
            return from_pyslurm.read(raw)
        except FormatError as error:
            self.problem = str(error)
            self._pyslurm = self._source == "pyslurm"
            return None

    def _ask(self, kind: str, ways: dict[str, Call[T]], until: float) -> list[T] | None:
        """
        By the way that worked before; else by the first that does.
        """
        known = self._works.get(kind)
        for way, (command, read) in ways.items():
            if known is not None and way != known:
                continue
            if not self._allowed(kind, way):
                continue
            answer = self._run(command, read, until)
            if answer is not None:
                self._works[kind] = way
                return answer
        self._works.pop(kind, None)  # Slurm may have been replaced by another version
        return None

    def _allowed(self, kind: str, way: str) -> bool:
        """
        Old Slurms tell reservations in no other way than text.
        """
        if self._source not in ("json", "text") or (kind, way) == ("reservations", "text"):
            return True
        return way.startswith(self._source)

    def _run(
        self, command: Sequence[str], read: Callable[[bytes], list[T]], until: float
    ) -> list[T] | None:
        words = " ".join(word for word in command if word not in UTC and "\x1f" not in word)
        left = self._left(until)
        if left <= 0:
            self.problem = f"no time left for `{words}`"
            return None
        raw = self._system.run(command, left)
        if raw is None:
            self.problem = f"`{words}` failed, or took longer than {left:.0f} s"
            return None
        try:
            return read(raw)
        except (FormatError, KeyError, ValueError, TypeError) as error:
            self.problem = f"`{words}`: {error}"[:300]
            return None

    def _left(self, until: float) -> float:
        return until - self._system.uptime()
