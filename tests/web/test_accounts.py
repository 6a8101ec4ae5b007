"""Accounts of a site's own: names, hashes, signing in and out."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from leadline.errors import SettingsError
from leadline.store.memory import MemoryStore
from leadline.web.accounts import Accounts, fits, hashed, read, write
from leadline.web.settings import WebSettings
from leadline.web.shared import TRIES, Tries
from tests.web.conftest import NOW
from tests.web.test_access import SECRET, client_with

PASSWORD = "correct horse battery"
HERE = {"Origin": "http://localhost"}


@pytest.fixture(scope="module")
def kept() -> str:
    return hashed(PASSWORD)


@pytest.fixture
def files(tmp_path: Path, kept: str) -> tuple[Path, Path]:
    secret, accounts = tmp_path / "secret", tmp_path / "accounts"
    secret.write_text(SECRET)
    write(accounts, {"alice": kept, "root": kept})
    return secret, accounts


def settings(files: tuple[Path, Path], *, public: bool = False) -> WebSettings:
    secret, accounts = files
    return WebSettings(
        access="accounts",
        token_file=secret,
        accounts_file=accounts,
        admins=("root",),
        public=public,
    )


@pytest.fixture
def client(store: MemoryStore, files: tuple[Path, Path]) -> FlaskClient:
    return client_with(store, settings(files))


def sign_in(client: FlaskClient, name: str, password: str, to: str = "/users") -> int:
    form = {"name": name, "password": password, "to": to}
    return client.post("/login", data=form, headers=HERE).status_code


def test_a_password_is_kept_as_a_salted_hash(kept: str) -> None:
    """
    Only the password fits its hash, and the same password is hashed otherwise the next time.
    """
    assert PASSWORD not in kept
    assert fits(PASSWORD, kept)
    assert not fits(PASSWORD + "x", kept)
    assert hashed(PASSWORD) != kept


def test_signing_in_leads_back_to_the_page(client: FlaskClient) -> None:
    """
    Who is not signed in is led to the form and from there to what was asked, as that user.
    """
    first = client.get("/users?period=all")
    assert first.status_code == 303
    assert first.headers["Location"] == "/login?to=/users?period%3Dall"
    assert client.get("/api/v1/usage").status_code == 401
    answer = client.post(
        "/login", data={"name": "alice", "password": PASSWORD, "to": "/users"}, headers=HERE
    )
    assert answer.headers["Location"] == "/users"
    assert "SameSite=Lax" in answer.headers["Set-Cookie"]
    page = client.get("/users").get_data(as_text=True)
    assert "signed in as alice" in page
    assert "dag" not in page
    assert client.post("/logout", headers=HERE).status_code == 303
    assert client.get("/users").status_code == 303


@pytest.mark.parametrize(("name", "password"), [("alice", "x"), ("nobody", PASSWORD), ("", "")])
def test_wrong_names_and_passwords_are_refused_alike(
    client: FlaskClient, name: str, password: str
) -> None:
    """
    The answer does not tell whether the name exists.
    """
    form = {"name": name, "password": password}
    answer = client.post("/login", data=form, headers=HERE)
    assert answer.status_code == 403
    assert "Name and password do not fit." in answer.get_data(as_text=True)
    assert client.get("/").status_code == 303


def test_a_form_of_another_site_signs_nobody_in(client: FlaskClient) -> None:
    """
    Name and password from elsewhere are not even looked at.
    """
    form = {"name": "alice", "password": PASSWORD}
    for headers in ({}, {"Origin": "https://evil.example"}, {"Referer": "https://evil.example/"}):
        assert client.post("/login", data=form, headers=headers).status_code == 403
    assert client.get("/").status_code == 303


@pytest.mark.parametrize("to", ["//evil.example", "https://evil.example", "/\\evil", "x", ""])
def test_signing_in_leads_nowhere_else(client: FlaskClient, to: str) -> None:
    """
    An address of another site in the link leads to the first page.
    """
    form = {"name": "alice", "password": PASSWORD, "to": to}
    assert client.post("/login", data=form, headers=HERE).headers["Location"] == "/"


def test_many_wrong_tries_make_a_name_wait(files: tuple[Path, Path]) -> None:
    """
    After ten wrong passwords even the right one waits five minutes; other names do not.
    """
    now = [NOW]
    accounts = Accounts(files[1], lambda: now[0])
    for _try in range(TRIES):
        assert not accounts.lets_in("alice", "wrong")
    assert not accounts.lets_in("alice", PASSWORD)
    assert accounts.lets_in("root", PASSWORD)
    now[0] += timedelta(minutes=6)
    assert accounts.lets_in("alice", PASSWORD)


def test_wrong_tries_are_counted_for_all_processes(files: tuple[Path, Path]) -> None:
    """
    A name that has to wait in one process waits in every other; what is old is forgotten.
    """
    now = [NOW]
    one, other = (Accounts(files[1], lambda: now[0]) for _ in range(2))
    for number in range(TRIES):
        (one, other)[number % 2].tries.wrong("alice")
    assert one.tries.waits("alice")
    assert not other.lets_in("alice", PASSWORD)
    kept = files[1].with_name("accounts.wrong")
    assert kept.stat().st_mode & 0o077 == 0
    now[0] += timedelta(minutes=6)
    assert not other.tries.waits("alice")
    assert kept.read_text() == ""


def test_wrong_tries_are_counted_where_nothing_can_be_written(tmp_path: Path) -> None:
    """
    Without a file each process counts for itself.
    """
    tries = Tries(tmp_path / "none" / "accounts.wrong", lambda: NOW)
    for _ in range(TRIES):
        assert not tries.waits("alice")
        tries.wrong("alice")
    assert tries.waits("alice")


def test_an_account_taken_away_is_signed_out(client: FlaskClient, files: tuple[Path, Path]) -> None:
    """
    A cookie of a name that has no account any more opens nothing.
    """
    assert sign_in(client, "alice", PASSWORD) == 303
    assert client.get("/").status_code == 200
    write(files[1], {"root": read(files[1])["root"]})
    assert client.get("/").status_code == 303


@pytest.mark.parametrize("public", [False, True])
def test_who_signs_in_is_led_to_no_closed_page(
    store: MemoryStore, files: tuple[Path, Path], public: bool
) -> None:
    """
    Above the form stand the pages that may be seen without it, be it none.
    """
    page = client_with(store, settings(files, public=public)).get("/login").text
    assert ('href="/usage"' in page) == public


def test_everybody_may_look_where_the_site_says_so(
    store: MemoryStore, files: tuple[Path, Path]
) -> None:
    """
    With `public`, totals are shown before anybody signs in, with a link to do so.
    """
    client = client_with(store, settings(files, public=True))
    page = client.get("/").get_data(as_text=True)
    assert 'href="/login"' in page
    assert "signed in" not in page
    assert client.get("/users").status_code == 403
    assert sign_in(client, "root", PASSWORD) == 303
    assert client.get("/users").status_code == 200


def test_a_broken_file_is_named_with_its_line(tmp_path: Path) -> None:
    """
    What is no account is refused by file and line.
    """
    file = tmp_path / "accounts"
    file.write_text("# ours\nalice:secret\n")
    with pytest.raises(SettingsError, match="accounts line 2"):
        read(file)


def test_accounts_are_made_listed_and_removed_by_command(tmp_path: Path) -> None:
    """
    `leadline accounts` writes a file that only its owner reads.
    """
    file = tmp_path / "folder" / "accounts"

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = (sys.executable, "-m", "leadline.commands", "--set", f"web.accounts_file={file}")
        return subprocess.run(
            [*command, "--set", "web.admins=[root]", "accounts", *words],
            capture_output=True,
            text=True,
            timeout=60,
        )

    assert run("add", "alice", "--password", PASSWORD).returncode == 0
    assert run("add", "root", "--password", PASSWORD).returncode == 0
    assert file.stat().st_mode & 0o077 == 0
    assert PASSWORD not in file.read_text()
    assert run("list").stdout.split("\n")[:2] == ["alice  own", "root  everything"]
    assert "10 characters" in run("add", "bjorn", "--password", "short").stderr
    assert run("remove", "alice").returncode == 0
    assert "alice" not in run("list").stdout
    assert "no account 'alice'" in run("remove", "alice").stderr
