"""
The real pages on a loopback port, over a small fleet that is busy now.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from werkzeug.serving import BaseWSGIServer, make_server

from leadline.formats import Document
from leadline.formats.times import format_time
from leadline.store.memory import MemoryStore
from leadline.web import create_app
from leadline.web.settings import WebSettings
from tests.query.conftest import stored
from tests.web.conftest import HOSTILE, site_of

TOKEN = "a-token-of-the-pages"
PEOPLE = ("alice", "bo", HOSTILE, "[bold]dora[/bold]", "esc\x1b[2Jape")


def fleet(moment: datetime) -> MemoryStore:
    """
    40 nodes that each run one process, two cards, and one node that fell silent.
    """
    documents = [heard(moment, number) for number in range(1, 41)]
    documents += [running(moment, number) for number in range(1, 41)]
    documents += [card(moment, number) for number in (1, 2)]
    return stored([*documents, heard(moment - timedelta(hours=4), 99)])


def heard(moment: datetime, number: int) -> Document:
    time = moment - timedelta(minutes=5)
    return {
        "dataset": "node",
        "@timestamp": format_time(time),
        "sample.time": format_time(time + timedelta(minutes=2)),
        "cluster": "fox",
        "host.name": f"c1-{number}",
        "boot.id": "b",
        "sample.uptime": 1000,
        "interval.seconds": 300.0,
        "node.cores": 64,
        "core_seconds": 300.0 * number,
        "load.1m": float(number),
        "memory.used.bytes": number << 30,
        "memory.total.bytes": 256 << 30,
    }


def running(moment: datetime, number: int) -> Document:
    return heard(moment, number) | {
        "dataset": "process",
        "process.entity_id": f"{number}-1",
        "process.name": "vasp_std",
        "program.name": "VASP" if number % 2 else "GROMACS",
        "user.name": PEOPLE[number % len(PEOPLE)],
        "job.id": f"fox/{1000 + number}",
        "memory.rss.bytes": number << 28,
    }


def card(moment: datetime, number: int) -> Document:
    return heard(moment, number) | {
        "dataset": "gpu",
        "gpu.uuid": f"GPU-{number}",
        "gpu.index": 0,
        "gpu.model": "A100",
        "gpu_seconds": 150.0,
        "temperature.celsius": 60.0 + number,
        "gpu.failing": number == 2,
    }


@dataclass
class Pages:
    """
    A server that can be taken away and brought back at the same port.
    """

    token_file: Path
    port: int = 0
    server: BaseWSGIServer | None = None

    def __post_init__(self) -> None:
        now = datetime.now(UTC)
        settings = WebSettings(access="token", token_file=self.token_file, remember=0)  # type: ignore[arg-type]
        self.app = create_app(replace(site_of(fleet(now), now), settings=settings))
        self.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self.server = make_server("127.0.0.1", self.port, self.app, threaded=True)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        if self.server is not None:
            self.server.shutdown()
            self.server.server_close()
            self.server = None


@pytest.fixture
def pages(tmp_path: Path) -> Iterator[Pages]:
    file = tmp_path / "token"
    file.write_text(TOKEN)
    found = Pages(file)
    yield found
    found.stop()
