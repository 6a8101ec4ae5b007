"""How much each page asks: what is slow is asked often, or looks at every sample."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from flask import Flask

from leadline.chores.capacity import keep_capacity
from leadline.chores.lease import done
from leadline.chores.rollup import roll_up
from leadline.query.rollups import LATE
from leadline.store.plan import Plan
from leadline.web import create_app
from tests.counting import CountingStore
from tests.web.conftest import NOW, job, node, process, site_of

DAY = timedelta(days=1)
YEAR = "this+year"
MOST = {
    "/": 25,
    "/users": 20,
    "/projects": 21,
    "/programs": 20,
    "/usage": 16,
    f"/usage?period={YEAR}": 19,
    f"/usage?by=user&compare=1&period={YEAR}": 22,
    f"/usage?by=host&period={YEAR}": 20,
    f"/usage?by=weekday&and=hour_of_day&period={YEAR}": 18,
    f"/usage?by=job&period={YEAR}": 24,
    "/jobs": 9,
    "/nodes": 12,
    "/findings": 38,
    "/allocations": 2,
    "/search?words=gmx": 6,
    "/data": 18,
    "/metrics": 11,
}
RAW = frozenset({"process", "process_gpu"})
TAIL = timedelta(hours=2)  # what no roll-up can have seen yet, and the edge of a period


@pytest.fixture(scope="module")
def store() -> CountingStore:
    """
    A sample each ten days of 300, an hour's worth today, all of it rolled up.
    """
    store = CountingStore()
    moments = [NOW - number * DAY for number in range(0, 300, 10)]
    moments += [NOW - timedelta(minutes=5 * number) for number in range(1, 12)]
    long_ago = {"event.ingested": "2026-11-20T00:00:00.000Z"}
    for moment in moments:
        documents = [process(moment, number, **long_ago) for number in range(6)]
        documents += [node(moment, f"c1-{number}") | long_ago for number in range(3)]
        documents += [job(moment, 100 + moment.minute)]
        store.write(documents, "create")
    utc = ZoneInfo("UTC")
    roll_up(store, NOW, lambda cluster: utc)
    keep_capacity(store, NOW, lambda cluster: utc)
    for chore in ("rollup", "capacity"):
        done(store, chore, NOW + LATE, NOW + LATE, 1)
    return store


@pytest.fixture
def app(store: CountingStore) -> Flask:
    return create_app(replace(site_of(store), clock=lambda: NOW))


@pytest.mark.parametrize("page", MOST)
def test_a_page_asks_little(app: Flask, store: CountingStore, page: str) -> None:
    """
    On its first load no page asks more than it needs, and the same never twice.
    """
    store.forget_questions()
    assert 200 == app.test_client().get(page).status_code
    assert store.count <= MOST[page]
    twice = {str(plan) for plan in store.plans if store.plans.count(plan) > 1}
    assert not twice


@pytest.mark.parametrize("page", [page for page in MOST if YEAR in page])
def test_a_year_is_not_read_sample_by_sample(app: Flask, store: CountingStore, page: str) -> None:
    """
    Questions about a year go to hourly usage; of samples only the last hours are looked at, and
    for what came in late, which every file knows of itself.
    """
    store.forget_questions()
    app.test_client().get(page)
    long = [plan for plan in store.plans if plan.dataset in RAW and not _short(plan)]
    assert not long
    assert "usage" in {plan.dataset for plan in store.plans}


def _short(plan: Plan) -> bool:
    if any(known.field == "event.ingested" for known in plan.where):
        return True  # the mark of what came late
    in_log = all(a.field in ("", "@timestamp") for a in plan.aggregates)
    if in_log and not plan.by and not plan.where:
        return True  # how many there are, and since when
    return plan.start is not None and min(plan.end or NOW, NOW) - plan.start <= TAIL
