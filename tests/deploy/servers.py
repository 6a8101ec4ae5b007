"""
Servers as sites run them, as processes of a test: on free ports of the loopback, below tmp_path.
"""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from leadline.store.lake import LakeStore
from tests.web.conftest import process

ROOT = Path(__file__).resolve().parents[2]
Answer = tuple[int, dict[str, str], str]
Start = Callable[..., str]


def site(folder: Path, **web: object) -> Path:
    """
    A settings file with a small lake behind it.
    """
    store = LakeStore(str(folder / "data" / "lake"))
    now = datetime.now(UTC)
    samples = [process(now - timedelta(minutes=30 * n), n) for n in range(40)]
    assert store.write(samples, "create").accepted == 40
    store.close()
    file = folder / "leadline.yaml"
    settings = {
        "paths": {"data": str(folder / "data")},
        "web": web,
        "worker": {"listen": "127.0.0.1:1"},
    }
    file.write_text(yaml.safe_dump(settings))
    return file


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Stay(urllib.request.HTTPRedirectHandler):
    """
    A redirect is an answer like another.
    """

    def redirect_request(self, *args: object, **kwargs: object) -> None:
        return None


def get(
    address: str,
    headers: Mapping[str, str] | None = None,
    *,
    data: bytes | None = None,
    method: str | None = None,
    trusted: Path | None = None,
) -> Answer:
    """
    Status, headers, text; over TLS where TRUSTED is the certificate.
    """
    context = ssl.create_default_context(cafile=trusted) if trusted else None
    if context:
        context.check_hostname = False
    opener = urllib.request.build_opener(Stay, urllib.request.HTTPSHandler(context=context))
    request = urllib.request.Request(address, data, dict(headers or {}), method=method)
    try:
        with opener.open(request, timeout=20) as answer:
            return answer.status, dict(answer.headers), answer.read().decode(errors="replace")
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read().decode()


def many(address: str, count: int, headers: Mapping[str, str] | None = None) -> list[Answer]:
    with ThreadPoolExecutor(8) as readers:
        return list(readers.map(lambda _: get(address, headers), range(count)))


def until(ready: Callable[[], bool], server: subprocess.Popen[str], what: str) -> None:
    for _ in range(400):
        assert server.poll() is None, server.stderr.read() if server.stderr else what
        try:
            if ready():
                return
        except OSError:
            pass
        time.sleep(0.1)
    raise AssertionError(f"{what}: not ready within 40 s")


@contextmanager
def started(*words: str, output: Any = subprocess.DEVNULL, **env: str) -> Iterator[Any]:
    """
    A process that is ended by SIGTERM, and must end well.
    """
    server = subprocess.Popen(
        words, env={**os.environ, **env}, stdout=output, stderr=subprocess.PIPE, text=True
    )
    try:
        yield server
    finally:
        server.terminate()
        ended = server.wait(30)
        told = server.stderr.read() if server.stderr else ""
        if server.stderr:
            server.stderr.close()
    assert ended == 0, told


@contextmanager
def serving(config: Path, port: int, *words: str, below: str, output: Any = None) -> Iterator[str]:
    """
    A Python module that serves the pages of CONFIG, ready to answer; its address.
    """
    begun = started(
        sys.executable, "-m", *words,
        output=output or subprocess.DEVNULL, LEADLINE_CONFIG=str(config),
    )  # fmt: skip
    with begun as server:
        address = f"http://127.0.0.1:{port}{below}"
        until(lambda: get(f"{address}/healthz")[0] == 200, server, address)
        yield address


@contextmanager
def leadline_serve(config: Path, *settings: str, below: str = "/leadline") -> Iterator[str]:
    port = free_port()
    words = [word for setting in settings for word in ("--set", setting)]
    listen = ("serve", "--listen", f"127.0.0.1:{port}")
    with serving(config, port, "leadline.commands", *words, *listen, below=below) as address:
        yield address
