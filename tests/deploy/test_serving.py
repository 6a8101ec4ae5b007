"""The pages as sites serve them: two real gunicorn workers, a prefix, a proxy, WSGI."""

from __future__ import annotations

import json
import re
import runpy
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from wsgiref.util import setup_testing_defaults
from wsgiref.validate import validator

import pytest

from tests.deploy.servers import ROOT, free_port, get, leadline_serve, many, serving, site

PROXIED = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "stats.example.org"}
QUESTION = "/api/v1/usage?by=user&period=last+7+days"


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """
    A small lake below the path /leadline, behind one proxy.
    """
    folder = tmp_path_factory.mktemp("site")
    return site(folder, prefix="/leadline", proxies=1, remember="1h", processes=2)


def test_two_workers_of_gunicorn_agree(config: Path, tmp_path: Path) -> None:
    """
    `leadline.web:create_app()` under a real gunicorn: both workers answer, with the same figures
    and the same ETag, and either knows an answer that the other gave.
    """
    port, log = free_port(), tmp_path / "log"
    words = ("gunicorn", "-k", "gthread", "--threads", "2", "-w", "2", "-b", f"127.0.0.1:{port}")
    both = ("--worker-connections", "4")  # eight readers at once are too many for one
    logged = ("--access-logfile", "-", "--access-logformat", "%(p)s", "leadline.web:create_app()")
    with (
        log.open("w") as output,
        serving(config, port, *words, *both, *logged, below="/leadline", output=output) as address,
    ):
        answers = many(address + QUESTION, 60, PROXIED)
        end = time.monotonic() + 60
        while len(workers(log)) < 2 and time.monotonic() < end:  # one may begin late
            answers += many(address + QUESTION, 60, PROXIED)
        assert {status for status, _, _ in answers} == {200}
        assert len({headers["ETag"] for _, headers, _ in answers}) == 1
        assert len({body for _, _, body in answers}) == 1
        assert len(json.loads(answers[0][2])["rows"]) == 4
        known = {"If-None-Match": answers[0][1]["ETag"]}
        again = [get(address + QUESTION, PROXIED | known)[0] for _ in range(10)]
        assert set(again) == {304}
    assert len(workers(log)) == 2


def workers(log: Path) -> set[str]:
    return {line for line in log.read_text().split() if line.strip("<>").isdigit()}


def test_our_own_server_runs_several_processes(config: Path) -> None:
    """
    `web.processes: 2`: pages, scripts and styles lie below the prefix, whichever process answers.
    """
    with leadline_serve(config) as address:
        pages = many(f"{address}/usage?by=user", 20, PROXIED)
        assert {status for status, _, _ in pages} == {200}
        assert len({body for _, _, body in pages}) == 1
        links = re.findall(r'(?:href|src|action)="(/[^"]*)"', pages[0][2])
        assert len(links) > 20
        assert all(link.startswith("/leadline/") for link in links)
        for name in ("leadline.css", "leadline.js", "charts.js"):
            status, headers, _ = get(f"{address}/static/{name}", PROXIED)
            assert (status, "max-age" in headers["Cache-Control"]) == (200, True)


def test_proxy_may_name_the_path(config: Path) -> None:
    """
    X-Forwarded-Prefix puts the pages below another path, without a word in the settings; one that
    is no path of this site is not believed.
    """
    with leadline_serve(config, "web.prefix=", "web.processes=1", below="") as address:
        page = get(f"{address}/usage", PROXIED | {"X-Forwarded-Prefix": "/stats"})[2]
        assert 'href="/stats/usage?' in page
        assert 'href="/usage' not in page
        for forged in ("//evil.example", "/../x", "/a/../b", "https://evil.example", "/a, //evil"):
            page = get(f"{address}/usage", PROXIED | {"X-Forwarded-Prefix": forged})[2]
            assert 'href="/usage?' in page, forged
            assert "evil" not in page


def test_wsgi_file_is_a_valid_application(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    What Apache loads keeps the WSGI contract, and lives below the path that Apache mounts it at.
    """
    monkeypatch.setenv("LEADLINE_CONFIG", str(config))
    application = validator(runpy.run_path(str(ROOT / "deploy" / "leadline.wsgi"))["application"])
    environ: dict[str, Any] = {"PATH_INFO": "/usage", "QUERY_STRING": "by=user"}
    environ |= {"SCRIPT_NAME": "/leadline"}
    setup_testing_defaults(environ)
    seen: list[str] = []

    def respond(status: str, headers: Any, error: Any = None) -> Callable[[bytes], object]:
        seen.append(status)
        return lambda data: None

    body = application(environ, respond)
    page = b"".join(body).decode()
    body.close()  # type: ignore[attr-defined]
    assert seen == ["200 OK"]
    assert 'href="/leadline/static/leadline.css' in page
    assert "bjorn" in page
