"""What scripts add, in a real Chromium: values under the pointer, completion, live pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from flask import Flask
from playwright.sync_api import Browser, Page, expect

import leadline.web
from leadline.store.memory import MemoryStore
from leadline.web import create_app
from tests.web.conftest import NOW, process, site_of, watched, week

pytestmark = pytest.mark.browser
STATIC = Path(leadline.web.__file__).parent / "static"
WEEK = "/usage?by=program&period=last+7+days"


@pytest.fixture(scope="module")
def store() -> MemoryStore:
    store = MemoryStore()
    store.write(week(), "create")
    return store


class Clock:
    now = NOW

    def __call__(self) -> datetime:
        return self.now


CLOCK = Clock()


@pytest.fixture(scope="module")
def app(store: MemoryStore) -> Flask:
    return create_app(replace(site_of(store), clock=CLOCK))


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with watched(browser, viewport={"width": 1200, "height": 900}) as page:
        yield page


def opened(page: Page, address: str) -> Page:
    page.goto(address)
    page.wait_for_selector("html[data-enriched=yes]")
    return page


def plot(page: Page) -> dict[str, float]:
    found = page.locator("figure svg path.background").first.bounding_box()
    assert found is not None
    return dict(found)


def test_scripts_are_small() -> None:
    """
    All of our own together are a fortieth of what a page may need.
    """
    sizes = [path.stat().st_size for path in STATIC.glob("*.js")]
    assert len(sizes) > 2
    assert sum(sizes) < 25_000


def test_values_under_the_pointer(page: Page, address: str) -> None:
    """
    Over a chart of days: the day, and each program's figure on it, as in the table by day.
    """
    opened(page, address + WEEK)
    box = plot(page)
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 60)
    told = page.inner_text(".tip")
    assert "Nov" in told
    assert "GROMACS" in told
    page.mouse.move(5, 5)
    assert page.locator(".tip").is_hidden()


def test_values_by_the_keyboard(page: Page, address: str) -> None:
    """
    A chart can be reached and read without a pointer, and said aloud.
    """
    opened(page, address + WEEK)
    page.focus("figure svg.chart")
    page.keyboard.press("Home")
    first = page.inner_text(".tip strong")
    page.keyboard.press("ArrowRight")
    assert page.inner_text(".tip strong") != first
    assert page.get_attribute(".tip", "role") == "status"
    page.keyboard.press("Escape")
    assert page.locator(".tip").is_hidden()


def test_a_dragged_span_becomes_the_period(page: Page, address: str) -> None:
    """
    The question's address says what is shown then; everything else of it stays.
    """
    opened(page, f"{address}{WEEK}&top=4&where=cluster%3Dfox")
    box = plot(page)
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 80, steps=4)
    assert page.locator(".brush").is_visible()
    with page.expect_navigation():
        page.mouse.up()
    asked = parse_qs(urlsplit(page.url).query)
    assert asked["period"][0].count("..") == 1
    assert (asked["top"], asked["where"]) == (["4"], ["cluster=fox"])
    assert page.locator("tbody tr").count() > 1


def test_a_name_is_switched_off_and_on(page: Page, address: str) -> None:
    """
    Its band fades, its figure leaves the tip, its button says so.
    """
    opened(page, address + WEEK)
    button = page.locator(".names button", has_text="GROMACS")
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    assert page.locator("svg .off").count() > 0
    box = plot(page)
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 60)
    assert "GROMACS" not in page.inner_text(".tip")
    button.click()
    assert page.locator("svg .off").count() == 0


@pytest.mark.parametrize(
    ("asked", "mark", "told"),
    [
        (
            "by=program&top=2&picture=pie",
            "path[aria-roledescription='arc mark']",
            "core hours used: ",
        ),
        ("by=program&top=2&picture=bars", "path[aria-roledescription=bar]", "core hours used: "),
        (
            "by=weekday&and=hour_of_day",
            "path[aria-label*='core hours used']",
            "core hours used per hour: ",
        ),
        ("by=weekday&and=hour_of_day", "path[fill='url(#hatch)']", "not measured"),
    ],
)
def test_marks_say_what_they_are(
    page: Page, address: str, asked: str, mark: str, told: str
) -> None:
    """
    A slice, a bar, a cell: what it is, and its figure; a hatched cell was not measured.
    """
    opened(page, f"{address}/usage?{asked}&period=2026-11-18")
    page.locator(f"figure svg {mark}").first.hover()
    assert told in page.inner_text(".tip")
    assert page.inner_text(".tip strong")


def test_filters_complete_what_is_typed(page: Page, address: str) -> None:
    """
    First the dimension, then its values; by the keyboard alone, and the filter works.
    """
    opened(page, f"{address}{WEEK}")
    page.click("input[name=where]")
    page.keyboard.type("us")
    page.wait_for_selector("[role=option]")
    assert "user" in page.inner_text("[role=option] >> nth=0")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.input_value("input[name=where]") == "user="
    page.keyboard.type("bj")
    page.wait_for_selector("[role=option] >> text=bjorn")
    expect(page.locator("[role=option]")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    assert page.get_attribute("input[name=where]", "aria-activedescendant")
    page.keyboard.press("Enter")
    assert page.input_value("input[name=where]") == "user=bjorn"
    page.keyboard.press("Enter")
    page.wait_for_url("**where=user%3Dbjorn**")
    assert "bjorn" in page.inner_text("h1")


def test_a_hostile_value_is_quoted(page: Page, address: str) -> None:
    """
    A name with signs in it stays one filter, and text.
    """
    opened(page, f"{address}{WEEK}")
    page.click("input[name=where]")
    page.keyboard.type("user=<scr")
    page.wait_for_selector("[role=option]")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.wait_for_url("**where=user**")
    assert page.locator("tbody tr").count() > 1


def test_page_of_now_renews_itself(page: Page, address: str, store: MemoryStore) -> None:
    """
    A program that came since stands on the page, which was not loaded again.
    """
    page.clock.install()
    opened(page, f"{address}/")
    page.evaluate("window.kept = 1")
    late = process(NOW - timedelta(minutes=1), 3, **{"program.name": "Newcomer"})
    store.write([late | {"core_seconds": 9e6}], "create")
    CLOCK.now += timedelta(minutes=5)
    page.clock.fast_forward(61_000)
    page.wait_for_selector("main >> text=Newcomer")
    assert page.evaluate("window.kept") == 1
    assert page.locator(".names button", has_text="Newcomer").count() == 1


def test_nobody_loses_what_is_being_typed(page: Page, address: str) -> None:
    """
    While a field of the page is being filled in nothing is exchanged.
    """
    page.clock.install()
    opened(page, f"{address}/jobs?period=now")
    page.fill("input[name=where]", "user=al")
    page.evaluate("document.body.dataset.refresh ?? 'not a page of now'")
    page.clock.fast_forward(130_000)
    assert page.input_value("input[name=where]") == "user=al"


def test_a_server_that_is_away_is_told(browser: Browser, address: str) -> None:
    """
    The page stays, and says since when nobody answers; it recovers by itself.
    """
    page = browser.new_page()
    page.clock.install()
    opened(page, f"{address}/")
    page.route("**/*", lambda route: route.fulfill(status=503, body="away"))
    page.clock.fast_forward(61_000)
    page.wait_for_selector("[role=alert]")
    assert page.locator("h2").count() > 1
    page.unroute("**/*")
    page.clock.fast_forward(61_000)
    page.wait_for_selector("[role=alert]", state="detached")
    page.close()
