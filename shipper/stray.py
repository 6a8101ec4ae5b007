"""
Stray processes: a user's process on a node where that user has no job, left over from one or
started around the scheduler.
"""

from __future__ import annotations

from shipper.collectors.contract import Gear, Tick
from shipper.filters import patterns
from shipper.seen import Seen


class Strays:
    """
    Marks processes where a scheduler rules; elsewhere the question has no answer.
    """

    def __init__(self, gear: Gear) -> None:
        settings = gear.settings.stray
        self._settings = settings
        self._allowed = frozenset(settings.allowed_users)
        self._login = patterns("collect.stray.login_nodes", settings.login_nodes)
        self._users = gear.users
        self._scheduler = gear.settings.scheduler_spool is not None or _slurm(gear)
        self._system = gear.system

    def mark(self, processes: list[Seen], tick: Tick, saw_scheduler: bool) -> None:
        """
        A process outside any job, old enough, of a user of flesh and blood is a stray.

        A scheduler is known by its daemon, or by a job on this node.
        """
        if not self._settings.enabled or any(p.fullmatch(tick.host) for p in self._login):
            return
        self._scheduler = self._scheduler or saw_scheduler
        if not self._scheduler:
            return
        young = (tick.uptime - self._settings.grace) * self._system.clock_ticks
        for process in processes:
            uid = process.uid
            if uid is None or process.kernel:
                continue
            stray = (
                uid >= self._settings.uid_min
                and process.start_ticks <= young
                and not _in_job(process)
                and not self._is_allowed(uid)
            )
            if stray is not process.stray:
                process.stray, process.settled = stray, False

    def _is_allowed(self, uid: int) -> bool:
        return bool(self._allowed) and (
            str(uid) in self._allowed or self._users.name(uid) in self._allowed
        )


def _in_job(process: Seen) -> bool:
    return process.job is not None and process.job.scheduler is not None


def _slurm(gear: Gear) -> bool:
    if gear.settings.slurm == "auto":
        return gear.system.stat("/etc/slurm/slurm.conf") is not None and bool(
            gear.system.entries("/var/spool/slurmd") or gear.system.entries("/var/spool/slurm")
        )
    return gear.settings.slurm == "yes"
