"""
Whose days a question counts by.
"""

from __future__ import annotations

import pytest

from leadline.query import parse_question
from leadline.query.zones import question_zone
from leadline.settings.common import ClusterSettings
from leadline.settings.zones import local_zone

OSLO, YORK = ClusterSettings(zone="Europe/Oslo"), ClusterSettings(zone="America/New_York")
CLUSTERS = {"fox": OSLO, "betzy": OSLO, "olivia": YORK}


@pytest.mark.parametrize(
    ("where", "zone"),
    [
        (" where cluster=fox", "Europe/Oslo"),
        (" where cluster=fox|betzy", "Europe/Oslo"),
        (" where cluster=olivia, user=alice", "America/New_York"),
        (" where cluster=fox|olivia", None),
        (" where cluster!=olivia", None),
        ("", None),
    ],
)
def test_days_are_those_of_the_clusters_asked_about(where: str, zone: str | None) -> None:
    """
    One zone where the clusters named share one; of two zones, neither: this machine's.
    """
    asked = parse_question(f"core_hours_used by day{where} during last 7 days")
    assert (zone or local_zone().key) == question_zone(asked, CLUSTERS).key
