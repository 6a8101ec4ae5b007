"""
A process as it is followed from tick to tick: what cannot change, what did, and by how much.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shipper.jobs import Job

if TYPE_CHECKING:
    from shipper.gpushare import Share


class Seen:
    """
    One process. Deltas are None when nothing is known to take them against.
    """

    __slots__ = (
        "cgroup",
        "command_line",
        "command_mark",
        "container",
        "cpu_system",
        "cpu_user",
        "document",
        "executable",
        "gpu",
        "head",
        "idle",
        "io_descriptor",
        "io_read",
        "io_write",
        "job",
        "kernel",
        "kin",
        "mark",
        "name",
        "owner",
        "parent",
        "pid",
        "pss",
        "read_bytes",
        "rss",
        "session",
        "settled",
        "stack",
        "start",
        "start_ticks",
        "stat_descriptor",
        "state",
        "stray",
        "system_ticks",
        "threads",
        "uid",
        "user",
        "user_ticks",
        "virtual",
        "wanted",
        "write_bytes",
        "young",
    )

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.start_ticks = 0
        self.start = 0.0  # Unix time
        self.mark = 0  # hash of its line in /proc/PID/stat
        self.head = b" "  # the line's part up to the name's end
        self.stat_descriptor = -1
        self.io_descriptor = -1
        self.stack: object = None  # changes with exec: address randomisation
        self.young = True  # it may still be on its way to its user and its job
        self.name = ""
        self.command_line: str | None = None
        self.executable: str | None = None
        self.parent = 0
        self.session = 0
        self.state = "?"
        self.threads = 1
        self.uid: int | None = None
        self.owner: int | None = None  # of its folder
        self.user: str | None = None
        self.user_ticks = 0
        self.system_ticks = 0
        self.rss: int | None = None
        self.virtual: int | None = None
        self.pss: int | None = None
        self.read_bytes: int | None = None
        self.write_bytes: int | None = None
        self.cpu_user: float | None = None  # seconds within the interval
        self.cpu_system: float | None = None
        self.io_read: int | None = None  # bytes within the interval
        self.io_write: int | None = None
        self.kernel = False
        self.job: Job | None = None
        self.container: str | None = None
        self.gpu: Share | None = None
        self.stray: bool | None = None
        self.wanted = True
        self.kin = ""  # processes with the same are rolled up
        self.cgroup: bytes | None = None
        self.command_mark = 0  # hash of the command line as it was read
        self.document: dict[str, object] = {}  # as last sent, but for what all documents share
        self.idle = False  # nothing happened since the last tick
        self.settled = False  # `document` says all that there is to say

    @property
    def entity(self) -> str:
        known = self.document.get("process.entity_id")
        return known if isinstance(known, str) else f"{self.pid}-{self.start_ticks}"

    def be_idle(self) -> None:
        """
        Nothing happened since the last tick.
        """
        self.idle, self.settled = True, False
        self.cpu_user = self.cpu_system = 0.0
        if self.read_bytes is not None:
            self.io_read = self.io_write = 0

    def counters(self) -> list[int | None]:
        return [self.user_ticks, self.system_ticks, self.read_bytes, self.write_bytes]
