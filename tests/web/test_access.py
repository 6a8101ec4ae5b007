"""Who sees what: every page and API call as each role, by each way in, and with forged headers."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from leadline.errors import SettingsError
from leadline.store.contract import Health
from leadline.store.memory import MemoryStore
from leadline.web import create_app
from leadline.web.access import FOR_ALL, FREE
from leadline.web.seals import ticket
from leadline.web.settings import WebSettings
from tests.web.conftest import NOW, node, site_of

EXAMPLE = re.compile(r'placeholder="[^"]*"|"example":\s*"[^"]*"|write `where [^`]*`')
SECRET = "a-secret-of-some-length"
# What each address needs to be asked for something.
PARTS = {"job": "fox/100", "cluster": "fox", "host": "c1-0", "form": "csv"}
ASKED = {
    "usage": ("", "by=user", "by=program&and=user", "by=job", "measure=users&by=group"),
    "usage_svg": ("by=user&period=last+7+days",),
    "usage_png": ("by=user&period=last+7+days",),
    "jobs": ("period=last+7+days", "period=now"),
    "search": ("", "words=mdrun&period=last+7+days"),
    "compare": ("job=fox/100",),
    "findings": ("period=last+7+days",),
    "node": ("period=last+7+days",),
    "api_usage": ("by=user", "by=user&format=csv", "by=program&and=user"),
    "api_search": ("words=mdrun",),
    "api_jobs": ("period=last+7+days",),
    "api_findings": ("period=last+7+days",),
    "api_values": ("dimension=user", "by=user", "name=user"),
}


def every_address(app: Flask) -> list[tuple[str, str]]:
    """
    Each page and API call, as there are: a new one is tried without anybody thinking of it.
    """
    found = []
    with app.test_request_context():
        for rule in app.url_map.iter_rules():
            if rule.endpoint == "static" or "GET" not in (rule.methods or ()):
                continue
            parts = {name: PARTS[name] for name in rule.arguments}
            address = app.url_for(rule.endpoint, **parts)
            for query in ASKED.get(rule.endpoint, ("",)):
                found.append((rule.endpoint, f"{address}?{query}" if query else address))
    return found


def app_with(store: MemoryStore, settings: WebSettings, now: datetime = NOW) -> Flask:
    return create_app(replace(site_of(store, now), settings=settings))


def client_with(store: MemoryStore, settings: WebSettings) -> FlaskClient:
    return app_with(store, settings).test_client()


ADDRESSES = every_address(app_with(MemoryStore(), WebSettings()))
GUARDED = [(endpoint, address) for endpoint, address in ADDRESSES if endpoint not in FREE]


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    file = tmp_path / "token"
    file.write_text(SECRET + "\n")
    return file


@pytest.fixture
def guarded(store: MemoryStore, secret: Path) -> FlaskClient:
    return client_with(store, WebSettings(access="token", token_file=secret))


@pytest.fixture(scope="module")
def behind(store: MemoryStore) -> FlaskClient:
    settings = WebSettings(access="proxy", admins=("root",), leaders=("boss:chem-1",), public=True)
    return client_with(store, settings)


def as_user(name: str) -> dict[str, str]:
    return {"X-Remote-User": name}


def told(answer: TestResponse) -> str:
    return answer.data.decode(errors="replace")


def named(text: str) -> set[str]:
    """
    Users whose name stands in TEXT, and no word that only holds it.
    """
    plain = EXAMPLE.sub("", text).replace("&#39;", "'").replace("&quot;", '"')
    return {name for name in ("alice", "bjorn", "alert(", "dag") if _stands(name, plain)}


def _stands(name: str, text: str) -> bool:
    return any(f"{a}{name}{b}" in text for a in '> ",=(' for b in "< \",)&'")


def test_there_are_many_addresses() -> None:
    """
    Pages and API calls are found by themselves.
    """
    endpoints = {endpoint for endpoint, _address in ADDRESSES}
    assert {"node", "findings", "allocations", "compare", "api_now", "metrics"} <= endpoints
    assert len(ADDRESSES) > 40


@pytest.mark.parametrize(("endpoint", "address"), GUARDED)
def test_without_the_token_nothing_is_told(
    guarded: FlaskClient, endpoint: str, address: str
) -> None:
    """
    Every page and API call is refused, and the refusal names nobody.
    """
    answer = guarded.get(address, headers=as_user("root"))
    assert answer.status_code == 401, endpoint
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert not named(told(answer))


def test_a_ticket_opens_once_and_leaves_the_address(guarded: FlaskClient, secret: Path) -> None:
    """
    The printed address sets a cookie and shows the same page without the ticket; a second browser
    is refused with it, after another start of the server as well.
    """
    shown = ticket(SECRET, NOW)
    first = guarded.get(f"/usage?by=user&token={shown}")
    assert first.status_code == 303
    assert first.headers["Location"] == "/usage?by=user"
    cookie = first.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert SECRET not in cookie
    assert guarded.get("/usage?by=user").status_code == 200

    settings = WebSettings(access="token", token_file=secret)
    again = client_with(MemoryStore(), settings)
    assert again.get(f"/?token={shown}").status_code == 401
    assert (secret.parent / "token.spent").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("wrong", ["", SECRET, "x.1.y", "é", "later", "other"])
def test_what_is_no_ticket_opens_nothing(guarded: FlaskClient, wrong: str) -> None:
    """
    Not the secret itself, not one that has ended, not one of another secret.
    """
    shown = {
        "later": ticket(SECRET, NOW - timedelta(hours=25)),
        "other": ticket("another-secret-altogether", NOW),
    }.get(wrong, wrong)
    assert guarded.get("/", query_string={"token": shown}).status_code == 401


@pytest.mark.parametrize("cookie", ["", "x", ".1.", "alice.99999999999.0"])
def test_a_forged_cookie_opens_nothing(guarded: FlaskClient, cookie: str) -> None:
    """
    A cookie we did not seal is none; neither is a ticket put into one.
    """
    guarded.set_cookie("leadline_seen", cookie or ticket(SECRET, NOW))
    assert guarded.get("/").status_code == 401


def test_programs_show_the_secret_in_a_header(guarded: FlaskClient) -> None:
    """
    The API takes the secret as a bearer; a wrong one is refused.
    """
    good = {"Authorization": f"Bearer {SECRET}"}
    assert guarded.get("/api/v1/usage", headers=good).status_code == 200
    for wrong in (f"Bearer {SECRET}x", "Bearer ", "", "Basic x"):
        refused = guarded.get("/api/v1/usage", headers={"Authorization": wrong})
        assert refused.status_code == 401


def test_health_needs_no_token(guarded: FlaskClient) -> None:
    """
    Whoever watches the service needs no secret.
    """
    assert guarded.get("/healthz").status_code == 200


@pytest.mark.parametrize(("endpoint", "address"), GUARDED)
@pytest.mark.parametrize("name", ["root", ""])
def test_a_forged_header_from_elsewhere_is_refused(
    behind: FlaskClient, name: str, endpoint: str, address: str
) -> None:
    """
    Only the trusted proxy may name the user, or say that there is none, whatever else is forwarded.
    """
    forged = {"X-Forwarded-For": "127.0.0.1", "X-Real-IP": "127.0.0.1", "Forwarded": "for=::1"}
    answer = behind.get(
        address, headers=forged | as_user(name), environ_base={"REMOTE_ADDR": "10.0.0.9"}
    )
    assert answer.status_code == 403, endpoint
    assert not named(told(answer))


@pytest.mark.parametrize(("endpoint", "address"), GUARDED)
@pytest.mark.parametrize(
    ("name", "seen"),
    [("alice", {"alice"}), ("boss", {"alice", "bjorn"}), ("stranger", set())],
)
def test_each_sees_only_her_own_or_the_group(
    behind: FlaskClient, name: str, seen: set[str], endpoint: str, address: str
) -> None:
    """
    Names of users whom the reader may not see stand on no page and in no API answer.
    """
    answer = behind.get(address, headers=as_user(name))
    assert answer.status_code in (200, 400, 404), endpoint
    assert named(told(answer)) <= seen


@pytest.mark.parametrize(("endpoint", "address"), GUARDED)
def test_everybody_sees_totals_without_names(
    behind: FlaskClient, endpoint: str, address: str
) -> None:
    """
    Who is not signed in sees the few pages that hold totals; nobody is named, nothing else answers.
    """
    answer = behind.get(address)
    assert not named(told(answer))
    assert answer.status_code in ((200, 403) if endpoint in FOR_ALL else (403,))


@pytest.mark.parametrize(("endpoint", "address"), GUARDED)
def test_support_sees_everything(behind: FlaskClient, endpoint: str, address: str) -> None:
    """
    Whoever is named among the admins is refused nothing.
    """
    answer = behind.get(address, headers=as_user("root"))
    assert answer.status_code in (200, 400, 404), endpoint


def test_a_user_sees_her_own_job_and_no_other(behind: FlaskClient) -> None:
    """
    Another user's job is as unknown as one that never was.
    """
    assert behind.get("/jobs/fox/100", headers=as_user("alice")).status_code == 200
    theirs = behind.get("/jobs/fox/101", headers=as_user("alice"))
    assert theirs.status_code == 404
    assert "neither sampled nor accounted" in theirs.get_data(as_text=True)
    assert behind.get("/jobs/fox/101", headers=as_user("boss")).status_code == 200


def test_nodes_are_told_alike_on_page_and_by_api() -> None:
    """
    States of nodes are for everybody who sees a page; who wrote the reason is for the staff.
    """
    store = MemoryStore()
    down = {"dataset": "node_state", "state.name": "DOWN", "state.hash": "x"}
    why = {"state.reason": "disk", "state.reason_user": "helga"}
    store.write([{**node(NOW - timedelta(minutes=30), "c1-0"), **down, **why}], "create")
    client = client_with(store, WebSettings(access="proxy", admins=("root",)))
    asked = "/api/v1/nodes?period=last+2+hours"
    (hers,) = client.get(asked, headers=as_user("alice")).get_json()["rows"]
    (theirs,) = client.get(asked, headers=as_user("root")).get_json()["rows"]
    assert (hers["node"], hers["state"], hers["reason"], hers["by"]) == (
        "c1-0", "DOWN", "disk", None
    )  # fmt: skip
    assert theirs == {**hers, "by": "helga"}


@pytest.mark.parametrize("access", ["token", "proxy", "accounts"])
def test_strangers_are_told_no_path_of_a_secret(
    store: MemoryStore, tmp_path: Path, secret: Path, access: str
) -> None:
    """
    A file of tokens that has gone is a fault that the log tells, and nobody from outside.
    """
    tokens, accounts = tmp_path / "tokens", tmp_path / "accounts"
    for file in (tokens, accounts):
        file.touch()
    settings = WebSettings(
        access=access, token_file=secret, tokens_file=tokens, accounts_file=accounts
    )
    client = client_with(store, settings)
    tokens.unlink()
    for address in ("/metrics", "/api/v1/now", "/"):
        answer = client.get(address, headers={"Authorization": "Bearer of-some-or-no-length"})
        assert answer.status_code == 500
        assert str(tmp_path) not in told(answer)


def test_health_says_to_strangers_only_whether(secret: Path) -> None:
    """
    What the engine complains of, its address in it, is told where everybody sees everything.
    """

    class Away(MemoryStore):
        def health(self) -> Health:
            return Health("opensearch", False, ("https://search:9200 is away",), {})

    guarded = WebSettings(access="token", token_file=secret)
    for settings, names in ((WebSettings(), True), (guarded, False)):
        answer = client_with(Away(), settings).get("/healthz")
        assert answer.status_code == 503
        assert ("search:9200" in told(answer)) is names


def test_answers_are_not_shared_between_users(behind: FlaskClient) -> None:
    """
    What an admin was just told is not told to the next user who asks the same.
    """
    whole = behind.get("/api/v1/usage?by=user", headers=as_user("root")).get_json()
    own = behind.get("/api/v1/usage?by=user", headers=as_user("alice")).get_json()
    assert len(whole["rows"]) > 1
    assert [row["user"] for row in own["rows"]] == ["alice"]


def test_users_beside_a_job_are_not_named(behind: FlaskClient) -> None:
    """
    Who ran on the same nodes is told as hours of others to who may not see them.
    """
    page = told(behind.get("/jobs/fox/100", headers=as_user("boss")))
    assert "Others, and the system itself, used" in page
    assert named(page) <= {"alice", "bjorn"}
    whole = told(behind.get("/jobs/fox/100", headers=as_user("root")))
    assert "Others, and the system itself, used" not in whole
    assert named(whole) - {"alice", "bjorn"}


@pytest.mark.parametrize("name", ["a b", "x" * 80, "eve\u00e9", "a\tb"])
def test_strange_names_are_refused(behind: FlaskClient, name: str) -> None:
    """
    A sign-on that gives no proper name lets nobody in.
    """
    assert behind.get("/", headers=as_user(name)).status_code == 401


def test_without_the_public_nameless_readers_are_refused(store: MemoryStore) -> None:
    """
    Unless the site says so, who has no name sees nothing.
    """
    client = client_with(store, WebSettings(access="proxy"))
    assert client.get("/").status_code == 401
    assert client.get("/", headers=as_user("alice")).status_code == 200


def test_token_access_wants_a_secret(store: MemoryStore, tmp_path: Path) -> None:
    """
    Without a readable secret of some length the pages are not served at all.
    """
    short = tmp_path / "short"
    short.write_text("abc")
    for file in (None, tmp_path / "absent", short):
        with pytest.raises(SettingsError):
            client_with(store, WebSettings(access="token", token_file=file))


def test_open_pages_of_one_machine_answer_to_its_names_only(store: MemoryStore) -> None:
    """
    A site that calls itself by a name which leads to 127.0.0.1 cannot read these pages.
    """
    client = client_with(store, WebSettings())
    assert client.get("/", headers={"Host": "evil.example:8470"}).status_code == 403
    assert client.get("/", headers={"Host": "localhost:9999"}).status_code == 200
    anywhere = client_with(store, WebSettings(listen="0.0.0.0:8470"))
    assert anywhere.get("/", headers={"Host": "hpc.example"}).status_code == 200


@pytest.mark.parametrize("method", ["post", "put", "delete", "patch"])
@pytest.mark.parametrize("origin", ["", "https://evil.example", "null"])
def test_forms_of_other_sites_are_not_taken(store: MemoryStore, method: str, origin: str) -> None:
    """
    Whatever would change something must come from a page of ours.
    """
    client = client_with(store, WebSettings())
    headers = {"Origin": origin} if origin else {}
    assert getattr(client, method)("/logout", headers=headers).status_code == 403
