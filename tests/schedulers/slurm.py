"""
A real Slurm on this machine: munged, MariaDB, slurmdbd, slurmctld and some slurmd, all on loopback,
each ended by the process id that was kept when it was started.

Needs root and Debian's packages. Jobs run as users that every Debian has.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.schedulers.real import run

PACKAGES = "slurm-wlm slurmdbd munge mariadb-server"
PROGRAMS = ("munged", "mariadbd", "mariadb-install-db", "slurmctld", "slurmd", "slurmdbd", "sbatch")
USERS = {"games": "physics", "news": "biology"}  # login name → account
CAPPED = "capped"  # an account of which only one core may be in use
LIBRARY = "/usr/lib/*/slurm-wlm/libslurmfull.so"
OUT_OF_MEMORY = 253  # the signal that slurmstepd makes up for it
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
STARTING = 60.0


def missing() -> str | None:
    """
    Why no Slurm can be started here, and the way to one.
    """
    absent = [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]
    if absent:
        return f"no {', '.join(absent)}: apt-get install --no-install-recommends {PACKAGES}"
    return None if os.geteuid() == 0 else "slurmd must be root to run jobs as other users"


@dataclass
class RealSlurm:
    """
    NODES nodes of 8 CPUs and two GPUs each: rtx8000 on the first two, a100 on the others.
    """

    folder: Path
    nodes: int = 3
    _running: list[tuple[str, subprocess.Popen[bytes]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.host = socket.gethostname().split(".")[0]
        self.ports = _free_ports(3 + self.nodes)
        self.conf = self.folder / "etc" / "slurm.conf"

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": PATH, "SLURM_CONF": str(self.conf), "LANG": "C.UTF-8", "TZ": "UTC"}

    def start(self) -> None:
        for name in ("etc", "log", "run", "state", "spool", "dev", "munge"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        for folder in (self.folder, *self.folder.iterdir()):
            folder.chmod(0o755)
        self._munge()
        self._database()
        self._configure()
        self._spawn("slurmdbd", "slurmdbd", "-D", "-R")
        self._wait("slurmdbd", lambda: self._says("sacctmgr", "-n", "-P", "list", "cluster"))
        self._spawn("slurmctld", "slurmctld", "-D", "-i")
        self._wait("slurmctld", lambda: "is UP" in self.run("scontrol", "ping", check=False))
        for number in range(1, self.nodes + 1):
            (self.folder / "spool" / f"n{number}").mkdir()
            self._spawn(f"n{number}", "slurmd", "-D", "-N", f"n{number}", "-f", str(self.conf))
        self._accounts()
        self._wait("the nodes", self._all_idle)

    def stop(self) -> None:
        """
        Nothing is kept, so nothing needs the time to save itself.
        """
        for name, process in reversed(self._running):
            process.send_signal(signal.SIGTERM if name.startswith("n") else signal.SIGKILL)
        for _, process in self._running:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(10)
        self._running = []
        for pid in self._left_over():
            os.kill(pid, signal.SIGKILL)

    def run(self, *command: str, check: bool = True, user: str | None = None) -> str:
        return run(self.environment, command, check=check, user=user)

    def submit(self, user: str, *options: str, script: str = "sleep 300") -> str:
        """
        The new job's number.
        """
        said = self.run(
            "sbatch", "--parsable", "-o", "/dev/null", *options, "--wrap", script, user=user
        )
        return said.strip().partition(";")[0]

    def allocate(self, user: str, name: str, *options: str) -> str:
        """
        The number of a new allocation that runs nothing.
        """
        self.run("salloc", "--no-shell", "-J", name, *options, user=user)
        return self.run("squeue", "-h", "-n", name, "-o", "%i").strip()

    def await_state(self, job: str, *states: str, seconds: float = 30.0) -> None:
        self._wait(
            f"job {job} to be {' or '.join(states)}", lambda: self.state(job) in states, seconds
        )

    def state(self, job: str) -> str:
        return self.run("squeue", "-h", "-t", "all", "-j", job, "-o", "%T", check=False).strip()

    def end_out_of_memory(self, job: str) -> None:
        """
        Tell slurmctld what slurmstepd tells where memory cgroups end a job; here are none.
        """
        library = sorted(Path("/").glob(LIBRARY.lstrip("/")))[0]
        code = (
            f"import ctypes; slurm = ctypes.CDLL({str(library)!r}, ctypes.RTLD_GLOBAL);"
            f"slurm.slurm_init(None);"
            f"raise SystemExit(slurm.slurm_complete_job({job}, {OUT_OF_MEMORY}))"
        )
        self.run(sys.executable, "-c", code)

    def _munge(self) -> None:
        key = self.folder / "munge" / "key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        munge = self.folder / "munge"
        self._spawn(
            "munged",
            *("munged", "--foreground", "--num-threads=4", "--origin=127.0.0.1"),
            *(f"--socket={munge}/sock", f"--key-file={key}", f"--seed-file={munge}/seed"),
            *(f"--pid-file={munge}/pid", f"--log-file={self.folder}/log/munged.log"),
        )
        self._wait(
            "munged", lambda: self._says("munge", "-S", f"{munge}/sock", "-n", "-o", "/dev/null")
        )

    def _database(self) -> None:
        data, sock = self.folder / "db", self.folder / "run" / "mysql.sock"
        data.mkdir(mode=0o700)
        shutil.chown(data, "mysql")
        shutil.chown(self.folder / "run", "mysql")
        self.run(
            *("mariadb-install-db", "--no-defaults", "--user=mysql", f"--datadir={data}"),
            *("--skip-test-db", "--auth-root-authentication-method=normal"),
        )
        self._spawn(
            "mariadbd",
            *("mariadbd", "--no-defaults", "--user=mysql", f"--datadir={data}"),
            *(f"--socket={sock}", f"--port={self.ports[0]}", "--bind-address=127.0.0.1"),
            *("--skip-log-bin", "--innodb-flush-log-at-trx-commit=0", "--skip-name-resolve"),
            *("--innodb-buffer-pool-size=64M", "--performance-schema=OFF"),
        )
        ask = ("mariadb", "--no-defaults", "-uroot", "-S", str(sock), "-e")
        self._wait("MariaDB", lambda: self._says(*ask, "select 1"))
        self.run(
            *ask,
            "create database slurm_acct_db; create user slurm@'127.0.0.1' identified by 'test';"
            "grant all on slurm_acct_db.* to slurm@'127.0.0.1';",
        )

    def _configure(self) -> None:
        from tests.schedulers.slurm_conf import gres_conf, slurm_conf, slurmdbd_conf

        for number in range(2):
            os.mknod(self.folder / "dev" / f"card{number}", 0o020666, os.makedev(1, 3))
        etc = self.folder / "etc"
        (etc / "slurmdbd.conf").write_text(slurmdbd_conf(self.folder, self.host, self.ports))
        (etc / "slurmdbd.conf").chmod(0o600)
        self.conf.write_text(slurm_conf(self.folder, self.host, self.ports, self.nodes))
        (etc / "gres.conf").write_text(gres_conf(self.folder, self.nodes))
        (etc / "cgroup.conf").write_text("CgroupPlugin=autodetect\n")
        (etc / "plugstack.conf").write_text("")

    def _accounts(self) -> None:
        self._wait(
            "slurmdbd to know the cards",
            lambda: "a100" in self.run("sacctmgr", "-nP", "show", "tres", check=False),
        )
        self.run("sacctmgr", "-i", "-Q", "add", "qos", "limited", "MaxJobsPerUser=1")
        self.run("sacctmgr", "-i", "-Q", "add", "qos", "urgent", "priority=100", "preempt=normal")
        every = "QOS='limited,normal,urgent'"
        lines = [f"Cluster - 'leadtest':Fairshare=1:{every}", "Parent - 'root'"]
        lines += ["User - 'root':DefaultAccount='root':AdminLevel='Administrator'"]
        lines += [f"Account - '{a}':Description='{a}'" for a in USERS.values()]
        lines += [f"Account - '{CAPPED}':Description='{CAPPED}':GrpTRES=cpu=1"]
        for user, account in USERS.items():
            lines += [
                f"Parent - '{account}'",
                f"User - '{user}':DefaultAccount='{account}':{every}",
                f"Parent - '{CAPPED}'",
                f"User - '{user}':DefaultAccount='{account}':{every}",
            ]
        load = self.folder / "etc" / "accounts"
        load.write_text("\n".join(lines) + "\n")
        self.run("sacctmgr", "-i", "-Q", "load", str(load))

    def _all_idle(self) -> bool:
        states = self.run("sinfo", "-h", "-N", "-p", "batch", "-o", "%T", check=False).split()
        return states == ["idle"] * self.nodes

    def _spawn(self, name: str, *command: str) -> None:
        log = (self.folder / "log" / f"{name}.out").open("wb")
        process = subprocess.Popen(
            command,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        log.close()
        self._running.append((name, process))

    def _says(self, *command: str) -> bool:
        done = subprocess.run(
            command, env=self.environment, capture_output=True, timeout=10, check=False
        )
        return done.returncode == 0

    def _wait(self, what: str, done: Callable[[], bool], seconds: float = STARTING) -> None:
        end = time.monotonic() + seconds
        while not done():
            if time.monotonic() > end:
                raise AssertionError(f"gave up waiting for {what}\n{self._logs()}")
            time.sleep(0.1)

    def _logs(self) -> str:
        logs = sorted((self.folder / "log").iterdir())
        return "\n".join(
            f"--- {log.name}\n{log.read_text('utf-8', 'replace')[-800:]}" for log in logs
        )

    def _left_over(self) -> Sequence[int]:
        """
        Children of this very cluster's daemons: they carry its SLURM_CONF.
        """
        mark = f"SLURM_CONF={self.conf}".encode()
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                ours = mark in (entry / "environ").read_bytes().split(b"\0")
                name = (entry / "comm").read_text().strip()
            except OSError:
                continue
            if ours and name in ("slurmstepd", "slurmscriptd", "srun", "sleep", "slurm_script"):
                found.append(int(entry.name))
        return found


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports
