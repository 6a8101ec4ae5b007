"""
The lake's folder on disk: made private, refused on network file systems, locked by table.

flock does not reach other machines over NFS, so two workers there would write the same
documents twice.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from leadline.errors import StoreError

NETWORK = ("nfs", "cifs", "smb", "fuse.sshfs", "9p", "afs", "ceph", "glusterfs", "fuse.gluster")


def open_folder(folder: Path, *, allow_network: bool) -> None:
    """
    Make FOLDER if it is missing, for its owner alone, and see that locks work there.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise StoreError(f"{folder}: not a folder; a lake needs one of its own") from None
    except OSError as error:
        raise StoreError(f"{folder}: {error.strerror}; give --store lake:FOLDER another") from None
    if not allow_network:
        refuse_network(folder, file_system(folder))


def refuse_network(folder: Path, kind: str) -> None:
    if kind.startswith(NETWORK):
        raise StoreError(
            f"{folder}: is on {kind}, where locks do not hold between machines;"
            " put the lake on a local disk, or open it with allow_network if one machine writes"
        )


def file_system(path: Path) -> str:
    """
    The type of the file system PATH is on: ext4, xfs, nfs4 …; "" where nobody can tell.
    """
    real = path.resolve()
    mounts = {Path(p.mountpoint): p.fstype for p in psutil.disk_partitions(all=True)}
    return next((mounts[p] for p in (real, *real.parents) if p in mounts), "")


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[bool]:
    """
    Hold the lock file PATH; without `wait` the answer says whether it was to be had.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)


def sync(path: Path) -> None:
    """
    Have a file, or the names in a folder, on disk and not only in memory.
    """
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
