"""
Whose days a question counts by: those of the clusters it names.
"""

from __future__ import annotations

from collections.abc import Mapping
from zoneinfo import ZoneInfo

from leadline.query.question import Question
from leadline.settings.common import ClusterSettings
from leadline.settings.zones import cluster_zone


def question_zone(asked: Question, clusters: Mapping[str, ClusterSettings]) -> ZoneInfo:
    """
    The zone of the clusters ASKED about, all where none is named, if they share one; else this
    machine's.
    """
    named: set[str] | None = None
    for known in asked.where:
        if known.dimension == "cluster" and not known.negated:
            values = {str(value) for value in known.values}
            named = values if named is None else named & values
    if not named:
        return cluster_zone(clusters, None)
    zones = {cluster_zone(clusters, name) for name in named}
    return zones.pop() if len(zones) == 1 else cluster_zone({}, None)
