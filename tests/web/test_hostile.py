"""
Every page in a real Chromium, empty, tiny, huge and with hostile names, narrow and wide, with and
without JavaScript, in two languages: pairwise, each load looked at and kept as a picture.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import combinations, product
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext
from werkzeug.serving import make_server

from leadline.store.memory import MemoryStore
from leadline.web import create_app
from tests.web.conftest import NOW, complaints_of, job, node, process, site_of, week
from tests.web.crowd import huge

pytestmark = pytest.mark.browser

PICTURES = Path(__file__).parents[2] / "build" / "screenshots"
MOST_LOADS = 80
MOST_BYTES = 100_000  # of a page's HTML
PAGES = (
    "/",
    "/usage?period=last+7+days&compare=1",
    "/usage?by=user&and=program&measure=memory_max&period=last+7+days",
    "/usage?by=user&and=day&period=last+7+days",
    "/usage?by=hour_of_day&and=weekday&period=last+7+days",
    "/jobs?period=last+7+days",
    "/jobs/fox/100",
    "/compare?job=fox/100&job=fox/101",
    "/users",
    "/projects",
    "/nodes",
    "/nodes/fox/c1-0",
    "/findings?period=last+7+days",
    "/allocations",
    "/search?words=gmx&period=last+7+days",
    "/data",
)
SCRIPTS = (
    "<script>document.title='cracked'</script>",
    '"><img src=x onerror="document.title=\'cracked\'">',
    "' onmouseover='document.title=1' x='",
    "</title></svg></table></option></select><h1>cracked</h1>",
    "{{ 7 * 7 }} {% raw %} ${7*7} %(x)s {x} &lt;b&gt; &amp;",
    "javascript:document.title='cracked'",
    "\u202egnirts\u202c \u0000\u0007\u001b[31m\n\r\ttwo",
    "x" * 300,
    "\U0001f4a5\u0301\u200b" * 20,
    "=cmd|' /C calc'!A0",
    "-1+1",
    'a b,c|d=e!f*"g\\h;?#%2F/../',
)


def hostile() -> list[dict[str, object]]:
    """
    The week again, whatever has a name called something wicked.
    """
    names = ("user.name", "program.name", "job.name", "project", "process.name")
    names += ("process.command_line", "partition", "user.group", "job.state", "gpu.model")
    documents = []
    for number, document in enumerate(week()[:700] + week()[-400:]):
        changed = dict(document)
        for place, name in enumerate(names):
            if name in document or document["dataset"] == "job":
                changed[name] = SCRIPTS[(number + place) % len(SCRIPTS)]
        changed["host.name"] = document.get("host.name", "c1-0")
        documents.append(changed)
    odd = node(NOW - timedelta(minutes=5), SCRIPTS[0])
    return [*documents, odd, process(NOW - timedelta(minutes=5), 3, **{"host.name": SCRIPTS[1]})]


def tiny() -> list[dict[str, object]]:
    moment = NOW - timedelta(minutes=5)
    return [process(moment, 0), node(moment, "c1-0"), job(moment, 100), job(moment, 101)]


STORES = {"empty": list, "tiny": tiny, "huge": huge, "hostile": hostile}


@dataclass(frozen=True)
class Load:
    page: str
    store: str
    width: int
    script: bool
    language: str

    @property
    def name(self) -> str:
        page = "".join(c if c.isalnum() else "-" for c in self.page.split("?period")[0])
        script = "script" if self.script else "plain"
        return f"{page.strip('-') or 'overview'}_{self.store}_{self.width}_{script}_{self.language}"


def pairwise() -> list[Load]:
    """
    Few loads in which every two choices meet: those that bring most new pairs first.
    """
    factors: tuple[tuple[object, ...], ...] = (
        PAGES,
        tuple(STORES),
        (320, 1280),
        (False, True),
        ("en", "fr"),
    )
    every = list(product(*factors))

    def pairs(load: tuple[object, ...]) -> set[tuple[object, ...]]:
        return {(a, b, load[a], load[b]) for a, b in combinations(range(len(factors)), 2)}

    wanted = set().union(*(pairs(load) for load in every))
    chosen = []
    while wanted:
        best = max(every, key=lambda load: len(pairs(load) & wanted))
        wanted -= pairs(best)
        chosen.append(Load(*best))  # type: ignore[arg-type]
    return chosen


LOADS = pairwise()


@pytest.fixture(scope="module")
def sites() -> Iterator[dict[str, str]]:
    """
    A server for each store.
    """
    running, addresses = [], {}
    for name, documents in STORES.items():
        store = MemoryStore()
        outcome = store.write(documents(), "create")
        assert not outcome.rejected, outcome.rejected[0][1]
        server = make_server("127.0.0.1", 0, create_app(site_of(store)), threaded=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        running.append((server, thread))
        addresses[name] = f"http://127.0.0.1:{server.server_port}"
    yield addresses
    for server, thread in running:
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def contexts(browser: Browser) -> Iterator[dict[tuple[int, bool, str], BrowserContext]]:
    found = {
        (width, script, language): browser.new_context(
            viewport={"width": width, "height": 800}, java_script_enabled=script, locale=language
        )
        for width, script, language in product((320, 1280), (False, True), ("en", "fr"))
    }
    for context in found.values():
        context.set_default_timeout(30_000)
    yield found
    for context in found.values():
        context.close()


def test_few_loads_meet_every_pair() -> None:
    """
    Every page is loaded from every store, and not more loads are made than that needs.
    """
    assert len(LOADS) <= MOST_LOADS
    assert {(load.page, load.store) for load in LOADS} == set(product(PAGES, STORES))


@pytest.mark.parametrize("load", LOADS, ids=lambda load: load.name)
def test_page_stands_whatever_there_is(
    sites: dict[str, str],
    contexts: dict[tuple[int, bool, str], BrowserContext],
    load: Load,
) -> None:
    """
    It answers in its language, complains about nothing, runs nothing that is not ours, says
    something, is no wider than the screen and not heavier than it should be.
    """
    page = contexts[load.width, load.script, load.language].new_page()
    complaints = complaints_of(page)
    page.on("request", lambda asked: complaints.extend(_elsewhere(asked.url, sites[load.store])))
    answer = page.goto(sites[load.store] + load.page)
    assert answer is not None
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / f"{load.name}.png", full_page=load.store != "huge")
    unknown = load.store == "empty" and ("fox/" in load.page)
    assert answer.status == (404 if unknown else 200), page.inner_text("main")
    assert [text for text in complaints if not (unknown and "404" in text)] == []
    assert page.locator("html").get_attribute("lang") == load.language
    assert page.locator("h1").count() == 1
    assert len(page.inner_text("main")) > 40
    assert "cracked" not in page.title().split(" · ")[-1]
    assert page.locator("[onerror], [onmouseover], [style*='url']").count() == 0
    assert page.locator("a[href^='javascript:']").count() == 0
    assert page.locator("script:not([src])").count() == 0
    assert len(answer.body()) < MOST_BYTES
    if load.script:
        assert page.evaluate("document.documentElement.scrollWidth") <= load.width
    page.close()


def _elsewhere(url: str, site: str) -> list[str]:
    return [] if url.startswith((site, "data:")) else [f"asked elsewhere: {url[:80]}"]
