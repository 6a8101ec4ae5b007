"""Charts drawn by Vega in a real Chromium, where a reader asks for it: the same figures."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from playwright.sync_api import Browser, Page, expect

from leadline.render.charts.render import VEGA_LITE
from leadline.store.memory import MemoryStore
from leadline.web import create_app, vega
from tests.scripts import script
from tests.web.conftest import HOSTILE, NOW, job, process, site_of, watched, week

WEEK = "period=last+7+days"
BUTTON = "button.interactive"
MOST = 1_000_000  # bytes of script that a page may need


@pytest.fixture(scope="module")
def app() -> Flask:
    """
    The week, and a job that was looked at long enough to have a course; the script is made.
    """
    vega.script()
    store = MemoryStore()
    store.write(week(), "create")
    long = job(NOW - timedelta(minutes=5), 900, **{"job.nodes": ["c1-1"]})
    samples = [
        process(
            NOW - timedelta(minutes=15 * n), 1, **{"job.id": "fox/900", "interval.seconds": 900}
        )
        for n in range(1, 20)
    ]
    store.write([long, *samples], "create")
    return create_app(site_of(store))


def test_script_is_one_file_kept_for_a_month(client: FlaskClient) -> None:
    """
    Vega with all it needs: less than a megabyte, a third of that where it may be packed, for
    everybody who may load any script of ours; another name for another version.
    """
    address = f"/static/{vega.name()}"
    packed = client.get(address, headers={"Accept-Encoding": "gzip"})
    assert "gzip" == packed.headers["Content-Encoding"]
    assert "text/javascript" == packed.mimetype
    assert "Accept-Encoding" == packed.headers["Vary"]
    assert "public, max-age=2592000" == packed.headers["Cache-Control"]
    assert len(packed.data) < MOST / 3
    plain = client.get(address, headers={"Accept-Encoding": "identity"})
    assert "Content-Encoding" not in plain.headers
    assert plain.data == gzip.decompress(packed.data)
    own = sum(len(client.get(f"/static/{name}.js").data) for name in OWN)
    assert len(plain.data) + own < MOST
    assert VEGA_LITE in vega.name()
    known = {"Accept-Encoding": "gzip", "If-None-Match": packed.headers["ETag"]}
    assert 304 == client.get(address, headers=known).status_code
    assert 404 == client.get("/static/vega-0.1.js").status_code


OWN = ("leadline", "charts", "complete", "interactive", "refresh")


@pytest.mark.parametrize(
    ("path", "file"),
    [
        (f"/usage.vega?by=program&{WEEK}", "usage.vl.json"),
        ("/job.vega?job=fox/900", "job.vl.json"),
        ("/api/v1/jobs/fox/900?format=vega", "job.vl.json"),
        (f"/nodes/fox/c1-0/over-time.vega?{WEEK}", "fox-c1-0.vl.json"),
    ],
)
def test_specification_is_a_file(app: Flask, path: str, file: str) -> None:
    """
    Vega-Lite with its values inside, under a name that editors know.
    """
    answer = app.test_client().get(path)
    assert "application/vnd.vegalite.v5+json" == answer.mimetype
    assert f'attachment; filename="{file}"' == answer.headers["Content-Disposition"]
    spec = json.loads(answer.data)
    assert spec["$schema"].endswith("/vega-lite/v5.json")
    assert "url" not in json.dumps(spec)


def test_specification_of_nothing_is_refused(app: Flask) -> None:
    """
    No samples, no picture: said in a line, as for the other files.
    """
    client = app.test_client()
    assert 400 == client.get("/usage.vega?by=program&period=1999").status_code
    assert client.get("/job.vega").status_code in (400, 404)


def test_page_speaks_french_and_so_does_its_chart(app: Flask) -> None:
    """
    Words of the button, months of the axis.
    """
    client = app.test_client()
    assert 'data-interactive="Interactif"' in client.get("/usage?lang=fr").get_data(as_text=True)
    spec = client.get(f"/usage.vega?by=program&{WEEK}&lang=fr").get_json(force=True)
    assert "nov." in spec["config"]["locale"]["time"]["shortMonths"]


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with watched(browser, viewport={"width": 1200, "height": 900}, patience=30_000) as page:
        yield page


def opened(page: Page, address: str) -> list[str]:
    """
    The page, its chart drawn by Vega; what was fetched for that.
    """
    page.goto(address)
    page.wait_for_selector("html[data-enriched=yes]")
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    page.locator(BUTTON).first.click()
    expect(page.locator(BUTTON).first).to_have_attribute("aria-pressed", "true", timeout=30_000)
    return fetched


def drawn(page: Page, data: str = "source_0") -> list[dict[str, Any]]:
    """
    The rows the view holds, in a browser's own words.
    """
    rows: str = page.evaluate(
        f"JSON.stringify(document.querySelector('.vega').view.data('{data}'))"
    )
    found: list[dict[str, Any]] = json.loads(rows)
    return found


def until(page: Page, told: str) -> None:
    """
    Wait for an expression to hold, without anything evaluated in the page itself.
    """
    for _turn in range(300):
        if page.evaluate(told):
            return
        page.wait_for_timeout(50)
    raise AssertionError(told)


def in_order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: (row["time"], row["order"]))


def written(app: Flask, path: str) -> list[dict[str, Any]]:
    spec = json.loads(app.test_client().get(path).data)
    parts = [spec, *spec.get("layer", []), *(spec.get("vconcat", []))]
    return next(part["data"]["values"] for part in parts if "data" in part)


PICTURES = [
    ("bars", f"by=program&picture=bars&{WEEK}", "path[aria-roledescription=bar]"),
    ("pie", f"by=program&picture=pie&{WEEK}", "path[aria-roledescription='arc mark']"),
    ("heat", f"by=weekday&and=hour_of_day&{WEEK}", "path[aria-roledescription='rect mark']"),
    ("dots", f"by=user&picture=dots&{WEEK}", "path[aria-roledescription=point]"),
]


@pytest.mark.browser
@pytest.mark.parametrize(("kind", "asked", "mark"), PICTURES)
def test_pictures_hold_the_figures_of_the_answer(
    page: Page, address: str, app: Flask, kind: str, asked: str, mark: str
) -> None:
    """
    Bars, slices, cells, dots: as many marks as the answer has rows, each with its figure; a mark
    says what it is.
    """
    opened(page, f"{address}/usage?{asked}")
    rows = (
        app.test_client().get(f"/api/v1/usage?{asked.replace('&picture=' + kind, '')}").get_json()
    )
    values = [row["value"] for row in written(app, f"/usage.vega?{asked}")]
    shown = page.evaluate(
        f'[...document.querySelectorAll(".vega {mark}")].map(m => m.__data__.datum.value)'
    )
    assert shown == pytest.approx(values)
    if kind in ("bars", "pie"):
        told = [row["core_hours_used"] for row in rows["rows"]]
        assert sorted(values)[-len(told) :] == pytest.approx(sorted(told), abs=1e-3)
    page.locator(f".vega {mark}").first.hover()
    assert page.inner_text(".tip strong")
    assert page.inner_text(".tip b")


@pytest.mark.browser
@pytest.mark.parametrize(
    "asked",
    [
        f"by=user&and=day&measure=memory_max&{WEEK}",
        f"by=size&measure=jobs&{WEEK}",
        f"by=user&measure=memory_max&picture=box&{WEEK}",
    ],
    ids=["lines", "histogram", "box"],
)
def test_other_pictures_hold_what_is_drawn_here(
    page: Page, address: str, app: Flask, asked: str
) -> None:
    """
    Lines, classes, boxes: the values of the view are those of the specification, and it says
    nothing to the console; a script for a user name stays text.
    """
    opened(page, f"{address}/usage?{asked}")
    wanted = written(app, f"/usage.vega?{asked}")
    shown = drawn(page)
    assert len(shown) == len(wanted) > 0
    for row, known in zip(shown, wanted, strict=True):
        for name, value in known.items():
            assert name == "time" or row[name] == value
    if "by=user" in asked:
        assert HOSTILE in {row["name"] for row in shown}
        assert page.locator(".vega script, .vega a").count() == 0


@pytest.mark.browser
def test_nothing_is_fetched_before_the_press(page: Page, address: str) -> None:
    """
    Then two scripts and the specification, once; a second press shows the plain drawing again.
    """
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    after = opened(page, f"{address}/usage?by=program&{WEEK}")
    before = fetched[: len(fetched) - len(after)]
    assert not any("vega" in url or "interactive" in url for url in before)
    names = [url.rpartition("/")[2].partition("?")[0] for url in after]
    assert sorted(["interactive.js", "usage.vega", vega.name()]) == sorted(names)
    assert page.locator("figure svg.chart").first.is_hidden()
    page.emulate_media(media="print")
    assert page.locator("figure svg.chart").first.is_visible()
    assert page.locator(".vega").is_hidden()
    page.emulate_media(media="screen")
    page.locator(BUTTON).press("Enter")
    expect(page.locator(BUTTON)).to_have_attribute("aria-pressed", "false")
    assert page.locator("figure svg.chart").first.is_visible()
    assert page.locator(".vega").count() == 0


@pytest.mark.browser
def test_names_are_switched_and_stacked_anew(page: Page, address: str) -> None:
    """
    By the buttons below and by the legend, which say the same; what is left stands on the ground.
    """
    opened(page, f"{address}/usage?by=program&{WEEK}")
    whole = drawn(page, "data_0")
    ground = {row["name"] for row in whole if row["value_start"] == 0}
    first = next(iter(ground))
    button = page.locator(".names button", has_text=first)
    button.click()
    until(page, "document.querySelector('.vega').view.data('names_store').length > 0")
    left = drawn(page, "data_0")
    assert first not in {row["name"] for row in left}
    assert {row["name"] for row in left} == {row["name"] for row in whole} - {first}
    low = min(row["value_start"] for row in left)
    assert low == 0
    button.click()
    until(page, "document.querySelector('.vega').view.data('names_store').length == 0")
    assert in_order(drawn(page, "data_0")) == in_order(whole)
    page.locator(".vega .role-legend-label text", has_text="VASP").click()
    expect(page.locator(".names button[aria-pressed=true]")).to_have_count(1)
    assert {row["name"] for row in drawn(page, "data_0")} == {"VASP"}


@pytest.mark.browser
def test_time_is_moved_and_told(page: Page, address: str) -> None:
    """
    Under the pointer: the day and every name's figure, as the rows hold them; a drag moves the
    axis, Shift and the wheel stretch it, a double click shows the whole.
    """
    opened(page, f"{address}/usage?by=program&{WEEK}")
    box = page.locator(".vega path.background").first.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + 80
    page.mouse.move(x - 4, y)
    page.mouse.move(x, y)
    day = page.inner_text(".tip strong")
    (row,) = [row for row in drawn(page, "source_1") if row["told"] == day]
    told = dict(line.split("\n") for line in page.locator(".tip .line").all_inner_texts())
    assert list(told.values()) == [row[f"value{place}"] for place in range(len(told))]
    assert {"VASP", "GROMACS"} <= set(told)
    ends = "document.querySelector('.vega').view.scale('x').domain().map(Number)"
    before = page.evaluate(ends)
    page.mouse.down()
    page.mouse.move(x + 90, y, steps=3)
    page.mouse.up()
    moved = page.evaluate(ends)
    assert moved[0] < before[0]
    assert moved[1] - moved[0] == pytest.approx(before[1] - before[0], rel=0.01)
    page.keyboard.down("Shift")
    page.mouse.wheel(0, -200)
    until(page, f"(([a, b]) => b - a)({ends}) < {0.98 * (before[1] - before[0])}")
    page.keyboard.up("Shift")
    page.mouse.dblclick(x, y)
    until(page, f"String({ends}) === '{before[0]},{before[1]}'")


@pytest.mark.browser
@pytest.mark.parametrize(
    ("path", "data", "strips"),
    [("/jobs/fox/900", "/job.vega?job=fox/900", 2), ("/nodes/fox/c1-1", "", 2)],
)
def test_strips_of_a_job_and_a_node(
    page: Page, address: str, app: Flask, path: str, data: str, strips: int
) -> None:
    """
    Each strip is drawn, with the values of the specification, as wide as the column; all of them
    move together.
    """
    opened(page, address + path)
    spec = json.loads(app.test_client().get(data or f"{path}/over-time.vega").data)
    assert strips == len(spec["vconcat"])
    wanted = [row["value"] for row in spec["vconcat"][0]["data"]["values"]]
    assert [row["value"] for row in drawn(page)] == pytest.approx(wanted, nan_ok=True)
    areas = page.locator(".vega path[aria-roledescription='area mark']")
    expect(areas).to_have_count(strips)
    shape = areas.first.get_attribute("d") or ""
    assert len(shape) > 40
    box = page.locator(".vega path.background").nth(1).bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 200, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 260, box["y"] + 20, steps=3)
    page.mouse.up()
    assert (areas.first.get_attribute("d") or "") != shape


@pytest.mark.browser
def test_phone_has_it_too(browser: Browser, address: str) -> None:
    """
    No wider than the screen, in the colours of a dark page; it turns with the screen.
    """
    context = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme="dark")
    page = context.new_page()
    opened(page, f"{address}/usage?by=program&{WEEK}")
    svg = page.locator(".vega svg.marks")
    box = svg.bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= 390
    style = "getComputedStyle(document.querySelector('.vega {}')).{}".format
    assert "rgb(228, 230, 233)" == page.evaluate(style(".role-axis-label text", "fill"))
    assert "rgba(0, 0, 0, 0)" == page.evaluate(style("svg.marks", "backgroundColor"))
    page.set_viewport_size({"width": 800, "height": 390})
    until(page, "document.querySelector('.vega svg.marks').clientWidth > 600")
    context.close()


@pytest.mark.browser
def test_script_that_cannot_be_loaded(browser: Browser, address: str) -> None:
    """
    The plain drawing stays, a sentence says so; once the server is back the button works.
    """
    page = browser.new_page()
    page.goto(f"{address}/usage?by=program&{WEEK}")
    page.wait_for_selector("html[data-enriched=yes]")
    page.route("**/usage.vega*", lambda route: route.abort())
    page.locator(BUTTON).click()
    page.wait_for_selector("[role=status].failed")
    assert page.locator("figure svg.chart").first.is_visible()
    assert "false" == page.get_attribute(BUTTON, "aria-pressed")
    page.unroute("**/usage.vega*")
    page.locator(BUTTON).click()
    expect(page.locator(BUTTON)).to_have_attribute("aria-pressed", "true")
    assert page.locator(".failed").count() == 0
    page.close()


@pytest.mark.browser
def test_no_serious_finding(browser: Browser, address: str) -> None:
    """
    The accessibility checker has nothing serious to say of a chart that Vega drew.
    """
    context = browser.new_context(bypass_csp=True)
    context.add_init_script(path=script("axe-core/axe.min.js"))
    page = context.new_page()
    opened(page, f"{address}/usage?by=program&{WEEK}")
    found: Any = page.evaluate("axe.run('figure', {resultTypes: ['violations']})")
    bad = [one for one in found["violations"] if one["impact"] in ("serious", "critical")]
    assert [(one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in bad] == []
    context.close()
