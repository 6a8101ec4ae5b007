"""
The real `leadline ship` as a process: killed, ended, and what is left of its work.
"""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

from leadline.spool import Spool
from shipper.status import read_status
from tests.shipper.conftest import wait_for
from tests.shipper.senders.worker import Worker

SHIP = "from leadline.commands import main; main()"


def ship(folder: Path, url: str) -> subprocess.Popen[str]:
    values = {
        "paths.data": str(folder),
        "ship.endpoints": url,
        "ship.interval": "0.1s",
        "ship.backoff.max": "0.1s",
        "collect.collectors": "node",
    }
    words = [part for name, value in values.items() for part in ("--set", f"{name}={value}")]
    environment = {**os.environ, "LEADLINE_CONFIG": str(folder)}
    return subprocess.Popen(
        [sys.executable, "-c", SHIP, *words, "ship"],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_killed_daemon_loses_and_repeats_nothing_it_had_settled(tmp_path: Path) -> None:
    """
    kill -9 of the real command, again and again, with a worker that also fails: each sample that
    was spooled arrives; repeats are at most the batches under way.
    """
    moods = iter([(503, b""), b"", None] * 100)
    there = Worker(lambda lines: next(moods, None))
    kills = 4
    try:
        for _ in range(kills):
            had = len(there.taken)
            child = ship(tmp_path, there.url)
            wait_for(lambda had=had: len(there.taken) >= had + 4)  # type: ignore[misc]
            child.send_signal(signal.SIGKILL)
            child.communicate()
        there.answer = lambda lines: None
        had = len(there.taken)
        last = ship(tmp_path, there.url)
        wait_for(lambda: len(there.taken) > had)  # its handlers are set before its first look
        last.terminate()
        _, said = last.communicate(timeout=20)
        assert last.returncode == 0, said
    finally:
        there.close()
    times = [json.loads(line)["sample.time"] for line in there.taken]
    with Spool(tmp_path / "spool" / "shipper") as spool:
        appended = spool.counters.appended
        assert spool.pending("sender").documents == 0
    assert len(set(times)) == appended
    repeats = sum(Counter(times).values()) - len(set(times))
    assert repeats <= kills * 10
    status = read_status(tmp_path / "state" / "shipper")
    assert status is not None
    assert status["totals"]["sent"] == appended  # type: ignore[index]


def test_a_node_loads_what_a_node_needs(tmp_path: Path) -> None:
    """
    With a plain endpoint neither OpenSSL nor a mail parser, and nothing of the worker, the stores
    and the pages: they would be a third of the memory on every node.
    """
    code = (
        "import sys; from leadline.commands.context import Context;"
        "from leadline.commands.ship import post; from shipper.daemon import Shipper;"
        "context = Context(None, ('paths.data=' + sys.argv[1],), None, None, False);"
        "Shipper(post(context), print).close(0); print(*sorted(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        env={**os.environ, "LEADLINE_CONFIG": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stdout.split())
    needless = {"ssl", "_hashlib", "http.client", "email", "subprocess", "enrich", "duckdb"}
    needless |= {"leadline.store", "leadline.web", "leadline.query", "leadline.alerts"}
    assert needless & loaded == set()
    assert "shipper.snapshot" in loaded
