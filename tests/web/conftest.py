"""
A small cluster's week in a memory store, and the pages that tell about it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from flask import Flask
from flask.testing import FlaskClient
from playwright.sync_api import Browser, Page, sync_playwright
from werkzeug.serving import make_server

from leadline.formats.times import format_time
from leadline.store.memory import MemoryStore
from leadline.web import Site, create_app
from tests.needs import chromium

NOW = datetime(2026, 11, 21, 12, 0, 30, tzinfo=UTC)
HOSTILE = "<script>alert('x')</script>"
PROGRAMS = ("GROMACS", "VASP", "PyTorch", "BLAST+", None)
USERS = ("alice", "bjorn", HOSTILE, "dag")
GROUPS = ("chem-1", "chem-1", "bio-2", "bio-2")


def process(moment: datetime, number: int, **more: object) -> dict[str, object]:
    document: dict[str, object] = {
        "@timestamp": format_time(moment),
        "dataset": "process",
        "cluster": "fox",
        "host.name": f"c1-{number % 3}",
        "boot.id": "b",
        "sample.uptime": 1000,
        "interval.seconds": 3600,
        "process.entity_id": f"{number}-1",
        "process.name": "p",
        "user.name": USERS[number % len(USERS)],
        "user.group": GROUPS[number % len(USERS)],
        "core_seconds": 3600.0 * (1 + number % 7),
        "memory.rss.bytes": 1 << (28 + number % 5),
        "local.day": moment.date().isoformat(),
        "local.hour": moment.hour,
        "local.weekday": moment.isoweekday(),
    }
    program = PROGRAMS[number % len(PROGRAMS)]
    if program:
        document["program.name"] = program
    if program == "GROMACS":
        document["process.command_line"] = "gmx mdrun -deffnm <b>water</b>"
    return document | more


def node(moment: datetime, host: str) -> dict[str, object]:
    return {
        "@timestamp": format_time(moment),
        "dataset": "node",
        "cluster": "fox",
        "host.name": host,
        "boot.id": "b",
        "sample.uptime": 1000,
        "interval.seconds": 3600,
        "node.cores": 64,
        "core_seconds": 3600.0 * 30,
        "local.day": moment.date().isoformat(),
    }


def job(end: datetime, number: int, **more: object) -> dict[str, object]:
    start = end - timedelta(hours=5)
    return {
        "@timestamp": format_time(start - timedelta(minutes=5)),
        "dataset": "job",
        "cluster": "fox",
        "job.id": f"fox/{number}",
        "job.local_id": str(number),
        "job.run": f"fox/{number}@{format_time(start - timedelta(minutes=5))}",
        "record.version": 1,
        "user.name": USERS[number % len(USERS)],
        "user.group": GROUPS[number % len(USERS)],
        "job.name": f"<i>run {number}</i>",
        "job.state": "COMPLETED" if number % 3 else "FAILED",
        "job.cores": 8,
        "job.node.count": 1,
        "job.submit": format_time(start - timedelta(minutes=5)),
        "job.start": format_time(start),
        "job.end": format_time(end),
        "job.wait.seconds": 300.0,
        "job.wall.seconds": 5 * 3600.0,
        "job.limit.seconds": 36_000.0,
        "job.asked.memory.bytes": 64 << 30,
        "job.memory.peak.bytes": 4 << 30,
        "job.core_seconds.allocated": 8 * 5 * 3600.0,
        "job.core_seconds.used": 5 * 3600.0,
    } | more


def week() -> list[dict[str, object]]:
    documents: list[dict[str, object]] = []
    for hour in range(7 * 24):
        moment = NOW - timedelta(hours=hour, minutes=20)
        documents += [process(moment, number) for number in range(hour % 5, hour % 5 + 6)]
        documents += [node(moment, f"c1-{number}") for number in range(3)]
        if hour < 30:
            documents.append(job(moment, 100 + hour))
    for document in documents[:60]:
        if document["dataset"] == "process" and document["process.entity_id"] == "1-1":
            document["job.id"] = "fox/100"
    return documents


def site_of(store: MemoryStore, now: datetime = NOW) -> Site:
    return Site(open=lambda: store, zone=ZoneInfo("UTC"), clock=lambda: now)


@pytest.fixture(scope="session")
def store() -> MemoryStore:
    store = MemoryStore()
    assert store.write(week(), "create").accepted > 1000
    return store


@pytest.fixture(scope="session")
def app(store: MemoryStore) -> Flask:
    return create_app(site_of(store))


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture
def empty_client() -> FlaskClient:
    return create_app(site_of(MemoryStore())).test_client()


@pytest.fixture(scope="module")
def address(app: Flask) -> Iterator[str]:
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield browser
        browser.close()


def complaints_of(page: Page) -> list[str]:
    """
    What the browser says of it from now on.
    """
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    return complaints


@contextmanager
def watched(browser: Browser, *, patience: int = 15_000, **context: Any) -> Iterator[Page]:
    """
    A page that fails its test when the browser complains: about a policy, a script, a missing file.
    """
    made = browser.new_context(**context)
    made.set_default_timeout(patience)
    page = made.new_page()
    complaints = complaints_of(page)
    yield page
    made.close()
    assert complaints == []
