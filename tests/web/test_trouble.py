"""What breaks in leadline itself: told in one line, guarded as any page, nothing of its inside."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask

from leadline.errors import StoreError
from leadline.store.contract import Health
from leadline.store.memory import MemoryStore
from leadline.web import create_app
from leadline.web.headers import HEADERS
from tests.web.conftest import site_of


class Broken(MemoryStore):
    def ask(self, *_: object, **__: object) -> list[dict[str, object]]:  # type: ignore[override]
        raise ZeroDivisionError("the secret is hunter2")


@pytest.fixture
def broken() -> Flask:
    return create_app(site_of(Broken()))


@pytest.mark.parametrize("address", ["/usage", "/api/v1/usage", "/metrics", "/usage.svg"])
def test_what_breaks_says_nothing_of_its_inside(broken: Flask, address: str) -> None:
    """
    500, with every security header; the traceback is in the log, not on the page.
    """
    answer = broken.test_client().get(address)
    assert answer.status_code == 500
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    told = answer.get_data(as_text=True)
    assert "hunter2" not in told
    assert "ZeroDivisionError" not in told
    assert "leadline serve" in told


@pytest.mark.parametrize("address", ["/", "/data", "/jobs", "/usage", "/nodes", "/findings"])
def test_a_store_that_is_away_is_no_empty_one(address: str) -> None:
    """
    Pages say that the store does not answer, never that nothing has been measured.
    """

    class Away(MemoryStore):
        def health(self) -> Health:
            return Health("opensearch", False, ("connection refused",), {})

        def ask(self, *_: object, **__: object) -> list[dict[str, object]]:  # type: ignore[override]
            raise StoreError("connection refused")

        def scan(self, *_: object, **__: object) -> Iterator[list[dict[str, object]]]:  # type: ignore[override]
            raise StoreError("connection refused")

    answer = create_app(site_of(Away())).test_client().get(address)
    assert answer.status_code == 503
    assert "connection refused" in answer.get_data(as_text=True)


def test_what_cannot_be_asked_can_be_changed_in_place() -> None:
    """
    A form with what was asked stands below the refusal: a slip in one field costs no other.
    """
    client = create_app(site_of(MemoryStore())).test_client()
    page = client.get("/usage?by=user&where=user&period=yesterday").text
    for name, value in (("by", "user"), ("where", "user"), ("period", "yesterday")):
        assert f'name="{name}" value="{value}"' in page
    assert "<form" not in client.get("/jobs/fox/none").text
