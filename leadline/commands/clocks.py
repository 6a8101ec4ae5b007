"""
Moments in tables as the clocks of each row's cluster show them, and a line that says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from leadline.errors import FormatError
from leadline.formats.times import parse_time
from leadline.render.table import Value
from leadline.settings.common import ClusterSettings
from leadline.settings.zones import cluster_zone

MINUTE = "%Y-%m-%d %H:%M"


def by_own_clocks(
    rows: Sequence[Mapping[str, Value]],
    names: Sequence[str],
    clusters: Mapping[str, ClusterSettings],
) -> tuple[tuple[dict[str, str], ...], str]:
    """
    What people read of the moments NAMES in ROWS, and in which zones they are told. A row's
    cluster is its own, or what its job begins with.
    """
    zones: dict[str, str] = {}
    labels = []
    for row in rows:
        cluster = str(row.get("cluster") or str(row.get("job")).partition("/")[0])
        zone = cluster_zone(clusters, cluster)
        shown = {}
        for name in names:
            if (moment := row.get(name)) is None:
                continue
            with suppress(FormatError):  # what is no time is shown as it is
                shown[name] = parse_time(str(moment)).astimezone(zone).strftime(MINUTE)
                zones[cluster] = zone.key
        labels.append(shown)
    if len(set(zones.values())) == 1:
        return tuple(labels), f"Times are {next(iter(zones.values()))}."
    told = ", ".join(f"{cluster} {zone}" for cluster, zone in sorted(zones.items()))
    return tuple(labels), f"Times are each cluster's own: {told}." if told else ""
