"""The pages as sites serve them: two real gunicorn workers, a prefix, a proxy, WSGI, systemd."""

from __future__ import annotations

import configparser
import json
import os
import re
import runpy
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from wsgiref.util import setup_testing_defaults
from wsgiref.validate import validator

import click
import pytest
import yaml

from leadline.commands import cli
from leadline.store.lake import LakeStore
from tests.web.conftest import process

ROOT = Path(__file__).resolve().parents[2]
UNIT = ROOT / "deploy" / "systemd" / "leadline-web.service"
PROXIED = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "stats.example.org"}
QUESTION = "/api/v1/usage?by=user&period=last+7+days"

Answer = tuple[int, dict[str, str], str]


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """
    A settings file with a small lake behind it, below the path /leadline, behind one proxy.
    """
    folder = tmp_path_factory.mktemp("site")
    store = LakeStore(str(folder / "data" / "lake"))
    now = datetime.now(UTC)
    samples = [process(now - timedelta(minutes=30 * n), n) for n in range(40)]
    assert store.write(samples, "create").accepted == 40
    store.close()
    file = folder / "leadline.yaml"
    settings = {
        "paths": {"data": str(folder / "data")},
        "web": {"prefix": "/leadline", "proxies": 1, "remember": "1h", "processes": 2},
        "worker": {"listen": "127.0.0.1:1"},
    }
    file.write_text(yaml.safe_dump(settings))
    return file


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def get(address: str, **headers: str) -> Answer:
    request = urllib.request.Request(address, headers={**PROXIED, **headers})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, dict(answer.headers), answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read().decode()


def until_ready(address: str, server: subprocess.Popen[str]) -> None:
    for _ in range(400):
        assert server.poll() is None, server.stderr.read() if server.stderr else ""
        try:
            if get(f"{address}/healthz")[0] == 200:
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"{address}: not ready within 40 s")


Start = Callable[..., str]


@pytest.fixture
def start(config: Path) -> Iterator[Start]:
    """
    Starts a server by its words, waits until it answers, and ends it by SIGTERM.
    """
    servers: list[subprocess.Popen[str]] = []

    def begin(
        port: int, *words: str, below: str = "/leadline", output: Any = subprocess.DEVNULL
    ) -> str:
        server = subprocess.Popen(
            [sys.executable, "-m", *words],
            env={**os.environ, "LEADLINE_CONFIG": str(config)},
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
        )
        servers.append(server)
        address = f"http://127.0.0.1:{port}{below}"
        until_ready(address, server)
        return address

    yield begin
    for server in servers:
        server.terminate()
        assert server.wait(30) == 0
        if server.stderr:
            server.stderr.close()


def many(address: str, count: int) -> list[Answer]:
    with ThreadPoolExecutor(8) as readers:
        return list(readers.map(get, [address] * count))


def test_two_workers_of_gunicorn_agree(start: Start, tmp_path: Path) -> None:
    """
    `leadline.web:create_app()` under a real gunicorn: both workers answer, with the same figures
    and the same ETag, and either knows an answer that the other gave.
    """
    port, log = free_port(), tmp_path / "log"
    words = ("gunicorn", "-k", "gthread", "--threads", "2", "-w", "2", "-b", f"127.0.0.1:{port}")
    with log.open("w") as output:
        address = start(
            port, *words, "--access-logfile", "-", "--access-logformat", "%(p)s",
            "leadline.web:create_app()", output=output,
        )  # fmt: skip
        answers = many(address + QUESTION, 60)
        assert {status for status, _, _ in answers} == {200}
        assert len({headers["ETag"] for _, headers, _ in answers}) == 1
        assert len({body for _, _, body in answers}) == 1
        assert len(json.loads(answers[0][2])["rows"]) == 4
        tag = answers[0][1]["ETag"]
        again = [get(address + QUESTION, **{"If-None-Match": tag})[0] for _ in range(10)]
        assert set(again) == {304}
    assert len({line for line in log.read_text().split() if line.strip("<>").isdigit()}) == 2


def test_our_own_server_runs_several_processes(start: Start) -> None:
    """
    `web.processes: 2`: pages, scripts and styles lie below the prefix, whichever process answers.
    """
    port = free_port()
    address = start(port, "leadline.commands", "serve", "--listen", f"127.0.0.1:{port}")
    pages = many(f"{address}/usage?by=user", 20)
    assert {status for status, _, _ in pages} == {200}
    assert len({body for _, _, body in pages}) == 1
    links = re.findall(r'(?:href|src|action)="(/[^"]*)"', pages[0][2])
    assert len(links) > 20
    assert all(link.startswith("/leadline/") for link in links)
    for name in ("leadline.css", "leadline.js", "charts.js"):
        status, headers, _ = get(f"{address}/static/{name}")
        assert (status, "max-age" in headers["Cache-Control"]) == (200, True)


def test_proxy_may_name_the_path(start: Start) -> None:
    """
    X-Forwarded-Prefix puts the pages below another path, without a word in the settings.
    """
    port = free_port()
    words = ("leadline.commands", "--set", "web.prefix=", "serve")
    address = start(port, *words, "--listen", f"127.0.0.1:{port}", below="")
    page = get(f"{address}/usage", **{"X-Forwarded-Prefix": "/stats"})[2]
    assert 'href="/stats/usage?' in page
    assert 'href="/usage' not in page


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


def test_unit_starts_a_command_that_exists() -> None:
    """
    The unit's command is one of ours, it runs as nobody special and may write to one folder only.
    """
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(UNIT)
    service = unit["Service"]
    words = service["ExecStart"].split()
    assert words[0].endswith("/bin/leadline")
    assert cli.get_command(click.Context(cli), words[-1])
    assert service["User"] != "root"
    assert (service["ProtectSystem"], service["NoNewPrivileges"]) == ("strict", "yes")
    assert service["ReadWritePaths"] == "/var/lib/leadline"
    if shutil.which("systemd-analyze"):
        copy = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(UNIT)]
        done = subprocess.run(copy, capture_output=True, text=True)
        complaints = [line for line in done.stderr.splitlines() if "leadline-web" in line]
        assert [line for line in complaints if "not executable" not in line] == []
