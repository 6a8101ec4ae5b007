"""
What clients of shared file systems moved since they mounted: NFS's mountstats and Lustre's llite.
"""

from __future__ import annotations

from collections.abc import Iterable

from shipper.system import System

Moved = dict[str, int]  # field of a document → counter since the mount

LLITE = ("/sys/kernel/debug/lustre/llite", "/proc/fs/lustre/llite")
DATA_CALLS = frozenset({"READ", "WRITE", "NULL", "COMMIT"})
LLITE_DATA = frozenset({"read_bytes", "write_bytes", "read", "write", "snapshot_time", "osc_read"})


def read(system: System, mounts: Iterable[tuple[str, str, str]]) -> dict[str, Moved]:
    """
    Counters by mount point, for MOUNTS as (device, point, type).
    """
    listed = list(mounts)
    found: dict[str, Moved] = {}
    if any(kind.startswith("nfs") for _, _, kind in listed):
        found.update(nfs(system.read("/proc/self/mountstats") or b""))
    if any(kind == "lustre" for _, _, kind in listed):
        by_name = lustre(system)
        for device, point, kind in listed:
            name = device.rpartition("/")[2]
            if kind == "lustre" and name in by_name:
                found[point] = by_name[name]
    return found


def nfs(raw: bytes) -> dict[str, Moved]:
    """
    /proc/self/mountstats: bytes over the wire, and calls by operation.
    """
    found: dict[str, Moved] = {}
    moved: Moved | None = None
    for line in raw.decode("utf-8", "backslashreplace").splitlines():
        words = line.split()
        if line.startswith("device "):
            is_nfs = "fstype" in words and words[words.index("fstype") + 1].startswith("nfs")
            point = line.partition(" mounted on ")[2].partition(" with fstype ")[0]
            moved = found.setdefault(point, {}) if is_nfs else None
        elif moved is None or len(words) < 2:
            continue
        elif words[0] == "bytes:" and len(words) > 6:
            moved["io.read.bytes"], moved["io.write.bytes"] = int(words[5]), int(words[6])
        elif words[0].endswith(":") and words[0][:-1].isupper() and words[1].isdigit():
            _count(moved, words[0][:-1], int(words[1]))
    return found


def _count(moved: Moved, call: str, calls: int) -> None:
    if call == "READ":
        moved["io.read.operations"] = calls
    elif call == "WRITE":
        moved["io.write.operations"] = calls
    elif call not in DATA_CALLS:
        name = "io.metadata.operations"
        moved[name] = moved.get(name, 0) + calls


def lustre(system: System) -> dict[str, Moved]:
    """
    By file system name: its llite folder is NAME-<address>.
    """
    found: dict[str, Moved] = {}
    for folder in LLITE:
        for entry in system.entries(folder):
            if raw := system.read(f"{folder}/{entry}/stats"):
                found.setdefault(entry.rpartition("-")[0] or entry, llite(raw))
    return found


def llite(raw: bytes) -> Moved:
    moved: Moved = {}
    for line in raw.decode("ascii", "replace").splitlines():
        words = line.split()
        if len(words) < 3 or not words[1].isdigit() or words[2] != "samples":
            continue
        name, samples = words[0], int(words[1])
        if name in ("read_bytes", "write_bytes"):
            way = name.partition("_")[0]
            moved[f"io.{way}.operations"] = samples
            if len(words) > 6 and words[6].isdigit():
                moved[f"io.{way}.bytes"] = int(words[6])
        elif name not in LLITE_DATA:
            key = "io.metadata.operations"
            moved[key] = moved.get(key, 0) + samples
    return moved
