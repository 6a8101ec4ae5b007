"""
The pictures of docs/: pages of a small simulated cluster in a real Chromium.

`python -m tests.docs.pictures` writes them to docs/images; a test takes them anew elsewhere.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from playwright.sync_api import sync_playwright
from werkzeug.serving import make_server

from leadline.formats.times import parse_time
from leadline.reports.finding import Case
from leadline.reports.findings import findings
from leadline.reports.settings import AllocationSettings, GrantSettings
from leadline.store.lake.store import LakeStore
from leadline.store.scope import EVERYTHING
from leadline.web import Site, create_app
from tests.needs import chromium

FOLDER = Path(__file__).parents[2] / "docs" / "images"
NOW = parse_time("2026-11-20T12:00:00.000Z")
ZONE = "Europe/Oslo"
WIDTH, HEIGHT = 1100, 760
GRANT = GrantSettings(cluster="fox", period="2026-11", core_hours=270_000.0)

PAGES = {
    "overview": "/",
    "usage": "/usage?by=day&and=program&period=last+7+days&top=6",
    "hours": "/usage?by=weekday&and=hour_of_day&period=last+7+days",
    "granted": "/usage?measure=core_hours_allocated&by=project&period=last+7+days&top=6",
    "jobs": "/jobs?period=last+7+days",
    "job": "/jobs/{job}",
    "idle-card": "/jobs/{gpu_job}",
    "nodes": "/nodes",
    "findings": "/findings?period=last+7+days",
    "search": "/search?words=python&period=last+7+days",
    "data": "/data",
}


def cluster(folder: Path) -> LakeStore:
    """
    A week of twelve nodes, through the real chain into a real lake.
    """
    fleet, lake = folder / "fleet", folder / "lake"
    leadline = [sys.executable, "-m", "leadline.commands", "--store", f"lake:{lake}"]
    leadline += ["--set", f"paths.data={folder / 'data'}", "--set", f"clusters.fox.zone={ZONE}"]
    size = ["--seed", "7", "--nodes", "12", "--days", "8", "--end", NOW.isoformat()]
    run([*leadline, "simulate", "--out", str(fleet), *size])
    run([*leadline, "enrich", str(fleet)])
    for chore in ("rollup", "capacity"):
        run([*leadline, "chores", "--once", "--only", chore])
    return LakeStore(lake)


def run(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=120)


@contextmanager
def served(store: LakeStore, now: datetime = NOW) -> Iterator[str]:
    site = Site(
        open=lambda: store,
        zone=ZoneInfo(ZONE),
        clock=lambda: now,
        allocations=AllocationSettings(grants=[GRANT]),
    )
    app = create_app(site)
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()


def examples(store: LakeStore) -> dict[str, str]:
    """
    The jobs that the guide walks through: one had too many cores, one forgot its card.
    """
    case = Case(store, EVERYTHING, NOW - timedelta(days=7), NOW, NOW)
    found = findings(case, ("unused cores", "idle GPUs"))
    first = {one.kind: one.object for one in reversed(found)}
    return {"job": first["unused cores"], "gpu_job": first["idle GPUs"]}


def take(folder: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="leadline-pictures-") as scratch:
        store = cluster(Path(scratch))
        jobs = examples(store)
        with served(store) as address, sync_playwright() as play:
            browser = play.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            for name, path in PAGES.items():
                answer = page.goto(address + path.format(**jobs))
                assert answer is not None
                assert answer.ok, f"{path}: {answer.status}"
                page.screenshot(path=folder / f"{name}.png")
            browser.close()
        store.close()


if __name__ == "__main__":
    take(FOLDER)
