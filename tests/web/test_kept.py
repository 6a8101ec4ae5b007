"""Pages that were drawn already are shown while newer ones are drawn behind them."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from datetime import datetime, timedelta

from flask.testing import FlaskClient

from leadline.web import create_app
from leadline.web.settings import WebSettings
from tests.counting import CountingStore
from tests.web.conftest import NOW, site_of, week

USERS = "/usage?by=user&period=last+1+hour"
SIGNED_IN = WebSettings(access="proxy", admins=("root",))


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


def pages(settings: WebSettings | None = None) -> tuple[CountingStore, Clock, FlaskClient]:
    store, clock = CountingStore(), Clock()
    store.write(week(), "create")
    site = replace(site_of(store), clock=clock, settings=settings or WebSettings())
    return store, clock, create_app(site).test_client()


def as_of(page: str) -> str:
    found = re.search(r"as of (\d\d:\d\d:\d\d)", page)
    assert found is not None
    return found[1]


def until_new(client: FlaskClient, old: str) -> str:
    for _ in range(500):
        if (page := client.get(USERS).text) != old:
            return page
        time.sleep(0.01)
    raise AssertionError("no newer page was drawn behind the old one")


def test_nobody_waits_for_a_page_of_a_moment_ago() -> None:
    """
    While the store is slow the old page is shown and says as of when it is; then the new one.
    """
    store, clock, client = pages()
    first = client.get(USERS).text
    assert "12:00:30" == as_of(first)
    clock.now += timedelta(seconds=20)
    store.gate.clear()
    try:
        assert first == client.get(USERS).text
    finally:
        store.gate.set()
    assert "12:00:50" == as_of(until_new(client, first))


def test_an_old_page_is_not_shown() -> None:
    """
    After half a minute the page is drawn before it is shown.
    """
    _, clock, client = pages()
    client.get(USERS)
    clock.now += timedelta(seconds=31)
    assert "12:01:00" == as_of(client.get(USERS).text)


def test_a_page_is_kept_for_who_asked_it() -> None:
    """
    Another reader, another language, another address: another page.
    """
    _, _, client = pages(SIGNED_IN)
    admin = client.get(USERS, headers={"X-Remote-User": "root"}).text
    own = client.get(USERS, headers={"X-Remote-User": "alice"}).text
    assert "bjorn" in admin
    assert "bjorn" not in own
    french = {"X-Remote-User": "root", "Accept-Language": "fr"}
    assert "heures de" in client.get(USERS, headers=french).text
    elsewhere = {"X-Remote-User": "root", "Host": "other.example"}
    assert "other.example" in client.get(USERS, headers=elsewhere).text


def test_a_page_behind_is_drawn_for_the_same_reader() -> None:
    """
    What is drawn behind a reader's page shows that reader's own rows, in the same language.
    """
    _, clock, client = pages(SIGNED_IN)
    alice = {"X-Remote-User": "alice", "Accept-Language": "fr"}
    old = client.get(USERS, headers=alice).text
    clock.now += timedelta(seconds=20)
    for _ in range(500):
        if (page := client.get(USERS, headers=alice).text) != old:
            break
        time.sleep(0.01)
    assert "état à 12:00:50" in page
    assert "alice" in page
    assert "bjorn" not in page


def test_trouble_is_not_kept() -> None:
    """
    A question that cannot be asked is refused each time anew.
    """
    store, _, client = pages()
    assert 400 == client.get("/usage?by=nothing").status_code
    store.forget_questions()
    assert 400 == client.get("/usage?by=nothing").status_code
    assert 200 == client.get(USERS).status_code
