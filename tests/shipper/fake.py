"""
A machine made of a folder tree, with clocks, users and commands that do as they are told.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from shipper.system import System, Usage

BOOT_ID = "11111111-2222-3333-4444-555555555555"
BOOTED = 1_790_000_000  # Unix time
TICKS = 100
PAGE = 4096


class FakeSystem(System):
    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.clock_ticks, self.page_size = TICKS, PAGE
        self.now = 1000.0  # seconds since boot
        self.wall_offset = 0.0  # what an administrator did to the clock
        self.users: dict[int, str] = {0: "root", 1001: "alice", 1002: "bob"}
        self.usages: dict[str, Usage | Callable[[], Usage | None]] = {}
        self.outputs: dict[str, bytes | None] = {}
        self.libraries: dict[str, object] = {}
        self.spare_descriptors = 1000
        self.reads: list[str] = []
        self.denied: set[str] = set()
        self._paths: dict[int, Path] = {}
        self.put("/proc/sys/kernel/random/boot_id", BOOT_ID + "\n")
        self.put("/proc/self/stat", "1 (python) R")
        self.cpu(0, 0, 0, 0)

    # What a test says about the machine

    def put(self, path: str, content: str | bytes) -> None:
        target = Path(self.root + path)
        target.parent.mkdir(parents=True, exist_ok=True)
        # In place, so that a descriptor held open reads the new content, as in /proc.
        with target.open("wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)

    def cpu(self, user: int, system: int, idle: int, iowait: int) -> None:
        self.put(
            "/proc/stat",
            f"cpu  {user} 0 {system} {idle} {iowait} 3 4 0 0 0\ncpu0 1 1 1 1\nbtime {BOOTED}\n"
            "processes 5000\nprocs_running 3\nprocs_blocked 1\n",
        )

    def pass_time(self, seconds: float) -> None:
        self.now += seconds

    def process(
        self,
        pid: int,
        *,
        name: bytes = b"sleep",
        command: bytes | None = b"sleep\x00300\x00",
        uid: int = 1001,
        parent: int = 1,
        session: int | None = None,
        state: str = "S",
        user: int = 0,
        system: int = 0,
        start: int = 50_000,
        rss: int = 100,
        threads: int = 1,
        io: tuple[int, int] | None = (0, 0),
        cgroup: str = "0::/user.slice\n",
        environ: bytes = b"",
        flags: int = 0,
        stack: int = 7,
    ) -> None:
        """
        Make a process, or change one.
        """
        middle = f"{session if session is not None else pid} 0 -1 {flags} 0 0 0 0 {user} {system}"
        tail = f"0 0 20 0 {threads} 0 {start} 8192000 {rss} 18446744073709551615 1 2 {stack} 0 0\n"
        line = b"%d (%s) %s %d %d %s %s" % (
            pid, name, state.encode(), parent, pid, middle.encode(), tail.encode()
        )  # fmt: skip
        folder = f"/proc/{pid}"
        self.put(f"{folder}/stat", line)
        self.put(f"{folder}/cmdline", command or b"")
        self.put(f"{folder}/cgroup", cgroup)
        self.put(f"{folder}/environ", environ)
        self.put(f"{folder}/status", f"Name:\tx\nUid:\t{uid}\t{uid}\t{uid}\t{uid}\nGroups:\t100\n")
        if io is not None:
            self.put(
                f"{folder}/io",
                f"rchar: 9\nwchar: 9\nsyscr: 1\nsyscw: 1\nread_bytes: {io[0]}\n"
                f"write_bytes: {io[1]}\ncancelled_write_bytes: 0\n",
            )

    def end(self, pid: int) -> None:
        folder = Path(f"{self.root}/proc/{pid}")
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()

    # What the machine answers

    def read(self, path: str, limit: int = 1 << 22) -> bytes | None:
        self.reads.append(path)
        return None if path in self.denied else super().read(path, limit)

    def hold(self, pid: int, name: str) -> int:
        if self._descriptors >= self.spare_descriptors:
            return -1
        path = f"/proc/{pid}/{name}"
        if path in self.denied:
            raise PermissionError(path)
        descriptor = super().hold(pid, name)
        self._paths[descriptor] = Path(self.root + path)
        return descriptor

    def reread(self, descriptor: int) -> bytes:
        path = self._paths[descriptor]
        if not path.exists() or path.stat().st_ino != os.fstat(descriptor).st_ino:
            raise ProcessLookupError
        return super().reread(descriptor)

    def owner(self, pid: int) -> int | None:
        return 0 if Path(f"{self.root}/proc/{pid}").exists() else None

    def user_name(self, uid: int) -> str | None:
        return self.users.get(uid)

    def usage(self, mount: str) -> Usage | None:
        told = self.usages.get(mount)
        return told() if callable(told) else told

    def host_name(self) -> str:
        return "n1"

    def kernel(self) -> str:
        return "6.1.0"

    def architecture(self) -> str:
        return "x86_64"

    def processors(self) -> int | None:
        return 4

    def environment(self) -> dict[str, str]:
        return {}

    def wall(self) -> float:
        return BOOTED + self.now + self.wall_offset

    def uptime(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def own_cpu(self) -> float:
        return self.now / 1000

    def run(self, command: Sequence[str], timeout: float = 10.0) -> bytes | None:
        return self.outputs.get(" ".join(command))

    def library(self, load: Callable[[], object]) -> object | None:
        return self.libraries.get(load.__name__)
