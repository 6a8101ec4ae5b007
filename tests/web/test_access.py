"""Who sees what: by token, by the site's sign-on, and never by a forged header."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from leadline.errors import SettingsError
from leadline.store.memory import MemoryStore
from leadline.web import create_app
from leadline.web.settings import WebSettings
from tests.web.conftest import site_of
from tests.web.test_pages import PAGES

TOKEN = "a-token-of-some-length"
NAMES = ("alice", "bjorn", "dag", "run 101")
EVERYWHERE = (
    *PAGES,
    "/api/v1/usage?by=user",
    "/usage.svg?by=user",
    "/jobs?period=last+7+days",
    "/api/v1/jobs?period=last+7+days",
    "/api/v1/search?words=mdrun",
    "/metrics",
)


def client_with(store: MemoryStore, settings: WebSettings) -> FlaskClient:
    return create_app(replace(site_of(store), settings=settings)).test_client()


@pytest.fixture
def guarded(store: MemoryStore, tmp_path: Path) -> FlaskClient:
    file = tmp_path / "token"
    file.write_text(TOKEN + "\n")
    return client_with(store, WebSettings(access="token", token_file=file))


@pytest.fixture
def behind(store: MemoryStore) -> FlaskClient:
    return client_with(
        store, WebSettings(access="proxy", admins=("root",), leaders=("boss:chem-1",))
    )


@pytest.mark.parametrize("address", EVERYWHERE)
def test_without_the_token_nothing_is_told(guarded: FlaskClient, address: str) -> None:
    """
    Every page and API call is refused, and the refusal names nobody.
    """
    answer = guarded.get(address, headers={"X-Remote-User": "root"})
    assert answer.status_code == 401
    assert not [name for name in NAMES if name in answer.get_data(as_text=True)]


def test_token_opens_once_and_leaves_the_address(guarded: FlaskClient) -> None:
    """
    The printed address sets a cookie and shows the same page without the token in its address.
    """
    first = guarded.get(f"/usage?by=user&token={TOKEN}")
    assert first.status_code == 303
    assert first.headers["Location"] == "/usage?by=user"
    cookie = first.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert TOKEN not in cookie
    assert guarded.get("/usage?by=user").status_code == 200


def test_programs_show_the_token_in_a_header(guarded: FlaskClient) -> None:
    """
    The API takes the token as a bearer; a wrong one is refused.
    """
    good = {"Authorization": f"Bearer {TOKEN}"}
    assert guarded.get("/api/v1/usage", headers=good).status_code == 200
    bad = {"Authorization": f"Bearer {TOKEN}x"}
    assert guarded.get("/api/v1/usage", headers=bad).status_code == 401


def test_health_needs_no_token(guarded: FlaskClient) -> None:
    """
    Whoever watches the service needs no secret.
    """
    assert guarded.get("/healthz").status_code == 200


@pytest.mark.parametrize("address", EVERYWHERE)
def test_a_forged_header_from_elsewhere_is_refused(behind: FlaskClient, address: str) -> None:
    """
    Only the trusted proxy may name the user, whatever forwarding headers say.
    """
    forged = {"X-Remote-User": "root", "X-Forwarded-For": "127.0.0.1"}
    answer = behind.get(address, headers=forged, environ_base={"REMOTE_ADDR": "10.0.0.9"})
    assert answer.status_code == 403
    assert not [name for name in NAMES if name in answer.get_data(as_text=True)]


@pytest.mark.parametrize("address", EVERYWHERE)
def test_a_user_sees_only_her_own(behind: FlaskClient, address: str) -> None:
    """
    Names of other users stand on no page and in no API answer.
    """
    answer = behind.get(address, headers={"X-Remote-User": "alice"})
    told = answer.get_data(as_text=True)
    if address != "/jobs/fox/100":
        assert answer.status_code == 200, told
    assert not [name for name in ("bjorn", ">dag<", '"dag"') if name in told]


def test_a_user_sees_her_own_job_and_no_other(behind: FlaskClient) -> None:
    """
    Another user's job is as unknown as one that never was.
    """
    mine = {"X-Remote-User": "alice"}
    assert behind.get("/jobs/fox/100", headers=mine).status_code == 200
    theirs = behind.get("/jobs/fox/101", headers=mine)
    assert theirs.status_code == 400
    assert "neither sampled nor accounted" in theirs.get_data(as_text=True)


def test_answers_are_not_shared_between_users(behind: FlaskClient) -> None:
    """
    What an admin was just told is not told to the next user who asks the same.
    """
    whole = behind.get("/api/v1/usage?by=user", headers={"X-Remote-User": "root"}).get_json()
    own = behind.get("/api/v1/usage?by=user", headers={"X-Remote-User": "alice"}).get_json()
    assert len(whole["rows"]) > 1
    assert [row["user"] for row in own["rows"]] == ["alice"]


@pytest.mark.parametrize("name", ["", "a b", "x" * 80, "eve\u00e9"])
def test_nameless_users_are_refused(behind: FlaskClient, name: str) -> None:
    """
    A sign-on that gives no proper name lets nobody in.
    """
    answer = behind.get("/", headers={"X-Remote-User": name})
    assert answer.status_code == 401


def test_token_access_wants_a_token(store: MemoryStore, tmp_path: Path) -> None:
    """
    Without a readable token of some length the pages are not served at all.
    """
    short = tmp_path / "short"
    short.write_text("abc")
    for file in (None, tmp_path / "absent", short):
        with pytest.raises(SettingsError):
            client_with(store, WebSettings(access="token", token_file=file))
