"""
Whose days a question counts by when it names no cluster.
"""

from __future__ import annotations

from leadline.settings.common import ClusterSettings
from leadline.settings.zones import cluster_zone, local_zone

OSLO, YORK = ClusterSettings(zone="Europe/Oslo"), ClusterSettings(zone="America/New_York")


def test_clusters_that_share_a_zone_count_by_it() -> None:
    """
    Two clusters in Oslo asked from a machine that keeps UTC: the days are Oslo's; of two zones
    neither, unless one cluster is named.
    """
    assert "Europe/Oslo" == cluster_zone({"fox": OSLO, "betzy": OSLO}, None).key
    both = {"fox": OSLO, "olivia": YORK}
    assert local_zone() == cluster_zone(both, None)
    assert "America/New_York" == cluster_zone(both, "olivia").key
    assert local_zone() == cluster_zone({"fox": OSLO, "new": ClusterSettings()}, None)
    assert local_zone() == cluster_zone({}, None)
