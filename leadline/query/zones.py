"""
Whose days a question counts by: those of the clusters it names.

Where these lie in several zones each counts by its own, and this machine's zone stands for others.
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
    named = _named(asked)
    if not named:
        return cluster_zone(clusters, None)
    zones = {cluster_zone(clusters, name) for name in named}
    return zones.pop() if len(zones) == 1 else cluster_zone({}, None)


def own_zones(asked: Question, clusters: Mapping[str, ClusterSettings]) -> dict[str, ZoneInfo]:
    """
    The zones of the clusters ASKED about that are not the question's.
    """
    zone = question_zone(asked, clusters)
    zones = {name: cluster_zone(clusters, name) for name in _named(asked) or clusters}
    return {name: its for name, its in zones.items() if its != zone}


def _named(asked: Question) -> set[str]:
    named: set[str] | None = None
    for known in asked.where:
        if known.dimension == "cluster" and not known.negated:
            values = {str(value) for value in known.values}
            named = values if named is None else named & values
    return named or set()
