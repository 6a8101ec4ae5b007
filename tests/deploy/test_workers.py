"""Two workers, one site: who is let in by one is known to both, and what opens once opens once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlencode

import pytest

from leadline.web.accounts import hashed, write
from leadline.web.seals import ticket
from tests.deploy.servers import Answer, free_port, get, many, serving, site

SECRET = "the-secret-of-two-workers"
PASSWORD = "correct horse battery"
TICKETS, AT_ONCE = 20, 12


@contextmanager
def two_workers(folder: Path, **web: object) -> Iterator[str]:
    """
    The pages under gunicorn; which worker answered stands in its log, which must name both.
    """
    (folder / "secret").write_text(SECRET)
    write(folder / "accounts", {"alice": hashed(PASSWORD)})
    files = {"token_file": str(folder / "secret"), "accounts_file": str(folder / "accounts")}
    config, port, log = site(folder, **files, **web), free_port(), folder / "log"
    words = ("gunicorn", "-k", "gthread", "--threads", "2", "-w", "2", "-b", f"127.0.0.1:{port}")
    both = ("--worker-connections", "4")  # eight readers at once are too many for one
    logged = ("--access-logfile", "-", "--access-logformat", "%(p)s", "leadline.web:create_app()")
    with (
        log.open("w") as output,
        serving(config, port, *words, *both, *logged, below="", output=output) as address,
    ):
        yield address
    pids = {line for line in log.read_text().split() if line.strip("<>").isdigit()}
    assert len(pids) == 2, "one worker answered everything: nothing was shown"


def cookie(answer: Answer) -> dict[str, str]:
    return {"Cookie": answer[1]["Set-Cookie"].partition(";")[0]}


def test_a_ticket_opens_once_whichever_worker_is_asked(tmp_path: Path) -> None:
    """
    Of a dozen browsers that come with the same ticket at the same moment one is let in; its cookie
    is good in both workers.
    """
    with two_workers(tmp_path, access="token") as address:
        for _ in range(TICKETS):
            shown = f"{address}/data?token={ticket(SECRET, datetime.now(UTC))}"
            answers = many(shown, AT_ONCE)
            let_in = [answer for answer in answers if answer[0] == 303]
            assert len(let_in) == 1
            assert {answer[0] for answer in answers} == {303, 401}
            assert let_in[0][1]["Location"] == "/data"
            assert get(shown)[0] == 401
        told = many(f"{address}/data", 30, cookie(let_in[0]))
        assert {answer[0] for answer in told} == {200}
    assert len((tmp_path / "secret.spent").read_text().split()) == TICKETS


def test_who_signs_in_is_known_to_both(tmp_path: Path) -> None:
    """
    A form of ours is taken by either worker, one of another site by none, and the cookie of one
    is good in the other.
    """
    with two_workers(tmp_path, access="accounts") as address:
        form = urlencode({"name": "alice", "password": PASSWORD, "to": "/users"}).encode()
        ours, theirs = {"Origin": address}, {"Origin": "https://evil.example"}

        def sign_in(origin: dict[str, str]) -> Answer:
            return get(f"{address}/login", origin, data=form)

        with ThreadPoolExecutor(8) as readers:
            signed = list(readers.map(sign_in, [ours] * 6))
            refused = list(readers.map(sign_in, [theirs] * 6))
        assert {(answer[0], answer[1].get("Location")) for answer in signed} == {(303, "/users")}
        assert {answer[0] for answer in refused} == {403}
        for answer in signed:
            told = many(f"{address}/users", 4, cookie(answer))
            assert [status for status, _, _ in told] == [200] * 4
            assert all("alice" in page and "bjorn" not in page for _, _, page in told)


@pytest.mark.parametrize("access", ["token", "accounts"])
def test_what_one_reader_was_told_is_not_told_to_another(tmp_path: Path, access: str) -> None:
    """
    Workers remember answers by whom they were for: after a reader's page a stranger sees none.
    """
    with two_workers(tmp_path, access=access, remember="1h") as address:
        known = {"Authorization": f"Bearer {SECRET}"}
        if access == "accounts":
            form = urlencode({"name": "alice", "password": PASSWORD}).encode()
            known = cookie(get(f"{address}/login", {"Origin": address}, data=form))
        question = f"{address}/api/v1/usage?by=user&period=last+7+days"
        assert {status for status, _, _ in many(question, 30, known)} == {200}
        strangers = many(question, 30)
        assert {status for status, _, _ in strangers} == {401}
        assert not any("alice" in told for _, _, told in strangers)
