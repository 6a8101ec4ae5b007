"""
Pages count days as the terminal does: by the zone of the clusters a question names.
"""

from __future__ import annotations

from dataclasses import replace

from leadline.query import parse_question
from leadline.query.zones import question_zone
from leadline.settings.common import ClusterSettings
from leadline.store.memory import MemoryStore
from leadline.web.asking import Desk
from tests.web.conftest import site_of

CLUSTERS = {
    "fox": ClusterSettings(zone="Europe/Oslo"),
    "olivia": ClusterSettings(zone="America/New_York"),
}


def test_one_of_two_clusters_has_its_own_days() -> None:
    """
    A page about New York's cluster begins its days at New York's midnight, whatever the site's
    other clusters keep; a site that lists no clusters keeps its own zone.
    """
    site = site_of(MemoryStore())
    desk = Desk(replace(site, clusters=CLUSTERS))
    asked = parse_question("core_hours_used where cluster=olivia during 2026-11-20")
    assert question_zone(asked, CLUSTERS) == desk.ask(asked).period.zone
    assert "America/New_York" == desk.ask(asked).period.zone.key
    assert site.zone == Desk(site).ask(asked).period.zone
