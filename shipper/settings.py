"""
What a node may be told: which processes, which collectors, what must not leave the machine.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from leadline.settings import Duration, Size
from leadline.settings.plugins import plugged


@dataclass(frozen=True)
class ProcessSettings:
    users: tuple[str, ...] = ()  # only these users; empty: all
    exclude_users: tuple[str, ...] = ()  # never these users
    uid_min: int = 0  # only users from this id …
    uid_max: int = 4294967295  # … to this one
    commands: tuple[str, ...] = ()  # only commands that match one of these regular expressions
    exclude_commands: tuple[str, ...] = ()  # never commands that match one of these
    minimum_cpu: float = 0.0  # percent of a core over the interval; below it a process is left out
    minimum_memory: Size = Size(0)  # resident bytes; a process below both minima is left out
    kernel_threads: bool = False  # send the kernel's own threads as well
    roll_up: bool = True  # one document for like processes of one job
    source: Literal["auto", "proc", "psutil"] = "auto"  # where processes are read from
    pss_from: Size = Size(0)  # read PSS of processes above this size (costly); 0: never
    refresh_ticks: int = 10  # look again at user, job and I/O of quiet processes this often

    def __post_init__(self) -> None:
        if self.refresh_ticks < 1:
            raise ValueError("refresh_ticks: at least 1")
        if self.uid_min > self.uid_max:
            raise ValueError(f"uid_min {self.uid_min} is above uid_max {self.uid_max}")


@dataclass(frozen=True)
class FilesystemSettings:
    types: tuple[str, ...] = ()  # only these types; empty: all that hold data
    exclude_mounts: tuple[str, ...] = ()  # regular expressions of mount points to leave out
    timeout: Duration = Duration(3)  # a mount that has not answered by then is unresponsive


@dataclass(frozen=True)
class NetworkSettings:
    # regular expressions of interfaces to leave out
    exclude: tuple[str, ...] = ("lo", "veth.*", "docker.*", "br-.*", "cali.*", "virbr.*")


@dataclass(frozen=True)
class DiskSettings:
    # regular expressions of devices to leave out
    exclude: tuple[str, ...] = ("loop.*", "ram.*", "zram.*", "sr.*", "fd.*", "dm-.*", "md.*")


@dataclass(frozen=True)
class FilesSettings:
    paths: tuple[Path, ...] = ()  # files and folders (their direct entries) to watch for changes
    limit: int = 1000  # entries of one folder that are looked at


@dataclass(frozen=True)
class GpuSettings:
    vendors: tuple[str, ...] = ("nvidia", "amd", "intel")  # which cards are looked for


@dataclass(frozen=True)
class StraySettings:
    enabled: bool = True  # mark processes of users who have no job here
    grace: Duration = Duration(300)  # a process younger than this is no stray yet
    login_nodes: tuple[str, ...] = ()  # regular expressions of hosts where people may work freely
    allowed_users: tuple[str, ...] = ()  # users who may always run without a job
    uid_min: int = 1000  # below it are users of the system, never strays


@dataclass(frozen=True)
class RedactSettings:
    enabled: bool = True  # take passwords and tokens out of command lines on the node
    patterns: tuple[str, ...] = ()  # more regular expressions; group `secret`, else all, is hidden
    arguments: bool = True  # no: send the command without any argument
    pseudonym_key: Path | None = None  # file with a key: users are sent as keyed pseudonyms


@dataclass(frozen=True)
class SlurmLiveSettings:
    enabled: bool = False  # ask slurmctld from here; on one machine per cluster
    source: Literal["auto", "pyslurm", "json", "text"] = "auto"  # how it is asked
    every: Duration = Duration(60)  # time between two looks
    timeout: Duration = Duration(8)  # all calls of one look together
    slow: Duration = Duration(4)  # a look that takes longer makes the next one wait twice as long
    back_off_max: Duration = Duration(600)  # but never longer than this
    accounting: bool = True  # complete ended jobs from sacct, by their ids
    accounting_batch: int = 200  # ids of one sacct call, one call a look

    def __post_init__(self) -> None:
        if not 1 <= self.accounting_batch <= 1000:
            raise ValueError("accounting_batch: 1 to 1000")


ALL_COLLECTORS = (
    "slurm",
    "process",
    "node",
    "cgroup",
    "filesystem",
    "network",
    "disk",
    "interconnect",
    "sensor",
    "modules",
    "files",
    "nvidia",
    "amd",
    "intel",
)


@dataclass(frozen=True)
class CollectSettings:
    """
    The section `collect`: what is measured on this node.
    """

    host: str = ""  # this node's name; empty: what the machine calls itself, short
    cluster: str = ""  # name of the cluster; empty: the worker knows it by the token
    node_type: str = ""  # kind of node, as reports should call it
    collectors: tuple[str, ...] = ALL_COLLECTORS  # which of them run
    deadline: Duration = Duration(10)  # a collector that takes longer is cut off
    slurm: Literal["auto", "yes", "no"] = "auto"  # job ids from Slurm: when there, always, never
    scheduler_spool: Path | None = None  # execd's spool of Grid Engine, holds active_jobs/
    process: ProcessSettings = field(default_factory=ProcessSettings)
    filesystem: FilesystemSettings = field(default_factory=FilesystemSettings)
    network: NetworkSettings = field(default_factory=NetworkSettings)
    disk: DiskSettings = field(default_factory=DiskSettings)
    files: FilesSettings = field(default_factory=FilesSettings)
    gpu: GpuSettings = field(default_factory=GpuSettings)
    slurm_live: SlurmLiveSettings = field(default_factory=SlurmLiveSettings)
    stray: StraySettings = field(default_factory=StraySettings)
    redact: RedactSettings = field(default_factory=RedactSettings)

    def __post_init__(self) -> None:
        for name in self.collectors:
            known = (*ALL_COLLECTORS, *plugged("collectors"))
            if name not in known:
                raise ValueError(f"collector {name!r} is none of {', '.join(known)}")
