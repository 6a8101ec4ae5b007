"""
Who a process is: user, command line, job, container. Found once, and again when it may change.
"""

from __future__ import annotations

from sys import intern
from typing import Protocol

from leadline.formats.pseudonyms import Pseudonyms
from leadline.formats.times import from_epoch
from shipper import jobs, redact
from shipper.addgrp import GroupJobs
from shipper.collectors.contract import Gear, Tick
from shipper.command import CommandLine, command_line
from shipper.digest import digest
from shipper.filters import Filter
from shipper.jobs import Job
from shipper.seen import Seen


class Family(Protocol):
    """
    The other processes, as far as identity needs them.
    """

    seen: dict[int, Seen]
    sessions: dict[int, int]


class Identity:
    table: Family
    saw_scheduler = False  # a job, or a scheduler's daemon, on this node

    def __init__(self, gear: Gear, filter_: Filter) -> None:
        settings = gear.settings
        self._system = gear.system
        self._users = gear.users
        self._filter = filter_
        self._settings = settings
        hide = settings.redact
        self._redact = redact.build(hide.patterns) if hide.enabled else None
        self._arguments = hide.arguments
        self._pseudonyms = Pseudonyms(hide.pseudonym_key) if hide.pseudonym_key else None
        self._groups = GroupJobs(gear.system, settings.scheduler_spool)
        self._tick: Tick | None = None
        self._cgroups: dict[bytes, bytes] = {}  # one object for all processes that share it

    def turn(self, tick: Tick) -> None:
        self._tick = tick
        self._groups.turn()
        if len(self._cgroups) > 10_000:
            self._cgroups.clear()

    def identify(self, process: Seen) -> None:
        """
        Called by the table of /proc for a new process and after an exec.
        """
        if process.kernel and not self._settings.process.kernel_threads:
            process.wanted = False
            return
        folder = f"/proc/{process.pid}"
        raw = None
        if process.state != "Z" and not process.kernel:
            raw = self._system.read(f"{folder}/cmdline")
            executable = self._system.link(f"{folder}/exe")
            process.executable = intern(executable) if executable else None
        process.command_mark = hash(raw)
        process.uid = self._uid(process)
        cgroup = self._system.read(f"{folder}/cgroup") or b""
        process.cgroup = self._cgroups.setdefault(cgroup, cgroup)
        variables = self._variables(process, cgroup)
        process.container = self._container(process, cgroup, variables)
        self.finish(
            process,
            command_line(raw, self._redact, self._arguments),
            self._scheduled(process, cgroup, variables),
        )

    def refresh(self, process: Seen) -> None:
        """
        The little that may change without an exec; all is read anew only if it did.
        """
        folder = f"/proc/{process.pid}"
        if process.kernel or process.state == "Z":
            return
        if (
            (process.young and self._uid(process) != process.uid)
            or self._system.owner(process.pid) != process.owner
            or (self._system.read(f"{folder}/cgroup") or b"") != process.cgroup
            or hash(self._system.read(f"{folder}/cmdline")) != process.command_mark
            or (process.user or "").startswith("_user_")
        ):
            self.identify(process)

    def identify_portable(self, process: Seen, raw_command: bytes | None) -> None:
        """
        The same where there is no /proc: the table has found user and executable already.
        """
        line = command_line(raw_command, self._redact, self._arguments)
        self.finish(process, line, None)

    def finish(self, process: Seen, line: CommandLine, scheduled: Job | None) -> None:
        process.command_line = line.text
        process.job = scheduled or self._session(process)
        real = self._users.name(process.uid) if process.uid is not None else None
        process.user = self._shown(real)
        process.wanted = self._filter.wants(process, real)
        process.kin = _kin(process)
        process.document = self._fields(process, line)
        process.settled = False
        self.saw_scheduler = self.saw_scheduler or _is_scheduled(process)

    def _uid(self, process: Seen) -> int | None:
        """
        The folder's owner; root's own and those that hide themselves are looked up in `status`.
        """
        process.owner = owner = self._system.owner(process.pid)
        if owner != 0:
            return owner
        for line in (self._system.read(f"/proc/{process.pid}/status") or b"").splitlines():
            if line.startswith(b"Uid:"):
                return int(line.split()[2])
        return None

    def _variables(self, process: Seen, cgroup: bytes) -> dict[str, str]:
        """
        The environment, where the cgroup leaves a question open.
        """
        job = jobs.job_of_cgroup(cgroup)
        known = job is not None and job.scheduler != "sge"
        if process.kernel or process.state == "Z" or known:
            return {}
        return jobs.variables(self._system.read(f"/proc/{process.pid}/environ"))

    def _scheduled(self, process: Seen, cgroup: bytes, variables: dict[str, str]) -> Job | None:
        job = jobs.job_of_cgroup(cgroup)
        if job is None:
            job = self._groups.job(process.pid) or jobs.job_of_variables(variables)
        else:
            job = jobs.refine(job, variables)
        if job is not None and job.scheduler == "slurm" and self._settings.slurm == "no":
            return None
        return job

    def _container(self, process: Seen, cgroup: bytes, variables: dict[str, str]) -> str | None:
        if kind := jobs.container_of_cgroup(cgroup):
            return kind
        if "APPTAINER_CONTAINER" in variables:
            return "apptainer"
        if "SINGULARITY_CONTAINER" in variables:
            return "singularity"
        parent = self.table.seen.get(process.parent)
        if parent is None:
            return None
        if parent.container:
            return parent.container
        if parent.name in ("starter", "starter-suid", "appinit", "sinit"):
            return "singularity" if "singularity" in (parent.executable or "") else "apptainer"
        return None

    def _session(self, process: Seen) -> Job | None:
        tick = self._tick
        if tick is None or process.kernel:
            return None
        start = self.table.sessions.get(process.session)
        if start is None and process.session:
            start = self._leader_start(process.session)
        return jobs.session_job(tick.host, tick.boot_id, process.session, start)

    def _leader_start(self, session: int) -> int | None:
        """
        A leader with a greater pid than its child is read out of turn.
        """
        raw = self._system.read(f"/proc/{session}/stat") or b""
        field = raw[raw.rfind(b")") + 2 :].split(None, 20)
        if len(field) < 20 or int(field[3]) != session:
            return None
        self.table.sessions[session] = int(field[19])
        return int(field[19])

    def _shown(self, real: str | None) -> str | None:
        return self._pseudonyms.of(real) if self._pseudonyms and real is not None else real

    def _fields(self, process: Seen, line: CommandLine) -> dict[str, object]:
        fields: dict[str, object] = {
            "dataset": "process",
            "process.pid": process.pid,
            "process.entity_id": process.entity,
            "process.parent.pid": process.parent,
            "process.start": from_epoch(process.start),
            "process.name": process.name,
        }
        if process.user is not None:
            fields["user.name"] = process.user
            fields["user.id"] = intern(self._shown(str(process.uid)) or "")
        if process.command_line:
            fields["process.command_line"] = process.command_line
        if line.digest is not None:
            fields["process.command_line_truncated"] = True
            fields["process.command_line_hash"] = line.digest
        if process.executable:
            fields["process.executable"] = process.executable[:2048]
        if process.job is not None:
            fields["job.local_id"] = process.job.local_id
            if process.job.step is not None:
                fields["job.step"] = process.job.step
        if process.container is not None:
            fields["container"] = process.container
        return fields


def _is_scheduled(process: Seen) -> bool:
    if process.name in ("slurmd", "sge_execd", "pbs_mom"):
        return True
    return process.job is not None and process.job.scheduler is not None


def _kin(process: Seen) -> str:
    """
    What makes processes alike, as a short text; also the id of their roll-up.
    """
    job = process.job
    parts = (
        job.local_id if job else "",
        (job.step or "") if job else "",
        str(process.uid),
        process.name,
        process.command_line or "",
        process.container or "",
        process.executable or "",
    )
    return "r" + digest("\x1f".join(parts).encode("utf-8", "surrogatepass"), 9)
