"""The Vega panels: generated as committed, their searches run, their pictures not blank."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
import vl_convert
from playwright.sync_api import Page, sync_playwright

from kibana import request
from kibana.build import objects
from kibana.check import problems
from kibana.live import Engine, check
from kibana.vega import PANELS, files
from leadline.store.opensearch import OpenSearchStore
from tests.kibana.conftest import NOW, PREFIX
from tests.kibana.test_objects import Objects, pick, state
from tests.needs import chromium
from tests.scripts import script

COUNT = """async (spec) => {
    const view = new vega.View(vega.parse(spec), {renderer: 'canvas', container: '#at'});
    await view.runAsync();
    const canvas = await view.toCanvas();
    const all = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    let inked = 0;
    for (let i = 0; i < all.length; i += 4)
        if (all[i + 3] && all[i] + all[i + 1] + all[i + 2] < 750) inked++;
    return inked;
}"""
# Marks of the panels: the hours of a day, people, projects, hours of loose processes.
LEAST = {"week": 24, "asked-used-points": 8, "granted": 3, "granted-gpu": 1, "hogs": 4}
LEAST |= {"efficiency": 2, "datasets": 6}
MONTH = request.Range(NOW - timedelta(days=30), NOW)


def test_panels_are_what_their_definitions_compile_to() -> None:
    """
    `python -m kibana.vega` would change nothing.
    """
    assert files() == {path: path.read_text(encoding="utf-8") for path in files()}


def with_rows(store: OpenSearchStore, name: str) -> dict[str, Any]:
    """
    The panel's specification with what its search finds, as the product puts it there.
    """
    spec = copy.deepcopy(state(objects(), name)["params"]["spec"])
    for one in spec["data"]:
        if isinstance(url := one.pop("url", None), dict):
            index = url["index"].replace("leadline", PREFIX)
            asked = request.of_vega(url, [], MONTH)
            found: Any = store.client.post(f"/{index}/_search", asked)
            for part in one.pop("format")["property"].split("."):
                found = found[part]
            assert found
            one["values"] = found
    assert isinstance(spec, dict)
    return spec


@pytest.mark.parametrize("name", PANELS)
def test_picture_is_not_blank(filled: OpenSearchStore, name: str) -> None:
    """
    Each row that the search finds is drawn; without them only axes are left.
    """
    spec = with_rows(filled, name)
    assert shapes(spec) >= shapes(without_rows(spec)) + LEAST[name]


def without_rows(spec: dict[str, Any]) -> dict[str, Any]:
    bare = copy.deepcopy(spec)
    for one in bare["data"]:
        if "values" in one:
            one["values"] = []
    return bare


def shapes(spec: dict[str, Any]) -> int:
    drawing: str = vl_convert.vega_to_svg(spec)
    return drawing.count("<path")


@pytest.fixture(scope="module")
def vega5() -> Iterator[Page]:
    """
    A page with the Vega that the products run.
    """
    library = script("vega/build/vega.min.js")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page()
        page.set_content("<div id=at></div>")
        page.add_script_tag(path=library)
        assert page.evaluate("vega.version").startswith("5.")
        yield page
        browser.close()


@pytest.mark.browser
@pytest.mark.parametrize("name", PANELS)
def test_picture_of_vega5_is_not_blank(filled: OpenSearchStore, vega5: Page, name: str) -> None:
    """
    The products' own Vega puts a thousand pixels more on the canvas with rows than without.
    """
    spec = with_rows(filled, name)
    assert vega5.evaluate(COUNT, spec) >= vega5.evaluate(COUNT, without_rows(spec)) + 1000


def set_url(found: Objects, **change: object) -> None:
    data = state(found, "week")["params"]["spec"]["data"]
    next(one for one in data if "url" in one)["url"].update(change)


def body(field: str) -> dict[str, object]:
    return {"size": 0, "aggs": {"day": {"terms": {"field": field}}}}


MUTANTS: dict[str, Callable[[Objects], object]] = {
    "an index that is not ours": lambda o: set_url(o, index="metrics-*"),
    "a field that is not there": lambda o: set_url(o, body=body("weekday")),
    "no filters of the dashboard": lambda o: set_url(o, **{"%context%": False}),
    "a query of its own": lambda o: set_url(o, body={**body("local.hour"), "query": {}}),
    "Vega-Lite": lambda o: state(o, "week")["params"]["spec"].update(
        {"$schema": "https://vega.github.io/schema/vega-lite/v5.json"}
    ),
    "no search": lambda o: state(o, "week")["params"]["spec"].update(data=[]),
}


@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=MUTANTS)
def test_mutant_is_caught(mutant: Callable[[Objects], object]) -> None:
    """
    Each way to break a Vega panel is noticed on the file.
    """
    changed = copy.deepcopy(objects())
    mutant(changed)
    assert problems(changed)


def test_search_of_another_field_is_empty(engine: Engine) -> None:
    """
    A Vega panel whose search finds nothing to add up is told as empty, like any other.
    """
    changed = copy.deepcopy(objects())
    aggs = {
        "day": {"terms": {"field": "partition"}, "aggs": {"x": {"sum": {"field": "gpu_seconds"}}}}
    }
    aggs["day"]["terms"]["include"] = "nowhere"  # type: ignore[index]
    set_url(changed, body={"size": 0, "aggs": aggs})
    told = check(changed, engine, NOW, PREFIX).empty
    assert ["dashboard/leadline-nodes: leadline-week: aggregation day has no value"] == told
    assert pick(changed, "visualization", "week")
