"""French to the end: what goes wrong is told in French as well, and written as the French write."""

from __future__ import annotations

import html
import json
import re
from html import unescape
from urllib.parse import parse_qsl, urlsplit

import pytest
from flask.testing import FlaskClient
from playwright.sync_api import Browser, expect
from werkzeug.test import TestResponse

from leadline.errors import StoreError
from leadline.language import languages, spoken
from leadline.store.memory import MemoryStore
from leadline.web import create_app
from leadline.web.pages.usage import PERIODS
from leadline.web.settings import WebSettings
from leadline.web.spoken import spoken_period, written_period
from leadline.web.translations import translated
from tests.web.conftest import site_of
from tests.web.test_access import client_with

# Words of English that neither French nor a question is written with.
ENGLISH = re.compile(
    r"\b(the|is|are|was|not|write|of|and|with|must|do you|there|nothing|neither|no|by|for|from"
    r"|such as|ask|stands|shown|takes|too|many|sign|open|that|which|known|below)\b"
)
QUOTED = re.compile(r"`[^`]*`|'[^']*'|\"[^\"]*\"|« [^»]* »")
WRONG = (
    *("/nowhere", "/usage?measure=core_hour_used", "/usage?measure=zzzz", "/usage?by=progam"),
    *("/usage?by=zzzz", "/usage?period=sometime", "/usage?period=last+0+days"),
    *("/usage?period=2026-13", "/usage?period=2026-10-31..2026-10-01", "/usage?top=x"),
    *("/usage?top=0", "/usage?where=user", '/usage?where=user="a', "/usage?where=user=a,"),
    *("/usage?where==", "/usage?q=top", "/usage?q=core_hours_used+top+x"),
    *("/usage?q=core_hours_used+by+user+by+user", "/usage?q=core_hours_used+order"),
    *("/usage?q=core_hours_used+order+a+b", "/usage?q=core_hours_used+per+age"),
    *("/usage?q=core_hours_used+users", "/usage?q=core_hours_used+by+user,+user"),
    *("/usage?q=*", "/usage?by=day&and=month", "/usage?where=weekday=Someday"),
    *("/usage?measure=jobs&where=hour_of_day=4", "/usage?order=wait"),
    *("/usage?where=memory_class=x", "/usage?where=memory_class!=x"),
    *("/usage.svg?period=2020-01", "/jobs/fox/1", "/jobs/fox/100?run=x", "/nodes/fox/none"),
    *("/findings?kind=none", "/compare?" + "&".join(f"job=fox/{n}" for n in range(9))),
    *("/usage?" + "x" * 5000, "/login"),
)


@pytest.fixture(scope="module")
def french(store: MemoryStore) -> FlaskClient:
    return create_app(site_of(store)).test_client()


def told(answer: TestResponse) -> str:
    """
    What a reader reads of an error's page, without what is quoted and what is marked as English.
    """
    page = answer.get_data(as_text=True)
    within = re.search(r"<main.*?</main>", page, re.DOTALL)
    text = within[0] if within else page
    text = re.sub(r'<(\w+)[^>]* lang="en"[^>]*>.*?</\1>', "", text)
    text = re.sub(r"<code>.*?</code>", "…", text)
    text = html.unescape(re.sub(r"<[^>]+>", " ", text))
    return QUOTED.sub("…", text.replace("\u00a0", " "))


@pytest.mark.parametrize("address", WRONG)
def test_what_cannot_be_asked_is_told_in_french(french: FlaskClient, address: str) -> None:
    """
    No sentence of an error's page is English; the question's own words stay as they are written.
    """
    answer = french.get(address, headers={"Accept-Language": "fr"})
    assert answer.status_code >= 400, address
    text = told(answer)
    lists = re.sub(r"\b\w+(, \w+){3,}", "…", text)
    assert not ENGLISH.search(lists), text


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_refused_methods_are_told_in_french(french: FlaskClient, method: str) -> None:
    """
    Also what no page of ours ever sends.
    """
    for origin in ({}, {"Origin": "http://localhost"}):
        answer = getattr(french, method)("/usage", headers={"Accept-Language": "fr", **origin})
        assert answer.status_code in (403, 405)
        assert not ENGLISH.search(told(answer)), told(answer)


@pytest.mark.parametrize("public", [True, False])
def test_refused_readers_are_told_in_french(store: MemoryStore, public: bool) -> None:
    """
    Who may not see a page is told so in French.
    """
    client = client_with(store, WebSettings(access="proxy", public=public))
    for address in ("/jobs", "/usage?by=user", "/usage?where=user=alice", "/usage?by=day"):
        answer = client.get(address, headers={"Accept-Language": "fr"})
        assert answer.status_code in (401, 403), address
        assert not ENGLISH.search(told(answer)), told(answer)


class Away(MemoryStore):
    def ask(self, *_: object, **__: object) -> list[dict[str, object]]:  # type: ignore[override]
        raise StoreError("http://search-1:9200 does not answer: connection refused")


def test_a_store_that_is_away() -> None:
    """
    The engine's own words stand as a quotation, marked as English, and only for who sees all.
    """
    answer = create_app(site_of(Away())).test_client().get("/usage?lang=fr")
    page = answer.get_data(as_text=True)
    assert answer.status_code == 503
    assert '<p class="answer" lang="en">http://search-1:9200 does not answer' in page
    assert "L’entrepôt ne répond pas" in page
    assert not ENGLISH.search(told(answer)), told(answer)

    client = client_with(Away(), WebSettings(access="proxy"))
    other = client.get("/usage", headers={"X-Remote-User": "alice"})
    assert other.status_code == 503
    assert "search-1" not in other.get_data(as_text=True)


def test_what_scripts_add_is_french(address: str, browser: Browser) -> None:
    """
    A filter that completes itself names its choices as the form does.
    """
    page = browser.new_page(locale="fr-FR")
    page.goto(f"{address}/usage?by=user")
    page.locator("html[data-enriched]").wait_for()
    page.locator("input[name=where]").press_sequentially("prog")
    choices = page.get_by_role("listbox")
    expect(choices.get_by_role("option").first).to_contain_text("program  programme")
    expect(choices).to_have_attribute("aria-label", "où")
    page.locator("svg.chart").first.hover()
    expect(page.locator(".tip strong").first).to_contain_text("nov. 2026")
    assert not ENGLISH.search(page.locator(".tip").first.inner_text())
    page.goto(f"{address}/usage?by=program&top=2&picture=bars")
    page.locator("html[data-enriched]").wait_for()
    page.locator("path[aria-roledescription=bar]").first.hover()
    expect(page.locator(".tip div").first).to_contain_text("heures cœur utilisées\u00a0: ")
    page.close()


def test_french_is_set_as_the_french_set_it() -> None:
    """
    No line breaks before a colon, a semicolon or a mark, nor within guillemets, nor before a unit.
    """
    plain = re.compile(r" [:;!?»](?!\w)|« |[\d}] (?:%|Gio|h\b|s\b)|(?<!\w)\d+\.\d|'")
    for text, forms in translated("fr").items():
        for form in [forms] if isinstance(forms, str) else forms:
            prose = re.sub(r"`[^`]*`|\"[^\"]*\"|http:\S+|[\w.]+/[\w./]+", "", form)
            found = plain.search(prose)
            assert not found, f"{text}: {form!r} at {found and found.start()}"


@pytest.mark.parametrize(
    ("chosen", "asked"),
    [
        ("ce mois", "this month"),
        ("7 derniers jours", "last 7 days"),
        ("Aujourd’hui", "today"),
        ("everything kept", "all"),
    ],
)
def test_period_is_chosen_in_french_and_asked_as_it_is_written(
    client: FlaskClient, chosen: str, asked: str
) -> None:
    """
    Fields offer and hold the reader's words; the address of what they ask is the same in all
    languages.
    """
    answer = client.get("/usage", query_string={"by": "user", "period": chosen, "lang": "fr"})
    assert answer.status_code == 302
    assert dict(parse_qsl(urlsplit(answer.headers["Location"]).query)) == {
        "by": "user",
        "period": asked,
        "lang": "fr",
    }
    page = client.get(answer.headers["Location"]).get_data(as_text=True)
    words = unescape(re.search(r'name="period"[^>]* value="([^"]*)"', page)[1])  # type: ignore[index]
    with spoken("fr"):
        assert words == spoken_period(asked)
    assert '<option value="7 derniers jours">' in page
    assert "last 7 days</option>" not in page


def test_every_period_offered_is_understood_again() -> None:
    """
    In each language the words of a period lead back to it, and what questions write stays.
    """
    for text in (*PERIODS, "last 3 quarters", "last 1 month", "2026-10", "last hour"):
        assert written_period(text) == text
        for code in languages():
            with spoken(code):
                told = spoken_period(text)
            assert written_period(told) in (text, text.replace("last ", "last 1 "))


def test_unmatched_has_one_colour(client: FlaskClient) -> None:
    """
    What has no name is drawn in the same colours whatever it is called.
    """
    hues = []
    for code, name in (("en", "unmatched"), ("fr", "sans règle")):
        page = client.get(f"/usage?period=last+7+days&lang={code}").get_data(as_text=True)
        known = json.loads(unescape(re.search(r"data-series='([^']*)'", page)[1]))  # type: ignore[index]
        hues.append({row[0]: row[1] for row in known["rows"]}[name])
        row = re.search(rf'<tr class="none">.*?{name}.*?class="(c\d+)"', page, re.DOTALL)
        hues.append(row[1] if row else "")
    assert hues[:2] == hues[2:]
    assert hues[1]


def test_states_are_told_in_french(client: FlaskClient) -> None:
    """
    The list of jobs says how they ended in the reader's words, filters keep the scheduler's, and
    what completes them has both.
    """
    page = client.get("/jobs?period=last+7+days&lang=fr").get_data(as_text=True)
    assert '<td class="trouble">échouée</td>' in page
    assert "<td>terminée</td>" in page
    assert "&#34;FAILED&#34;" in page
