"""The pages in a real Chromium, JavaScript off and on, at phone and desktop width."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.web.conftest import HOSTILE, watched

pytestmark = pytest.mark.browser


@pytest.fixture(params=[False, True], ids=["plain", "script"])
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    with watched(browser, java_script_enabled=request.param) as page:
        yield page


def test_ask_by_form_and_step_down(page: Page, address: str) -> None:
    """
    Choose a measure and a dimension, press Show, click a name: a table each time.
    """
    page.goto(f"{address}/usage?period=last+7+days")
    page.select_option("select[name=by]", "user")
    page.fill("input[name=top]", "2")
    page.click("button")
    assert "by user" in page.inner_text("h1")
    assert page.locator("tbody tr").count() == 3
    name = page.inner_text("tbody a >> nth=0")
    page.click("tbody a >> nth=0")
    assert f"user {name}" in page.inner_text("h1")
    assert page.locator("tbody tr").count() > 1


def test_hostile_name_stays_text(page: Page, address: str) -> None:
    """
    A script for a user name is read as text, runs nowhere, and can be filtered for by its link.
    """
    page.goto(f"{address}/usage?by=user&period=last+7+days")
    page.locator("tbody a", has_text=HOSTILE).click()
    assert HOSTILE in page.inner_text("h1").replace("…", "")


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/usage?by=program&and=host",
        "/users",
        "/nodes",
        "/search?words=gmx",
        "/data",
        "/nowhere",
    ],
)
def test_nothing_wider_than_a_phone(browser: Browser, address: str, path: str) -> None:
    """
    At 320 pixels the page does not scroll sideways; wide tables and charts scroll by themselves.
    """
    context = browser.new_context(viewport={"width": 320, "height": 640})
    page = context.new_page()
    page.goto(address + path)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_ink_can_be_read_on_paper(browser: Browser, address: str, scheme: str) -> None:
    """
    Text, soft text and links have a contrast of 4.5 or more, in the page and in its charts.
    """
    context = browser.new_context(color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(f"{address}/usage?period=last+7+days")
    paper = luminance(colour(page, "html", "background-color"))
    for selector in ("h1", ".sure", "td a", "th", "svg.chart text"):
        ink = "fill" if "svg" in selector else "color"
        light, dark = sorted((paper, luminance(colour(page, selector, ink))), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, selector
    context.close()


def colour(page: Page, selector: str, name: str) -> list[float]:
    text = page.locator(selector).first.evaluate(f"e => getComputedStyle(e)['{name}']")
    return [float(part) for part in text[text.index("(") + 1 : -1].split(",")[:3]]


def luminance(rgb: list[float]) -> float:
    def linear(part: float) -> float:
        part /= 255
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

    red, green, blue = map(linear, rgb)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
