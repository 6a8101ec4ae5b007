"""
Whose days a question counts by.
"""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from leadline.formats import Document
from leadline.query import Answer, ask, parse_question
from leadline.query.zones import own_zones, question_zone
from leadline.settings.common import ClusterSettings
from leadline.settings.zones import local_zone
from leadline.store.contract import Store
from leadline.store.scope import EVERYTHING
from tests.any_store import STORES
from tests.query.conftest import NOW, sample
from tests.query.test_accounted import run, slices

OSLO, YORK = ClusterSettings(zone="Europe/Oslo"), ClusterSettings(zone="America/New_York")
OSLO_ZONE, OWN = ZoneInfo("Europe/Oslo"), {"olivia": ZoneInfo("America/New_York")}
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


def test_own_zones() -> None:
    """
    Clusters that count by another zone than the question, of those asked about.
    """
    asked = parse_question("core_hours_used where cluster=fox|olivia during last 7 days")
    assert own_zones(asked, {"fox": OSLO, "olivia": ClusterSettings(zone=local_zone().key)}) == {
        "fox": ZoneInfo("Europe/Oslo")
    }
    assert not own_zones(parse_question("users where cluster=olivia during today"), CLUSTERS)
    assert not own_zones(asked, {})


def hour_of(cluster: str, number: int, time: str) -> Document:
    zone = OWN.get(cluster, OSLO_ZONE)
    local = datetime.fromisoformat(time).astimezone(zone)
    named = {"local.day": local.date().isoformat(), "local.hour": local.hour}
    return sample(number, **{"cluster": cluster, "@timestamp": time, **named})


@STORES
def test_a_day_is_each_clusters_own(other: Store) -> None:
    """
    What is 3 in the morning in Oslo is the day before in New York; a run's day that is cut now is
    cut by its own clocks, and running runs are in the days of theirs.
    """
    times = ("2026-11-18T23:30:00.000Z", "2026-11-19T02:30:00.000Z", "2026-11-20T02:30:00.000Z")
    samples = [hour_of(c, n, t) for c in ("fox", "olivia") for n, t in enumerate(times)]
    days: list[Document] = []
    for cluster, day, hour in (("fox", "2026-11-21", "11"), ("olivia", "2026-11-21", "06")):
        (made,) = slices(1, (day, 1.0))
        days.append(made | {"cluster": cluster, "hours": {hour: 3600}})
    ran = [
        run(n, "2026-11-18T12:00", "2026-11-19T01:00", "2026-11-19T05:00", **{"cluster": cluster})
        for n, cluster in enumerate(("fox", "olivia"))
    ]
    assert not other.write([*samples, *days, *ran], "replace").rejected

    def told(text: str) -> Answer:
        return ask(parse_question(text), other, EVERYTHING, NOW, zone=OSLO_ZONE, own=OWN)

    found = told("samples, jobs_running, jobs by cluster per day during 2026-11-19")
    assert [("fox", "2026-11-19", 2, 1, 1), ("olivia", "2026-11-19", 1, 0, 0)] == [
        tuple(row.values()) for row in found.rows if row["samples"]
    ]
    assert {"samples": 3, "jobs_running": 1, "jobs": 1} == found.total
    assert found.notes[0].startswith("each cluster counts its own days: olivia America/New_York")
    assert 2 == told("jobs_running during 2026-11-18..2026-11-19").total["jobs_running"]
    found = told("wall_hours by cluster during last 90 minutes")  # from 10:30 UTC to 12:00
    assert {"fox": 0.5, "olivia": 1.0} == {r["cluster"]: r["wall_hours"] for r in found.rows}
