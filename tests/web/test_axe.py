"""Every page before an automated accessibility checker: contrast, labels, landmarks, keyboard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import Browser, Page

from leadline.store.memory import MemoryStore
from leadline.web import create_app
from tests.scripts import script
from tests.web.conftest import site_of, week

pytestmark = pytest.mark.browser
PARTS = {"job": "fox/100", "cluster": "fox", "host": "c1-1"}
MORE = (
    "/compare?job=fox/100&job=fox/101",
    "/search?words=gmx",
    "/usage?by=user",
    "/usage?by=weekday&and=hour_of_day&period=last+7+days",
    "/usage?by=program&picture=pie&where=cluster%3Dfox",
    "/usage?by=user&and=day&measure=memory_max&period=last+7+days",
    "/usage?where=user%3Dnobody",
    "/jobs?period=last+7+days",
    "/nowhere",
)
NO_PAGES = ("/static", "/api/", "/metrics", "/healthz", "/usage.", "/job.vega", "/logout")


def addresses() -> list[str]:
    """
    Each address that answers with a page.
    """
    rules = [rule.rule for rule in create_app(site_of(MemoryStore())).url_map.iter_rules()]
    found = [
        re.sub(r"<(?:\w+:)?(\w+)>", lambda part: PARTS[part[1]], rule)
        for rule in rules
        if not rule.startswith(NO_PAGES) and not rule.endswith("<form>")
    ]
    assert len(found) > 8
    return sorted({*found, *MORE})


BAD = ("serious", "critical")


@pytest.fixture(scope="module")
def app() -> Flask:
    store = MemoryStore()
    store.write(week(), "create")
    return create_app(replace(site_of(store)))


@pytest.fixture(scope="module", params=["light", "dark"])
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    library = script("axe-core/axe.min.js")
    context = browser.new_context(bypass_csp=True, color_scheme=request.param)
    context.add_init_script(path=library)
    yield context.new_page()
    context.close()


def findings(page: Page, address: str) -> list[str]:
    """
    What is bad on the page as it stands: the rule, and the first places.
    """
    page.goto(address)
    page.wait_for_selector("html[data-enriched=yes]")
    found: Any = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{one['id']} ({one['impact']}): {[node['html'][:150] for node in one['nodes'][:3]]}"
        for one in found["violations"]
        if one["impact"] in BAD
    ]


@pytest.mark.parametrize("path", addresses())
def test_no_serious_finding(page: Page, address: str, path: str) -> None:
    """
    The checker has nothing serious to say, on light paper and on dark.
    """
    assert findings(page, address + path) == []


def test_checker_finds_what_is_wrong(page: Page, address: str) -> None:
    """
    A field without a label and grey on grey are noticed: the checker looks.
    """
    page.goto(f"{address}/usage")
    page.evaluate(
        "document.querySelector('main').insertAdjacentHTML('beforeend',"
        " '<input><p id=pale>pale</p>');"
        "document.getElementById('pale').style.color = '#808080';"
        "document.getElementById('pale').style.background = '#8a8a8a'"
    )
    found: Any = page.evaluate("axe.run()")
    assert {"label", "color-contrast"} <= {one["id"] for one in found["violations"]}


def test_everything_is_reached_by_the_keyboard(page: Page, address: str) -> None:
    """
    Tab goes first to the link that skips the navigation, then to every link, field and button, and
    what has the focus is seen.
    """
    page.goto(f"{address}/usage?period=last+7+days")
    page.wait_for_selector("html[data-enriched=yes]")
    wanted = page.locator("a[href], button, input:not([type=hidden]), select, [tabindex='0']")
    count = wanted.count()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    reached = 1
    for _ in range(count + 10):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break
        reached += 1
        seen = "getComputedStyle(document.activeElement).outlineStyle"
        assert page.evaluate(seen) != "none"
    assert reached >= count
