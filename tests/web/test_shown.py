"""What pages lead to: files of every picture, things behind every name, the rest of long lists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from html import unescape
from itertools import count

import pytest
from flask.testing import FlaskClient
from playwright.sync_api import Browser, Page

from leadline.reports.settings import AllocationSettings, GrantSettings
from leadline.store.memory import MemoryStore
from leadline.web import create_app
from tests.web.conftest import HOSTILE, NOW, job, node, process, site_of

DRAWN = {
    "/": 5,
    "/usage?period=last+7+days": 5,
    "/nodes": 5,
    "/nodes/fox/c1-0": 5,
    "/jobs/fox/100": 0,
    "/jobs?period=last+7+days": 2,
    "/findings": 0,
    "/search?words=gmx&period=last+7+days": 1,
}
FILES = re.compile(
    r'href="([^"]*(?:format=|\.)(csv|json|svg|png|vega)\b[^"]*|[^"]*/api/v1/search[^"]*)"'
)
KINDS = {
    "csv": "text/csv",
    "json": "application/json",
    "svg": "image/svg+xml",
    "png": "image/png",
    "vega": "application/vnd.vegalite.v5+json",
}


def files_of(client: FlaskClient, path: str) -> Iterator[tuple[str, str]]:
    page = client.get(path).get_data(as_text=True)
    for address, form in FILES.findall(page):
        if "icon.svg" not in address:
            yield unescape(address), form or "json"


@pytest.mark.parametrize("path", DRAWN)
def test_every_picture_is_there_as_files(client: FlaskClient, path: str) -> None:
    """
    CSV, JSON, SVG, PNG and Vega-Lite, where there is a picture; each of them opens.
    """
    found = list(files_of(client, path))
    assert len(found) >= DRAWN[path]
    for address, form in found:
        answer = client.get(address)
        assert answer.status_code == 200, address
        assert answer.content_type.startswith(KINDS[form])
        assert len(answer.data) > 30


def test_node_over_time_is_a_table_of_what_is_drawn(client: FlaskClient) -> None:
    """
    One row an hour, cores busy in it; what is no form and what nobody knows is refused.
    """
    got = client.get("/nodes/fox/c1-0/over-time.csv?period=last+24+hours")
    head, *rows = got.get_data(as_text=True).splitlines()
    assert head.startswith("time,cores busy")
    assert 23 <= len(rows) <= 25
    assert all(row.split(",")[1] == "30.0" for row in rows)
    for path in ("c1-0/over-time.gif", "nobody/over-time.csv"):
        assert client.get(f"/nodes/fox/{path}").status_code == 400


def around() -> MemoryStore:
    """
    A job of somebody with a hostile name, and another beside it.
    """
    store = MemoryStore()
    end = NOW - timedelta(hours=1)
    documents = [job(end, 7, **{"user.name": HOSTILE, "project": "nn-1", "job.nodes": ["c1-1"]})]
    for hour in range(1, 6):
        for number, run in ((1, "fox/7"), (4, "fox/8")):
            documents.append(process(NOW - timedelta(hours=hour), number, **{"job.id": run}))
    documents.append(node(NOW - timedelta(hours=1), "c1-1"))
    store.write(documents, "create")
    return store


def test_names_of_a_job_lead_on() -> None:
    """
    Its user, project, programs, processes and neighbours: each name opens what is known of it.
    """
    client = create_app(site_of(around())).test_client()
    page = client.get("/jobs/fox/7").get_data(as_text=True)
    links = {unescape(link) for link in re.findall(r'<td[^>]*><a href="([^"]+)"', page)}
    assert any("user%3D" in link for link in links)
    assert any("project%3Dnn-1" in link for link in links)
    assert any("program%3DVASP" in link for link in links)
    assert "/jobs/fox/8" in links
    for link in links:
        assert client.get(link).status_code == 200, link


def test_long_list_of_jobs_goes_on() -> None:
    """
    A hundred at a time, by links, until every run was shown once.
    """
    store = MemoryStore()
    store.write([job(NOW - timedelta(minutes=n), n) for n in range(1, 231)], "create")
    client = create_app(site_of(store)).test_client()
    link, seen = "/jobs?period=last+7+days&shortest=10", []
    while link:
        page = client.get(link).get_data(as_text=True)
        seen += re.findall(r'name="job" value="(fox/\d+)"', page)
        more = re.search(r'href="([^"]+)" rel="next"', page)
        link = unescape(more[1]) if more else ""
    assert len(seen) == len(set(seen)) == 230
    assert "the first ones</a>" in page
    short = client.get("/api/v1/jobs?period=last+7+days&shortest=301").get_json()
    assert short["rows"] == []


@pytest.mark.parametrize("text", ["7", "fox/7", "<i>run 7"])
def test_job_is_found_by_number_and_name(text: str) -> None:
    """
    By what stands in a mail: the number, the whole id, how the name begins.
    """
    client = create_app(site_of(around())).test_client()
    found = client.get("/jobs", query_string={"named": text, "period": "last 7 days"})
    assert 'value="fox/7"' in found.get_data(as_text=True)
    other = client.get("/jobs", query_string={"named": f"{text}0", "period": "last 7 days"})
    assert "Remove a filter to see more." in other.get_data(as_text=True)


def test_filter_that_runs_have_not_is_refused(client: FlaskClient) -> None:
    """
    Runs have no program of their own: said so, and what to ask instead.
    """
    page = client.get("/jobs?where=program%3DVASP")
    assert page.status_code == 400
    assert "ask <code>by program</code>" in page.get_data(as_text=True)


def test_allocations_are_the_same_as_files() -> None:
    """
    What the page says of a grant, its files say too, and only they say it to a hundredth.
    """
    grant = GrantSettings(cluster="fox", period="2026-11", core_hours=1000.0, charge="used")
    site = replace(site_of(around()), allocations=AllocationSettings(grants=[grant]))
    client = create_app(site).test_client()
    page = client.get("/allocations").get_data(as_text=True)
    (row,) = client.get("/api/v1/allocations").get_json()["rows"]
    assert (row["granted"], row["cluster"], row["project"]) == (1000.0, "fox", None)
    assert f'<td class="n">{row["used"]:.0f}</td>' in page
    for address, form in files_of(client, "/allocations"):
        assert client.get(address).content_type.startswith(KINDS[form])
    old = client.get("/api/v1/allocations?all=1&format=csv").get_data(as_text=True)
    assert old.startswith("project,cluster,")


def test_nothing_has_no_picture_to_fetch(client: FlaskClient) -> None:
    """
    A page without rows links no picture, which could not be drawn; an empty table is one.
    """
    links = [form for _address, form in files_of(client, "/usage?period=2020-01")]
    assert links == ["csv", "json"]


@pytest.mark.parametrize("measure", ["jobs", "run_time_median", "core_hours_used"])
def test_a_row_leads_to_what_can_be_asked(client: FlaskClient, measure: str) -> None:
    """
    Schedulers know of no programs, so a user's jobs are told by node.
    """
    page = client.get(f"/usage?measure={measure}&by=user&period=all").text
    link = re.search(r'<td class="name"><a href="([^"]+)"', page)
    assert link is not None
    below = client.get(unescape(link[1]))
    assert below.status_code == 200
    assert 'class="empty"' not in below.text


def test_what_is_not_drawn_links_no_file() -> None:
    """
    One user on one day: a row, and nothing to compare it with.
    """
    store = MemoryStore()
    store.write([process(NOW - timedelta(minutes=5), 0)], "create")
    one = create_app(site_of(store)).test_client()
    asked = "/usage?by=user&period=last+7+days"
    assert "vega" not in [form for _address, form in files_of(one, asked)]
    assert {one.get(address).status_code for address, _ in files_of(one, asked)} == {200}


def test_jobs_side_by_side_say_what_each_page_says(client: FlaskClient) -> None:
    """
    Eight cores asked for, and what to type next time.
    """
    page = client.get("/compare?job=fox/100&job=fox/101").text
    assert re.search(r"Cores asked</td><td class=\"n\">8</td>", page)
    assert page.count("<code>--mem=") == 2


def test_span_between_moments_is_told_in_words(client: FlaskClient) -> None:
    """
    What a dragged span or a step back asks for is a title, not a stamp for programs.
    """
    page = client.get("/usage?period=2026-11-20T10:30:00Z..2026-11-20T18:00:00Z").text
    assert "by program, 20 Nov 2026 10:30 – 20 Nov 2026 18:00</h1>" in page


def test_picture_that_cannot_be_drawn_is_told(client: FlaskClient) -> None:
    """
    Who asks for a histogram of programs gets another picture, and is told so.
    """
    told = "This cannot be drawn as histogram: here is what fits."
    page = client.get("/usage?by=program&picture=histogram&period=all").get_data(as_text=True)
    assert told in page
    assert told not in client.get("/usage?picture=bars&period=all").get_data(as_text=True)


def test_unmatched_leads_to_commands_by_hours(client: FlaskClient) -> None:
    """
    On the page of programs: which commands no rule names, the greatest first.
    """
    page = client.get("/programs").get_data(as_text=True)
    link = re.search(r'href="([^"]+)">unmatched</a>', page)
    assert link
    assert "by=shape" in link[1]
    assert client.get(unescape(link[1])).status_code == 200


def test_measures_asked_together_stay_together(client: FlaskClient) -> None:
    """
    Who changes the period on the page of users keeps what it tells of them.
    """
    page = client.get("/users").get_data(as_text=True)
    (chosen,) = re.findall(r'<select name="measure">.*?<option value="([^"]+)" selected>', page)
    assert len(chosen.split(",")) == 5
    again = client.get("/usage", query_string={"measure": chosen, "by": "user", "period": "all"})
    assert "mean memory" in again.get_data(as_text=True)
    single = client.get("/usage?measure=users&by=program").get_data(as_text=True)
    assert '<option value="users" selected>' in single


def test_nothing_is_later_than_now(client: FlaskClient) -> None:
    """
    A period that ends now has one before it, and none after.
    """
    page = client.get("/usage?period=last+7+days").get_data(as_text=True)
    assert "◂ earlier" in page
    assert "▸" not in page
    assert "▸" in client.get("/usage?period=2026-11-18").get_data(as_text=True)


@pytest.mark.parametrize("path", ["/jobs", "/findings", "/nodes/fox/c1-0"])
def test_slow_page_is_not_later_than_itself(store: MemoryStore, path: str) -> None:
    """
    However long a page takes, nothing comes after a period that ended when it was asked for.
    """
    clock = (NOW + timedelta(minutes=minute) for minute in count())
    site = replace(site_of(store), clock=lambda: next(clock))
    page = create_app(site).test_client().get(path).get_data(as_text=True)
    assert "◂ earlier" in page
    assert "▸" not in page


@pytest.mark.parametrize("path", ["/usage", "/jobs", "/findings", "/nodes/fox/c1-0"])
def test_period_can_be_turned(client: FlaskClient, path: str) -> None:
    """
    A day leads to the day before and the day after, and back.
    """
    day = client.get(f"{path}?period=2026-11-19").get_data(as_text=True)
    links = {text: unescape(href) for href, text in re.findall(r'href="([^"]+)">([^<]*)</a>', day)}
    for text in ("◂ 2026-11-18", "2026-11-20 ▸"):
        there = client.get(links[text])
        assert there.status_code == 200
        assert "2026-11-19" in there.get_data(as_text=True)
    today = client.get(f"{path}?period=2026-11-21").get_data(as_text=True)
    assert "▸</a>" not in today


@pytest.fixture
def paper(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(
        java_script_enabled=False, viewport={"width": 760, "height": 1050}
    )
    page = context.new_page()
    page.emulate_media(media="print")
    yield page
    context.close()


@pytest.mark.browser
@pytest.mark.parametrize("path", ["/usage", "/jobs", "/findings", "/search?words=gmx"])
def test_paper_has_figures_and_no_forms(paper: Page, address: str, path: str) -> None:
    """
    Forms, links to files and buttons are not printed; tables, and where they came from, are, and
    no column lies beside the paper.
    """
    asked = f"{address}{path}{'&' if '?' in path else '?'}period=last+7+days"
    paper.goto(asked)
    for gone in ("form.ask", "main button", ".exports", ".turn", "input"):
        for one in paper.locator(gone).all():
            assert not one.is_visible(), gone
    if paper.locator("table").count():
        box = paper.locator("table").first.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 760
    assert asked.partition("?")[0] in paper.inner_text(".printed")


@pytest.mark.browser
def test_short_names_are_not_broken(browser: Browser, address: str) -> None:
    """
    Beside their bars, on a narrow screen and a wide one: a program's name stands on one line.
    """
    for width in (390, 1024, 1280):
        page = browser.new_page(viewport={"width": width, "height": 800})
        page.goto(f"{address}/")
        name = page.locator("td.name", has_text="unmatched").first
        box = name.locator("a").bounding_box()
        assert box is not None
        assert box["height"] < 24
        page.close()
