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


def running_version(system: System) -> str | None:
    """
    22.05.8 of `slurm 22.05.8`; None where no Slurm commands are.
    """
    said = system.run(("sinfo", "-V"), 5.0)
    if said is None:
        return None
    words = said.decode("utf-8", "replace").split()
    return next((word for word in words if word[:1].isdigit()), "")


class Asking:
    def __init__(self, system: System, settings: SlurmLiveSettings) -> None:
        self._system = system
        self._source = settings.source
        self._pyslurm = settings.source in ("auto", "pyslurm")
        self._answered = False  # pyslurm did, once
        self._works: dict[str, str] = {}  # kind → the way that answered last time
        self.problem = ""
        self.pyslurm_problem = ""

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
        """
        Where it refuses, or never answered, it is not tried again unless the settings name it.
        """
        running = running_version(self._system) or ""
        raw = self._system.run((*PYSLURM, running), self._left(until) / 2)
        try:
            if raw is None:
                raise FormatError("pyslurm failed, or took too long to answer")
            look = from_pyslurm.read(raw)
        except FormatError as error:
            self.problem = self.pyslurm_problem = str(error)
            again = self._answered and not isinstance(error, from_pyslurm.RefusedError)
            self._pyslurm = again or self._source == "pyslurm"
            return None
        self._answered, self.pyslurm_problem = True, ""
        return look

    @property
    def ways(self) -> str:
        """
        How the last look was answered: `nodes by text, jobs by json`.
        """
        if self._pyslurm and not self.pyslurm_problem and self._answered:
            return "pyslurm"
        return ", ".join(f"{kind} by {way.partition(',')[0]}" for kind, way in self._works.items())

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
