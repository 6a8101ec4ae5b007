"""No page is heavier than 100 KB, however much there is and however it is asked."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import timedelta
from html import unescape
from urllib.parse import quote

import pytest
from flask import Flask
from flask.testing import FlaskClient

from leadline.formats.times import format_time
from leadline.reports.settings import AllocationSettings, GrantSettings
from leadline.store.memory import MemoryStore
from leadline.web import create_app
from leadline.web.paging import MOST_BYTES
from tests.web.conftest import NOW, job, node, process, site_of
from tests.web.crowd import huge

WEEK = "period=last+7+days"
NAMES = quote("|".join(f'"ü{number} & <b>"' for number in range(60)))
MANY = "core_hours_used,gpu_hours_busy,memory_mean,memory_max,samples,users,programs,hosts"
PAGES = (
    "/",
    f"/usage?{WEEK}&by=user&top=1000",
    f"/usage?{WEEK}&by=user&top=200&compare=1",
    f"/usage?{WEEK}&by=user&top=1000&measure={MANY}",
    f"/usage?{WEEK}&by=user&and=day&top=300",
    f"/usage?{WEEK}&by=host&and=hour&top=300&picture=heat",
    f"/usage?{WEEK}&by=host&and=hour&top=300&picture=lines",
    f"/usage?{WEEK}&by=user&and=program&top=1000&picture=bars",
    f"/usage?{WEEK}&by=user&top=1000&where=user!%3D{NAMES}",
    *(
        f"/usage?{WEEK}&by=user&top=200&picture={kind}"
        for kind in ("area", "bars", "box", "dots", "heat", "histogram", "lines", "pie")
    ),
    f"/jobs?{WEEK}&where=user!%3D{NAMES}",
    "/jobs?period=now",
    "/jobs/fox/77",
    "/compare?" + "&".join(f"job=fox/{number}" for number in (77, 100, 101, 102, 103, 104)),
    "/users",
    "/projects",
    "/programs",
    "/nodes",
    "/nodes/fox/flaps?period=last+30+days",
    f"/findings?{WEEK}",
    "/allocations?all=1",
    f"/search?words=gmx&{WEEK}",
    "/data",
)


def crowd() -> list[dict[str, object]]:
    """
    The huge store, with names as long as they come, a job of 500 nodes, a node that flaps.
    """
    moment = NOW - timedelta(minutes=30)
    found = huge()
    for number in range(1000):
        found.append(node(moment, f"compute-node-of-the-east-hall-{number:04d}"))
    for number in range(500):
        host = f"compute-node-of-the-east-hall-{number:04d}"
        own = {"job.id": "fox/77", "host.name": host, "process.pid": number}
        own |= {"process.name": f"ü<{number}>" * 9, "program.name": f"ü & {number % 50}" * 20}
        for ago in (1, 2, 3):
            tick = moment - timedelta(hours=ago)
            found.append(process(tick, number, **own))
            found.append({**node(tick, host), "job.id": "fox/77"})
        found.append(job(moment, 5000 + number, **{"job.name": "ü<&>" * 60}))
        for old in range(4):
            hour = NOW - timedelta(hours=1 + old + number % 100)
            line = f"gmx <{number}> {old} " + "&" * 900
            used = {"process.command_line": line, "core_seconds": 9e5}
            found.append(process(hour, number, **used))
    for number in range(150):
        found.append(process(NOW - timedelta(days=1 + number), 1))
    states = ("IDLE", "DOWN+DRAIN")
    for number in range(2000):
        tick = NOW - timedelta(minutes=10 * number + 5)
        seen = {**node(tick, "flaps"), "dataset": "node_state", "state.hash": f"{number}"}
        found.append({**seen, "state.name": states[number % 2], "state.reason": "ü<&>" * 20})
        looked = {"slurm.nodes": 9, "sample.time": format_time(tick)}
        found.append(node(tick, "flaps") | looked)
    return [*found, job(moment, 77, **{"job.node.count": 500})]


@pytest.fixture(scope="module")
def app() -> Flask:
    store = MemoryStore()
    assert not store.write(crowd(), "create").rejected
    grants = tuple(
        GrantSettings(period="2026", project=f"nn{number}k", cluster="fox", core_hours=50)
        for number in range(600)
    )
    grants += (GrantSettings(period="2026", cluster="fox", core_hours=9e6, charge="used"),)
    return create_app(replace(site_of(store), allocations=AllocationSettings(grants=grants)))


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("address", PAGES)
def test_page_is_light(client: FlaskClient, address: str, language: str) -> None:
    """
    HTML of 100 KB at most, and something in it.
    """
    mark = "&" if "?" in address else "?"
    answer = client.get(f"{address}{mark}lang={language}")
    assert answer.status_code == 200, answer.get_data(as_text=True)
    assert 1000 < len(answer.data) <= MOST_BYTES


def test_a_picture_takes_steps_that_can_be_told_apart(client: FlaskClient) -> None:
    """
    Five months of hours are drawn by the day, and the page says so; the table has the hours.
    """
    page = client.get("/usage?by=hour&period=last+200+days").get_data(as_text=True)
    assert "Drawn per day: finer steps could not be told apart." in page
    known = json.loads(unescape(re.search(r"data-series='([^']*)'", page)[1]))  # type: ignore[index]
    assert 140 < len(known["rows"][0][2]) <= 170
    assert page.count("<tr>") > 150


def test_pages_of_a_list_make_the_whole(client: FlaskClient) -> None:
    """
    From page to page every user of a thousand is told once, with the figures of the whole below
    each page and the picture above the first.
    """
    address, names, pages = f"/usage?{WEEK}&by=user&top=1000", list[str](), 0
    while address:
        page = client.get(address).get_data(as_text=True)
        names += re.findall(r'<td class="name"><a [^>]*>([^<]*)</a>', page)
        following = re.search(r'<a href="([^"]*)" rel="next">', page)
        address, pages = unescape(following[1]) if following else "", pages + 1
        assert "<tfoot>" in page
        assert ("<svg" in page.partition("<table")[0]) == (pages == 1)
        assert ("others (" in page) == (not address)
    assert pages > 3
    assert len(names) == len(set(names)) == 1000


@pytest.mark.parametrize("start", ["/nodes", f"/search?words=gmx&{WEEK}", "/allocations", "/jobs"])
def test_other_lists_go_on(client: FlaskClient, start: str) -> None:
    """
    The second page holds other rows than the first, and leads back to it.
    """
    found = []
    for _number in range(2):
        page = client.get(start).get_data(as_text=True)
        rows = set(re.findall(r"<tr><td.*?</td>", page))
        start = unescape(re.search(r'<a href="([^"]*)" rel="next">', page)[1])  # type: ignore[index]
        found.append(rows)
    assert found[0]
    assert found[1]
    assert not found[0] & found[1]
    assert "the first ones" in page


@pytest.mark.parametrize(
    "start",
    ["/nodes/fox/flaps/states.{}?period=last+30+days", "/allocations/over-time.{}?all=1"],
)
def test_small_pictures_are_files_too(client: FlaskClient, start: str) -> None:
    """
    The line of states and the burn-down of grants: all of it as CSV and JSON, drawn as SVG, PNG and
    Vega-Lite.
    """
    rows = client.get(start.format("json")).get_json()["rows"]
    lines = client.get(start.format("csv")).get_data(as_text=True).splitlines()
    assert len(lines) == len(rows) + 1 > 100
    assert client.get(start.format("svg")).data.startswith(b"<svg")
    assert client.get(start.format("png")).data.startswith(b"\x89PNG")
    assert "vega-lite" in client.get(start.format("vega")).get_json()["$schema"]
    assert client.get(start.format("exe")).status_code == 404
