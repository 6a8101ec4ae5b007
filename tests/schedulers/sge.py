"""
A real Grid Engine on this machine: qmaster and execd with a cell of their own, on loopback, ended
by the process ids that were kept when they were started.

Needs root, a C compiler and Debian's packages. Jobs run as users that every Debian has.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.schedulers import sge_conf as conf
from tests.schedulers.real import run

PACKAGES = "gridengine-master gridengine-exec gridengine-client gcc libc6-dev"
PROGRAMS = ("sge_qmaster", "sge_execd", "spoolinit", "qconf", "qsub", "qacct", "gcc")
LIBRARY = "/usr/lib/gridengine"
PATH = f"{LIBRARY}:/usr/sbin:/usr/bin:/sbin:/bin"
RESOURCES = Path("/usr/share/gridengine/util/resources")
CELL = "test"
PROJECTS = ("chem", "geo")
QUEUES = {"main.q": 4, "short.q": 2}
STARTING = 60.0


def missing() -> str | None:
    """
    Why no Grid Engine can be started here, and the way to one.
    """
    absent = [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]
    if absent:
        return f"no {', '.join(absent)}: apt-get install --no-install-recommends {PACKAGES}"
    return None if os.geteuid() == 0 else "execd must be root to run jobs as other users"


@dataclass
class RealGridEngine:
    folder: Path
    _running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.host = socket.gethostname()
        self.root = self.folder / "root"
        self.common = self.root / CELL / "common"
        self.accounting = self.common / "accounting"
        self.ports = _free_ports(2)

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": PATH,
            "LD_LIBRARY_PATH": LIBRARY,
            "SGE_ROOT": str(self.root),
            "SGE_CELL": CELL,
            "SGE_QMASTER_PORT": str(self.ports[0]),
            "SGE_EXECD_PORT": str(self.ports[1]),
            "SGE_CLUSTER_NAME": "leadtest",
        }

    def start(self) -> None:
        spools = ("spool/qmaster/job_scripts", "spool/execd", "spool/database")
        for name in (f"root/{CELL}/common", *spools, "log", "conf/complexes"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        for each in (self.folder, *self.folder.rglob("*")):
            each.chmod(0o755)
        self._compile_shim()
        self._make_cell()
        self._spawn("sge_qmaster")
        self._wait("qmaster", lambda: self._says("qconf", "-sh"))
        self._configure()
        self._spawn("sge_execd")
        self._wait("execd", self._reports)

    def stop(self) -> None:
        """
        Nothing is kept, so nothing needs the time to save itself.
        """
        for process in reversed(self._running):
            process.send_signal(signal.SIGKILL)
            process.wait(10)
        self._running = []
        for pid in self._shepherds():
            os.kill(pid, signal.SIGKILL)

    def run(self, *command: str, check: bool = True, user: str | None = None) -> str:
        return run(self.environment, command, check=check, user=user)

    def submit(self, user: str, *options: str, script: str = "sleep 300") -> str:
        """
        The new job's number.
        """
        quiet = ("-terse", "-b", "y", "-shell", "n", "-wd", "/tmp", "-j", "y", "-o", "/dev/null")
        said = self.run("qsub", *quiet, *options, "/bin/sh", "-c", script, user=user)
        return said.split()[0].partition(".")[0]

    def states(self, job: str) -> set[str]:
        """
        Its tasks' letters in qstat; empty when it is gone.
        """
        rows = (line.split() for line in self.run("qstat", "-u", "*").splitlines())
        return {row[4] for row in rows if row and row[0] == job}

    def await_state(self, job: str, *states: str, seconds: float = 60.0) -> None:
        """
        Until all that is left of JOB is in one of STATES; without any, until it is gone.
        """
        self._wait(
            f"job {job} to be {' or '.join(states) or 'gone'}",
            lambda: self.states(job) == set() if not states else self.states(job) <= {*states},
            seconds,
        )

    def await_records(self, count: int, seconds: float = 60.0) -> list[list[str]]:
        """
        The accounting file's records, once there are COUNT.
        """
        self._wait(f"{count} records", lambda: len(self.records()) >= count, seconds)
        return self.records()

    def records(self) -> list[list[str]]:
        if not self.accounting.exists():
            return []
        lines = self.accounting.read_text().splitlines()
        return [line.split(":") for line in lines if not line.startswith("#")]

    def _compile_shim(self) -> None:
        source = self.folder / "loopback.c"
        source.write_text(conf.LOOPBACK)
        self.shim = self.folder / "loopback.so"
        self.run("gcc", "-shared", "-fPIC", "-o", str(self.shim), str(source), "-ldl")

    def _make_cell(self) -> None:
        for name in ("bin", "lib", "util", "utilbin"):
            (self.root / name).symlink_to(f"/var/lib/gridengine/{name}")
        # 127.0.0.1 is called localhost, and the daemons call themselves by the host's name.
        (self.common / "host_aliases").write_text(f"{self.host} localhost\n")
        (self.common / "cluster_name").write_text("leadtest\n")
        (self.common / "act_qmaster").write_text(f"{self.host}\n")
        (self.common / "bootstrap").write_text(conf.bootstrap(self.folder))
        settings, complexes = self.folder / "conf" / "global", self.folder / "conf" / "complexes"
        settings.write_text(conf.configuration(self.folder))
        shutil.copytree(RESOURCES / "centry", complexes, dirs_exist_ok=True)
        self.run("chown", "-R", "sgeadmin:sgeadmin", str(self.root), str(self.folder / "spool"))
        database = str(self.folder / "spool" / "database")
        for command in (
            ("spoolinit", "berkeleydb", "libspoolb", database, "init"),
            ("spooldefaults.bin", "configuration", str(settings)),
            ("spooldefaults.bin", "complexes", str(complexes)),
            ("spooldefaults.bin", "usersets", str(RESOURCES / "usersets")),
            ("spooldefaults.bin", "managers", "sgeadmin", "root"),
        ):
            self.run(*command, user="sgeadmin")

    def _configure(self) -> None:
        if self.host not in self.run("qconf", "-sh").split():
            self.run("qconf", "-ah", self.host)
        self.run("qconf", "-as", self.host)
        self._add("-Ae", conf.exec_host(self.host))
        self._add("-Ap", conf.parallel_environment("smp", "$pe_slots", summary=True))
        self._add("-Ap", conf.parallel_environment("mpi", "$fill_up", summary=False))
        for name in PROJECTS:
            self._add("-Aprj", conf.project(name))
        for name, slots in QUEUES.items():
            self._add("-Aq", conf.queue(name, self.host, slots))
        quick = {"schedule_interval": "0:0:1", "flush_submit_sec": 1, "flush_finish_sec": 1}
        rows = (line.split(maxsplit=1) for line in self.run("qconf", "-ssconf").splitlines())
        self._add("-Msconf", conf.lines(**{name: quick.get(name, value) for name, value in rows}))

    def _add(self, option: str, text: str) -> None:
        path = self.folder / "conf" / "object"
        path.write_text(text)
        self.run("qconf", option, str(path))

    def _reports(self) -> bool:
        rows = (line.split() for line in self.run("qhost", check=False).splitlines())
        return any(row[0] == self.host and row[3] != "-" for row in rows if len(row) > 3)

    def _spawn(self, name: str) -> None:
        with (self.folder / "log" / name).open("wb") as log:
            process = subprocess.Popen(
                [f"{LIBRARY}/{name}"],
                env={**self.environment, "SGE_ND": "1", "LD_PRELOAD": str(self.shim)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._running.append(process)

    def _shepherds(self) -> list[int]:
        """
        Of this cell: their jobs would go on.
        """
        mark = f"SGE_ROOT={self.root}".encode()
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                if mark in path.read_bytes().split(b"\0"):
                    found.append(int(path.parent.name))
            except OSError:  # it ended, or is a kernel thread
                continue
        return found

    def _says(self, *command: str) -> bool:
        done = subprocess.run(
            command, env=self.environment, capture_output=True, timeout=10, check=False
        )
        return done.returncode == 0

    def _wait(self, what: str, done: Callable[[], bool], seconds: float = STARTING) -> None:
        end = time.monotonic() + seconds
        while not done():
            if time.monotonic() > end:
                logs = sorted((self.folder / "log").iterdir())
                tails = "\n".join(f"{log.name}: {log.read_text()[-800:]}" for log in logs)
                raise AssertionError(f"gave up waiting for {what}\n{tails}")
            time.sleep(0.1)


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports
