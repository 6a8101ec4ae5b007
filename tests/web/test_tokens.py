"""Tokens of programs: each opens what its line says, whatever way people come in."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from werkzeug.serving import make_server

from leadline.errors import SettingsError
from leadline.store.memory import MemoryStore
from leadline.top.client import Api, LostError
from leadline.web.settings import WebSettings
from leadline.web.tokens import FOR_METRICS, read
from tests.web.test_access import GUARDED, SECRET, app_with, client_with, named, told

SCRAPER, ALICE, SUPPORT = "scraper-" * 3, "alice-of-the-script", "support-at-the-screen"
FILE = f"""# of programs
{SCRAPER}  metrics  # Prometheus
{ALICE} as alice
{SUPPORT} as root
"""


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture(scope="module", params=["token", "proxy", "accounts"])
def settings(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> WebSettings:
    folder = tmp_path_factory.mktemp("tokens")
    for name, text in (("tokens", FILE), ("secret", SECRET), ("accounts", "")):
        (folder / name).write_text(text)
    return WebSettings(
        access=request.param,
        admins=("root",),
        tokens_file=folder / "tokens",
        token_file=folder / "secret",
        accounts_file=folder / "accounts",
    )


@pytest.fixture(scope="module")
def client(store: MemoryStore, settings: WebSettings) -> FlaskClient:
    return client_with(store, settings)


def test_a_scraper_reads_metrics_and_constants_and_nothing_else(client: FlaskClient) -> None:
    """
    Of all pages and calls two open; whoever else the request says it is, nobody is named.
    """
    opened = set()
    for endpoint, address in GUARDED:
        answer = client.get(address, headers=bearer(SCRAPER) | {"X-Remote-User": "root"})
        assert answer.status_code in (200, 403), endpoint
        assert not named(told(answer))
        if answer.status_code == 200:
            opened.add(endpoint)
    assert opened == FOR_METRICS
    assert "leadline_nodes" in told(client.get("/metrics", headers=bearer(SCRAPER)))


def test_a_token_speaks_for_somebody(client: FlaskClient) -> None:
    """
    What alice's script sees is what alice sees, by the API and by the pages; support sees all.
    """
    for address in ("/api/v1/usage?by=user&period=last+7+days", "/usage?by=user"):
        assert named(told(client.get(address, headers=bearer(ALICE)))) == {"alice"}
        assert len(named(told(client.get(address, headers=bearer(SUPPORT))))) > 2


@pytest.mark.parametrize(
    "header",
    [
        *("Bearer", "Bearer ", f"Bearer {SCRAPER}x", f"Bearer {SCRAPER[:-1]}"),
        *(f"Basic {SCRAPER}", f"Token {SCRAPER}", "Bearer metrics", "Bearer #", "Bearer é"),
    ],
)
def test_what_is_no_token_opens_nothing(client: FlaskClient, header: str) -> None:
    """
    It is refused as if nothing had been shown, and told nothing.
    """
    answer = client.get("/metrics", headers={"Authorization": header})
    assert answer.status_code == 401, header
    assert "leadline_up" not in told(answer)


def test_a_token_is_shown_from_anywhere(client: FlaskClient) -> None:
    """
    A scraper does not come through the site's sign-on; its token is proof enough.
    """
    far = {"REMOTE_ADDR": "10.0.0.9"}
    assert client.get("/metrics", headers=bearer(SCRAPER), environ_base=far).status_code == 200
    assert client.get("/metrics", environ_base=far).status_code in (401, 403)


def test_the_file_is_read_again(store: MemoryStore, tmp_path: Path) -> None:
    """
    A token that is taken out of the file opens nothing any more, without a new start.
    """
    file = tmp_path / "tokens"
    file.write_text(FILE)
    client = client_with(store, WebSettings(access="proxy", tokens_file=file))
    assert client.get("/metrics", headers=bearer(SCRAPER)).status_code == 200
    file.write_text(FILE.replace(SCRAPER, "another-" * 3))
    assert client.get("/metrics", headers=bearer(SCRAPER)).status_code == 401


@pytest.mark.parametrize(
    "line",
    ["short metrics", SCRAPER, f"{SCRAPER} everything", f"{SCRAPER} as", f"{SCRAPER} as a b"],
)
def test_a_line_that_is_none_is_told_at_the_start(
    store: MemoryStore, tmp_path: Path, line: str
) -> None:
    """
    File, line and the way out; the token itself is not printed.
    """
    file = tmp_path / "tokens"
    file.write_text(f"# tokens\n{line}\n")
    with pytest.raises(SettingsError, match=r"tokens line 2: write TOKEN metrics") as told:
        client_with(store, WebSettings(access="proxy", tokens_file=file))
    assert SCRAPER not in str(told.value)
    with pytest.raises(SettingsError, match="cannot be read"):
        read(tmp_path / "none")


@pytest.fixture
def pages(store: MemoryStore, settings: WebSettings) -> Iterator[str]:
    server = make_server("127.0.0.1", 0, app_with(store, settings), threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()


def test_the_live_screen_and_status_show_a_token(pages: str) -> None:
    """
    What `leadline top` and `leadline status` ask is answered to a token, as to who it speaks for.
    """
    assert {"nodes", "rows"} & set(Api(pages, SUPPORT).get("now"))
    assert "alerts" in Api(pages, SUPPORT).get("status")
    with pytest.raises(LostError, match="reads /metrics and /api/v1/constants, nothing else"):
        Api(pages, SCRAPER).get("now")
    with pytest.raises(LostError, match="--token-file FILE"):
        Api(pages, "nobody's").get("now")
