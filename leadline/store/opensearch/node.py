"""
A real OpenSearch node on this machine, for `up --opensearch` and for the tests: started from its
Maven artifact by java itself, on loopback and a free port, also by root (under another uid, as
OpenSearch refuses uid 0), and stopped by its own pid.
"""

import ctypes
import hashlib
import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from leadline.errors import StoreError
from leadline.store.opensearch.artifacts import cache, distribution, with_plugins
from leadline.store.opensearch.java import find_java, lacks_locales

SCRATCH = "leadline-opensearch-"
LIGHT = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")  # half the CPU to start; not for benchmarks
FAST = ("-XX:+UseG1GC", "-XX:G1ReservePercent=25", "-XX:InitiatingHeapOccupancyPercent=30")


@dataclass
class Node:
    """
    One node with its data, logs and configuration in `folder`; `start()` answers its URL.
    """

    folder: Path
    heap: str = "512m"
    light: bool = True
    http_port: int = 0  # 0: a free one, kept for as long as this object lives
    transport_port: int = 0
    settings: Mapping[str, str] = field(default_factory=dict)
    plugins: Mapping[Path, Sequence[Path]] = field(default_factory=dict)  # zips, and jars beside
    tied: bool = False  # ends with the thread that started it, even when that is killed
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http_port}"

    @property
    def log(self) -> Path:
        return self.folder / "logs" / "console.log"

    def start(self, wait: float = 120) -> str:
        if self.process is not None and self.process.poll() is None:
            return self.url
        self.launch()
        try:
            self.await_ports(time.monotonic() + wait)
            self.await_health(time.monotonic() + wait)
        except BaseException:
            self.stop()
            raise
        return self.url

    def launch(self) -> None:
        """
        Start the process and do not wait: nodes of a new cluster only answer together.
        """
        account = other_account()
        home = home_for(account)
        if self.plugins:
            home = with_plugins(home, self.folder / "home", self.plugins)
        for name in ("config", "data", "logs", "tmp"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        for stale in (self.folder / "logs").glob("*.ports"):
            stale.unlink()
        shutil.copyfile(
            home / "config" / "log4j2.properties", self.folder / "config/log4j2.properties"
        )
        settings = {"network.host": "127.0.0.1", "node.portsfile": "true", **self.settings}
        if "discovery.seed_hosts" not in settings and "cluster.name" not in settings:
            settings["discovery.type"] = "single-node"
        settings |= {
            "http.port": str(self.http_port),
            "transport.port": str(self.transport_port),
            "path.data": str(self.folder / "data"),
            "path.logs": str(self.folder / "logs"),
            "path.repo": str(self.folder / "snapshots"),
            "cluster.routing.allocation.disk.threshold_enabled": "false",
        }
        lines = [f"{name}: {json.dumps(value)}\n" for name, value in settings.items()]
        (self.folder / "config" / "opensearch.yml").write_text("".join(lines))
        with self.log.open("ab") as log:
            if account is not None:
                hand_over(self.folder, account)
            self.process = subprocess.Popen(
                command(home, self.folder, self.heap, LIGHT if self.light else FAST),
                cwd=self.folder,
                env={
                    "PATH": os.environ.get("PATH", ""),
                    "HOME": str(self.folder),
                    "LANG": "C.UTF-8",
                },
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                user=account.pw_uid if account else None,
                group=account.pw_gid if account else None,
                extra_groups=[] if account else None,
                preexec_fn=die_with_parent if self.tied else None,
            )

    def await_ports(self, deadline: float) -> None:
        self.until(lambda: self.read_port("transport"), deadline, "no transport port is open")
        self.until(lambda: self.read_port("http"), deadline, "no HTTP port is open")

    def await_health(self, deadline: float, status: str = "yellow", nodes: int = 1) -> None:
        query = f"wait_for_status={status}&wait_for_nodes=>={nodes}&timeout=1s"
        address = f"{self.url}/_cluster/health?{query}"
        self.until(lambda: healthy(address), deadline, f"the cluster is not {status}")

    def until(self, done: Callable[[], bool], deadline: float, trouble: str) -> None:
        assert self.process is not None
        while not done():
            if (code := self.process.poll()) is not None:
                raise StoreError(f"OpenSearch ended with {code}:\n{self.tail()}\nsee {self.log}")
            if time.monotonic() > deadline:
                raise StoreError(f"OpenSearch is not ready, {trouble}; see {self.log}")
            time.sleep(0.05)

    def read_port(self, name: str) -> bool:
        try:
            text = (self.folder / "logs" / f"{name}.ports").read_text()
        except OSError:
            return False
        if not text.endswith("\n"):
            return False
        setattr(self, f"{name}_port", int(text.split()[0].rpartition(":")[2]))
        return True

    def tail(self) -> str:
        text = self.log.read_text(errors="replace")
        return text[-3000:].strip()

    def stop(self, wait: float = 30) -> None:
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(wait)
        except subprocess.TimeoutExpired:
            self.kill()
        self.process = None

    def kill(self) -> None:
        """
        As a power cut would: no time to say goodbye. `start()` brings it back on the same ports.
        """
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def __enter__(self) -> "Node":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def command(home: Path, folder: Path, heap: str, collector: Sequence[str]) -> list[str]:
    java, scratch = find_java(), folder / "tmp"
    jars = f"{home}/lib/*"
    if lacks_locales(java):
        jars = ":".join([jars, *(str(jar) for jar in sorted((home / "icu").glob("*.jar")))])
    return [
        str(java),
        "-Xshare:auto",
        f"-Xms{heap}",
        f"-Xmx{heap}",
        *collector,
        "-Xss1m",
        "-XX:-OmitStackTraceInFastThrow",
        "-Djava.awt.headless=true",
        "-Dfile.encoding=UTF-8",
        "-Djna.nosys=true",
        f"-Djna.tmpdir={scratch}",
        f"-Djava.io.tmpdir={scratch}",
        f"-XX:ErrorFile={folder}/logs/hs_err_pid%p.log",
        "-Dio.netty.noUnsafe=true",
        "-Dio.netty.noKeySetOptimization=true",
        "-Dio.netty.recycler.maxCapacityPerThread=0",
        "-Dlog4j.shutdownHookEnabled=false",
        "-Dlog4j2.disable.jmx=true",
        "-Djava.locale.providers=SPI,CLDR",
        "-Dorg.apache.lucene.store.MMapDirectory.sharedArenaMaxPermits=1",
        f"-javaagent:{home}/agent/opensearch-agent.jar",
        f"-Dopensearch.path.home={home}",
        f"-Dopensearch.path.conf={folder}/config",
        "-Dopensearch.distribution.type=zip",
        "-Dopensearch.bundled_jdk=false",
        "-cp",
        jars,
        "org.opensearch.bootstrap.OpenSearch",
    ]


def other_account() -> pwd.struct_passwd | None:
    """
    Whom root starts a node as; None when this is not root.
    """
    if os.geteuid() != 0:
        return None
    for name in ("opensearch", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise StoreError("OpenSearch does not run as root: make a user named opensearch for it")


def home_for(account: pwd.struct_passwd | None) -> Path:
    """
    The unpacked distribution where that account can read it: root's own cache is often closed.
    """
    if account is None or can_enter(cache(), account):
        return distribution()
    shared = Path("/var/tmp/leadline-0")  # noqa: S108  owned by root, checked below
    shared.mkdir(mode=0o755, exist_ok=True)
    if shared.is_symlink() or shared.stat().st_uid != 0 or shared.stat().st_mode & 0o022:
        raise StoreError(f"{shared} belongs to somebody else: remove it, or set XDG_CACHE_HOME")
    return distribution(shared)


def can_enter(folder: Path, account: pwd.struct_passwd) -> bool:
    """
    Whether that account may search `folder` and all above it, as far as they exist.
    """
    for place in (folder, *folder.resolve().parents):
        if not place.exists():
            continue
        status = place.stat()
        needed = 0o100 if status.st_uid == account.pw_uid else 0o001
        if not status.st_mode & needed:
            return False
    return True


def hand_over(folder: Path, account: pwd.struct_passwd) -> None:
    if not can_enter(folder.resolve().parent, account):
        raise StoreError(
            f"{folder}: the account {account.pw_name}, as which root starts OpenSearch, cannot "
            "enter a folder above it; choose another place, or do not start as root"
        )
    for place in (folder, *folder.rglob("*")):
        os.chown(place, account.pw_uid, account.pw_gid, follow_symlinks=False)


def place_for(folder: Path) -> Path:
    """
    `folder`, or a place of its own below /var/lib where root's node could not enter it.
    """
    account = other_account()
    if account is None or can_enter(folder.resolve().parent, account):
        return folder
    name = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:8]
    return Path("/var/lib/leadline-opensearch") / name


def die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


def healthy(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:  # noqa: S310  our own loopback
            return not json.load(answer)["timed_out"]
    except (OSError, ValueError):
        return False


def scratch_folder() -> Path:
    """
    A new folder for a node that nobody needs later, enterable by whom it will run as.
    """
    return Path(tempfile.mkdtemp(prefix=SCRATCH, dir="/var/tmp"))


def cluster(folder: Path, size: int, heap: str = "512m", *, tied: bool = False) -> list[Node]:
    """
    Several started nodes that form one cluster.
    """
    common = {
        "cluster.name": folder.name,
        "cluster.initial_cluster_manager_nodes": "node-1",
        "discovery.seed_hosts": "",
    }
    nodes: list[Node] = []
    try:
        for number in range(1, size + 1):
            seeds = ",".join(f"127.0.0.1:{node.transport_port}" for node in nodes)
            settings = {**common, "node.name": f"node-{number}", "discovery.seed_hosts": seeds}
            node = Node(folder / f"node-{number}", heap, settings=settings, tied=tied)
            nodes.append(node)
            node.start()
        seeds = ",".join(f"127.0.0.1:{node.transport_port}" for node in nodes)
        for node in nodes:  # whoever comes back must find those who stayed
            node.settings = {**node.settings, "discovery.seed_hosts": seeds}
        nodes[0].await_health(time.monotonic() + 60, "green", size)
    except BaseException:
        for node in nodes:
            node.kill()
        raise
    return nodes
