"""
Grid Engine's oldest mark of a job: an additional group id that every process of it carries.
"""

from __future__ import annotations

import re
from pathlib import Path

from shipper.jobs import Job
from shipper.system import System

_FOLDER = re.compile(r"(\d+)\.(\d+)")


class GroupJobs:
    """
    Jobs by additional group id, read from execd's `active_jobs` folder at each tick.
    """

    def __init__(self, system: System, spool: Path | None) -> None:
        self._system = system
        self._folder = f"{spool}/active_jobs" if spool is not None else None
        self._by_group: dict[str, Job] | None = None

    def turn(self) -> None:
        self._by_group = None

    def job(self, pid: int) -> Job | None:
        if self._folder is None:
            return None
        if self._by_group is None:
            self._by_group = dict(self._read())
        if not self._by_group:
            return None
        for line in (self._system.read(f"/proc/{pid}/status") or b"").splitlines():
            if line.startswith(b"Groups:"):
                groups = line[7:].decode().split()
                return next((self._by_group[g] for g in groups if g in self._by_group), None)
        return None

    def _read(self) -> list[tuple[str, Job]]:
        found = []
        for name in self._system.entries(self._folder or ""):
            match = _FOLDER.fullmatch(name)
            group = self._system.text(f"{self._folder}/{name}/addgrpid") if match else None
            if match and group:
                found.append((group, Job(self._local_id(name, match), None, "sge")))
        return found

    def _local_id(self, name: str, match: re.Match[str]) -> str:
        """
        The folder of a plain job is NUMBER.1; its environment file tells it from an array's task.
        """
        environment = self._system.text(f"{self._folder}/{name}/environment") or ""
        plain = match[2] == "1" and "SGE_TASK_ID=undefined" in environment
        return match[1] if plain or (match[2] == "1" and not environment) else name
