"""
A minute of everything at once: kills, ends, reloads, and a worker with moods.
"""

import json
import random
import signal
import time
from pathlib import Path

import pytest

from leadline.spool import Spool
from shipper.status import read_status
from tests.shipper.conftest import wait_for
from tests.shipper.senders.worker import Answer, Worker
from tests.shipper.test_ship_process import ship

MOODS: list[Answer] = [
    None,
    None,
    None,
    (503, b""),
    (429, b"", {"Retry-After": "0"}),
    (401, b'{"error": "unknown token"}'),
    (413, b""),
    (200, b"<html>log in</html>"),
    (200, b'{"accepted": "yes"}'),
    b"",
    b"\x16\x03\x01",
    b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{",
]


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_minute_of_violence_loses_nothing(tmp_path: Path) -> None:
    """
    Whatever order of kill -9, SIGTERM, SIGHUP and bad answers: each spooled document arrives or
    is kept as refused.
    """
    dice = random.Random(7)
    there = Worker(
        lambda lines: dice.choice(MOODS) if len(lines) > 1 or dice.random() < 0.3 else None
    )
    try:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            child = ship(tmp_path, there.url)
            for _ in range(dice.randrange(4)):
                time.sleep(dice.uniform(0.1, 1.5))
                if child.poll() is None and (tmp_path / "state/shipper/status.json").exists():
                    child.send_signal(signal.SIGHUP)
            time.sleep(dice.uniform(0.3, 2.0))
            child.send_signal(dice.choice([signal.SIGKILL, signal.SIGTERM]))
            child.communicate(timeout=30)
        there.answer = lambda lines: None
        last = ship(tmp_path, there.url)
        wait_for(lambda: (read_status(tmp_path / "state/shipper") or {}).get("pid") == last.pid)
        time.sleep(2)
        last.terminate()
        last.communicate(timeout=30)
    finally:
        there.close()
    seen = {line.decode() for line in there.taken}
    with Spool(tmp_path / "spool" / "shipper") as spool:
        assert spool.pending("sender").documents == 0
        refused = tmp_path / "state" / "shipper" / "refused.ndjson"
        kept = refused.read_text().splitlines() if refused.exists() else []
        seen |= {json.loads(line)["document"] for line in kept}
        assert len(seen) == spool.counters.appended > 100
