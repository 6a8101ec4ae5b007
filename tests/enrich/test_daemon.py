"""The real worker in a process of its own: killed, restarted, stopped; nothing lost or doubled."""

from __future__ import annotations

import gzip
import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from leadline.store import open_store
from leadline.store.scope import EVERYTHING
from tests.enrich.conftest import make_line

BATCH = 50
PATIENCE = 60.0


class Daemon:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, *options: str) -> None:
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "leadline.commands", "--store", f"lake:{self.folder}/lake"),
                *("--set", f"paths.data={self.folder}/data", "--set", "worker.flush.timeout=0.1"),
                *(*options, "enrich", "--listen", f"127.0.0.1:{self.port}"),
            ],
            stderr=(self.folder / "log").open("ab"),
            start_new_session=True,
        )
        end = time.monotonic() + PATIENCE
        while self.get("/healthz") is None:
            assert self.process.poll() is None, self.log()
            assert time.monotonic() < end, "the worker does not answer"
            time.sleep(0.05)

    def get(self, path: str) -> dict[str, dict[str, int]] | None:
        return self._ask("GET", path, None)

    def send(self, first: int) -> bool:
        lines = b"\n".join(make_line(number) for number in range(first, first + BATCH))
        answer = self._ask("POST", "/api/v1/documents", gzip.compress(lines))
        return answer is not None and answer.get("accepted") == BATCH

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        assert self.process is not None
        self.process.terminate()
        return self.process.wait(PATIENCE)

    def settle(self) -> dict[str, int]:
        """
        The counters once everything has been delivered.
        """
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            status = self.get("/api/v1/status")
            if status is not None and status["counters"]["pending"] == 0:
                return status["counters"]
            time.sleep(0.1)
        raise AssertionError("still pending")

    def stored(self) -> Counter[str]:
        store = open_store(f"lake:{self.folder}/lake")
        found: Counter[str] = Counter()
        for batch in store.scan("process", EVERYTHING):
            found.update(str(document["process.entity_id"]) for document in batch)
        store.close()
        return found

    def log(self) -> str:
        return (self.folder / "log").read_text()

    def close(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self._end(signal.SIGKILL)

    def _end(self, number: int) -> None:
        assert self.process is not None
        os.killpg(self.process.pid, number)  # the watching process and the working one
        self.process.wait()

    def _ask(self, method: str, path: str, body: bytes | None) -> dict[str, dict[str, int]] | None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        headers = {"Content-Encoding": "gzip"} if body else {}
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            data = answer.read()
            return orjson.loads(data) if answer.status == 200 else None  # type: ignore[no-any-return]
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    worker = Daemon(tmp_path)
    yield worker
    worker.close()


def entities(firsts: list[int]) -> set[str]:
    return {f"{number}-1" for first in firsts for number in range(first, first + BATCH)}


def test_killed_worker_loses_and_doubles_nothing(daemon: Daemon) -> None:
    """
    kill -9 while batches come in: what was acknowledged is stored once, and the books balance.
    """
    sent: list[int] = []
    acknowledged: list[int] = []
    for number in range(3):
        daemon.start()
        ending = threading.Timer(0.3 + 0.2 * number, daemon.kill)
        ending.start()
        while ending.is_alive():
            sent.append(len(sent) * BATCH)
            if daemon.send(sent[-1]):
                acknowledged.append(sent[-1])
        ending.join()
    daemon.start()
    assert daemon.send(sent[-1])  # a shipper that got no answer sends again
    counters = daemon.settle()
    stored = daemon.stored()
    assert acknowledged
    assert {1} == set(stored.values())
    assert entities(acknowledged) <= set(stored) <= entities(sent)
    assert counters["read"] == sum(counters.values()) - counters["read"]
    assert counters["stored"] + counters["duplicate"] == counters["read"]


def test_stopped_worker_delivers_what_waits(daemon: Daemon) -> None:
    """
    SIGTERM: what was acknowledged a moment ago is in the store when the process has ended.
    """
    daemon.start("--set", "worker.flush.timeout=30")
    assert daemon.send(0)
    assert 0 == daemon.stop()
    assert entities([0]) == set(daemon.stored())


def test_store_that_is_gone_keeps_documents_waiting(daemon: Daemon) -> None:
    """
    A store nobody can write holds documents in the spool; when it is back they go on.
    """
    lake = daemon.folder / "lake"
    lake.mkdir()
    (lake / "process").write_text("in the way")
    daemon.start("--set", "worker.backoff.max=0.2")
    assert daemon.send(0)
    end = time.monotonic() + PATIENCE
    while "wait" not in daemon.log() and time.monotonic() < end:
        time.sleep(0.05)
    status = daemon.get("/api/v1/status")
    assert status is not None
    assert BATCH == status["counters"]["pending"]
    assert "wait" in str(status["delivery"]["problem"])
    (lake / "process").unlink()
    assert BATCH == daemon.settle()["stored"]


def test_worker_forwards_to_a_worker(tmp_path: Path) -> None:
    """
    A worker at the cluster's edge hands on what it took; the next one stores it.
    """
    for name in ("inner", "outer"):
        (tmp_path / name).mkdir()
    inner, outer = Daemon(tmp_path / "inner"), Daemon(tmp_path / "outer")
    try:
        inner.start()
        outer.start("--set", f"worker.forward.endpoint=http://127.0.0.1:{inner.port}")
        assert outer.send(0)
        assert BATCH == outer.settle()["stored"]
        assert BATCH == inner.settle()["stored"]
        assert entities([0]) == set(inner.stored())
    finally:
        outer.close()
        inner.close()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--set", "enrich.steps=magic"), "enrich.steps: 'magic' is none of"),
        (("--set", "clusters.fox.token=short"), "use 16 or more"),
        (("--set", "enrich.rules=/nowhere.csv"), "/nowhere.csv"),
        (("--set", "worker.bulk_max_sise=1"), "did you mean bulk_max_size"),
    ],
)
def test_wrong_settings_are_one_line(
    tmp_path: Path, options: tuple[str, ...], expected: str
) -> None:
    """
    A worker that cannot work says why in one line and ends, before it listens.
    """
    place = ("--set", f"paths.data={tmp_path}")
    words = [sys.executable, "-m", "leadline.commands", *place, *options, "enrich"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert 2 == done.returncode
    assert expected in done.stderr
    assert 1 == done.stderr.count("\n")


def test_taken_port_and_open_door_are_refused(tmp_path: Path) -> None:
    """
    A port somebody has, and a worker anybody could send to, are told in one line each.
    """
    place = ("--set", f"paths.data={tmp_path}")
    command = [sys.executable, "-m", "leadline.commands", *place, "enrich", "--listen"]
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        for listen, expected in (
            (f"127.0.0.1:{taken.getsockname()[1]}", "already in use"),
            ("0.0.0.0:1", "no cluster has a token"),
        ):
            done = subprocess.run(
                [*command, listen], capture_output=True, text=True, timeout=PATIENCE, check=False
            )
            assert (2, 1) == (done.returncode, done.stderr.count("\n"))
            assert expected in done.stderr
