"""
One of everything is said in the singular on pages, too, in each language.
"""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape

import pytest
from flask.testing import FlaskClient

from leadline.store.memory import MemoryStore
from leadline.web import create_app
from tests.commands.test_one import NOW, SEVERAL, world
from tests.web.conftest import node, process, site_of

PAGES = (
    "",
    "usage?by=user&period=all",
    "usage?measure=jobs&by=user&period=all",
    "jobs?period=last+7+days",
    "jobs/fox/1",
    "findings?period=last+24+hours",
    "search?words=work",
    "nodes",
    "nodes/fox/c1",
    "data",
)
# What French says of one, in the plural: no month and no time ends so by itself.
PLUSIEURS = re.compile(r"(?<![\w.,/:-])1 (?!mois|fois|plus|dans|pas|sous|sans)[a-zé]+s\b")


@pytest.fixture(scope="module")
def client() -> FlaskClient:
    store = MemoryStore()
    assert not store.write(world(), "create").rejected
    return create_app(site_of(store, NOW)).test_client()


@pytest.mark.parametrize("address", PAGES)
@pytest.mark.parametrize(("language", "plural"), [("en", SEVERAL), ("fr", PLUSIEURS)])
def test_pages_say_one_in_the_singular(
    client: FlaskClient, address: str, language: str, plural: re.Pattern[str]
) -> None:
    """
    Whatever counts: samples, nodes, jobs, findings, command lines.
    """
    mark = "&" if "?" in address else "?"
    page = client.get(f"/{address}{mark}lang={language}")
    assert page.status_code == 200
    bare = re.sub(r"(?s)<(svg|script|style|option|select)\b.*?</\1>|<t[dh]\b", "\n", page.text)
    told = re.sub(r"[\u00a0\u202f]", " ", unescape(re.sub(r"<[^>]+>", "", bare)))
    assert not plural.findall(told), told


def test_cores_and_cards_asked_for_are_whole(client: FlaskClient) -> None:
    """
    1 card asked for and 0 used, not 1.0 and 0.0; how busy they were has its decimals.
    """
    page = client.get("/jobs/fox/1?lang=en").text
    row = r"{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>"
    assert re.search(row.format("GPUs", "1", "0", r"0(\.0)?"), page)
    assert re.search(row.format("CPU cores", "1", r"1\.0", r"1\.0"), page)


def test_one_sample_is_said_as_one() -> None:
    """
    A store of a single sample: one document, of a cluster that has a name though no node told it.
    """
    store = MemoryStore()
    store.write([process(NOW, 0)], "create")
    client = create_app(site_of(store, NOW + timedelta(minutes=5))).test_client()
    assert "1 document in" in client.get("/data").text
    assert "<h1>What runs on fox</h1>" in client.get("/").text
    store.write([node(NOW, "c1-0")], "create")
    later = create_app(site_of(store, NOW + timedelta(minutes=5))).test_client()
    assert "<dd>1 <small>actif</small>" in later.get("/?lang=fr").text
