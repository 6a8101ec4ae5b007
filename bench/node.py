"""
A node as one finds it in a machine room: system daemons, an MPI job, a few smaller jobs, people's
shells. Written as a /proc tree, looked at twice by the shipper itself.
"""

from __future__ import annotations

import random
import tempfile
from dataclasses import dataclass
from pathlib import Path

from leadline.formats import Document
from shipper.settings import CollectSettings
from shipper.snapshot import Snapshots
from shipper.system import System

DAEMONS = """
systemd systemd-journald systemd-udevd auditd dbus-daemon chronyd rsyslogd sshd crond polkitd
systemd-logind NetworkManager irqbalance munged slurmd nslcd rpcbind rpc.statd nhc-agent sssd
sssd_be sssd_nss sssd_pam ipmievd nvidia-persistenced dcgm-exporter node_exporter gssproxy tuned
lldpad smartd mcelog opensm-agent automount ldmsd beegfs-client
"""


@dataclass(frozen=True, slots=True)
class Kind:
    count: int
    name: str
    command: str
    uid: int
    job: str | None
    busy: float  # share of a core
    rss: int  # MiB
    threads: int = 1


VASP = "/cluster/software/VASP/6.4.2-intel/bin/vasp_std"
TRAIN = (
    "/cluster/envs/torch/bin/python3.11 train.py --data /cluster/work/users/eva/imagenet "
    "--workers 16 --epochs 90 --batch-size 256 --amp"
)
SIM = "/usr/lib64/R/bin/exec/R --no-echo --no-restore --file=sim.R"
PICARD = "java -Xmx8g -jar /cluster/software/picard/picard.jar MarkDuplicates"
SCRIPT = "/bin/bash /var/spool/slurmd/job8123456/slurm_script"

KINDS = (
    Kind(64, "vasp_std", VASP, 70321, "8123456", 1, 900),
    Kind(1, "mpirun", "mpirun -np 64 vasp_std", 70321, "8123456", 0, 20, 5),
    Kind(1, "bash", SCRIPT, 70321, "8123456", 0, 4),
    Kind(16, "python3.11", TRAIN, 70544, "8123511", 0.6, 2300, 12),
    Kind(8, "gmx_mpi", "gmx_mpi mdrun -deffnm md_0_1 -ntomp 4", 70102, "8123490", 4, 310, 5),
    Kind(24, "R", SIM, 71007, "8123533", 1, 420),
    Kind(12, "java", PICARD, 71200, "8123540", 1.4, 5200, 38),
    Kind(6, "bash", "-bash", 70321, None, 0, 5),
    Kind(3, "vim", "vim INCAR", 70544, None, 0, 12),
    Kind(2, "tmux: server", "tmux new -s run", 71007, None, 0, 6),
)


def realistic_node() -> tuple[list[Document], int]:
    """
    The documents of one snapshot, and how many processes they stand for.
    """
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(Path(folder))
        tree.write(0)
        machine = Machine(Path(folder))
        snapshots = Snapshots(
            CollectSettings(host="c12-34", cluster="fox", collectors=("process",)),
            machine,
        )
        try:
            snapshots.take()
            tree.write(60)
            machine.seconds += 60
            documents = [d for d in snapshots.take() if d["dataset"] == "process"]
        finally:
            snapshots.close()
    stands_for = sum(int(str(d.get("process.count", 1))) for d in documents)
    return documents, stands_for


class Machine(System):
    """
    Its clock is ours: twelve days after boot.
    """

    seconds = 0.0

    def uptime(self) -> float:
        return 1_036_800.0 + self.seconds

    def wall(self) -> float:
        return 1_790_000_000.0 + self.uptime()


class Tree:
    def __init__(self, root: Path) -> None:
        self._proc = root / "proc"
        self._rng = random.Random(42)

    def write(self, seconds: int) -> None:
        """
        All processes as they are SECONDS after the first look.
        """
        self._rng.seed(42)
        boot = self._proc / "sys/kernel/random"
        boot.mkdir(parents=True, exist_ok=True)
        (boot / "boot_id").write_text("3f0e1c2a-77aa-4c1e-9a51-0c8f6b1d2e3f")
        (self._proc / "self").mkdir(exist_ok=True)
        (self._proc / "self/stat").write_text("1 (x) R")
        (self._proc / "stat").write_text("btime 1790000000\n")
        pid = 1
        for name in DAEMONS.split():
            kind = Kind(1, name[:15], f"/usr/sbin/{name} -F", 0, None, 0.001, 18)
            self._process(pid, kind, seconds)
            pid += self._rng.randrange(1, 60)
        for kind in KINDS:
            for _ in range(kind.count):
                self._process(pid, kind, seconds)
                pid += self._rng.randrange(1, 40)

    def _process(self, pid: int, kind: Kind, seconds: int) -> None:
        rng = random.Random(pid)
        start, used = rng.randrange(10_000, 100_000_000), rng.randrange(0, 5_000_000)
        grown = int(kind.busy * 100 * seconds * rng.uniform(0.9, 1.0))
        pages = int(kind.rss * 256 * rng.uniform(0.8, 1.2))
        user, system = used + int(grown * 0.97), used // 30 + int(grown * 0.03)
        wrote = rng.randrange(0, 1 << 30) + (
            rng.randrange(0, 1 << 24) if seconds and kind.busy > 0.01 else 0
        )
        folder = self._proc / str(pid)
        folder.mkdir(exist_ok=True)
        (folder / "stat").write_text(
            f"{pid} ({kind.name}) S 1 {pid} {pid} 0 -1 0 0 0 0 0 {user} {system} 0 0 20 0 "
            f"{kind.threads} 0 {start} {pages * 9000} {pages} 1 1 2 7 0 0\n"
        )
        (folder / "cmdline").write_text(kind.command.replace(" ", "\0") + "\0")
        (folder / "status").write_text(f"Uid:\t{kind.uid}\t{kind.uid}\t{kind.uid}\t{kind.uid}\n")
        (folder / "io").write_text(f"rchar: 1\nread_bytes: 4096\nwrite_bytes: {wrote}\nx: 0\n")
        cgroup = f"system.slice/slurmstepd.scope/job_{kind.job}/step_0/user/task_0"
        (folder / "cgroup").write_text(f"0::/{cgroup if kind.job else 'system.slice'}\n")
