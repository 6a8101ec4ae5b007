"""
Time zones: each cluster's own, else this machine's.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo

from leadline.settings.common import ClusterSettings


@cache
def local_zone() -> ZoneInfo:
    """
    This machine's zone by $TZ, /etc/timezone or /etc/localtime; UTC when none tells.
    """
    for name in _names():
        try:
            return ZoneInfo(name)
        except (KeyError, ValueError, OSError):
            continue
    return ZoneInfo("UTC")


def _names() -> list[str]:
    names = [os.environ.get("TZ", "").lstrip(":")]
    with contextlib.suppress(OSError, UnicodeDecodeError):  # only Debian has it
        names.append(Path("/etc/timezone").read_text(encoding="ascii").strip())
    target = str(Path("/etc/localtime").resolve())
    names.append(target.partition("/zoneinfo/")[2])
    return [name for name in names if name]


def cluster_zone(clusters: Mapping[str, ClusterSettings], cluster: str | None) -> ZoneInfo:
    """
    The zone CLUSTER counts its days in; without a name, that of all clusters if they share one,
    else this machine's.
    """
    if cluster is not None:
        settings = clusters.get(cluster)
        return ZoneInfo(settings.zone) if settings and settings.zone else local_zone()
    zones = {cluster_zone(clusters, name) for name in clusters}
    return zones.pop() if len(zones) == 1 else local_zone()
