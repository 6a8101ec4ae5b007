"""`leadline status` asks the daemons, and says what is wrong with an exit code."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from leadline.commands import cli

WELL = {
    "version": "0.1.0",
    "uptime_seconds": 60,
    "counters": {"read": 10, "stored": 10, "pending": 0},
    "delivery": {"problem": "", "faults": 0},
    "store": {"store": "lake", "ok": True, "problems": [], "datasets": {}},
    "hosts": [
        {
            "cluster": "fox", "host": "c1-7", "last_seen": "2026-11-21T04:00:00.000Z",
            "shipper_lag_seconds": 0.0, "pending": 3, "dropped_by_bound": 0, "documents": 9,
            "agent_version": "0.1.0",
        }
    ],
}  # fmt: skip


class Worker(ThreadingHTTPServer):
    answer: dict[str, object] = WELL
    token = "t0ken"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, Worker)
        right = self.headers["Authorization"] == f"Bearer {server.token}"
        self.send_response(200 if right else 401)
        self.end_headers()
        self.wfile.write(json.dumps(server.answer).encode() if right else b"{}")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def worker() -> Iterator[Worker]:
    server = Worker(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def status(tmp_path: Path, server: Worker, *options: str, token: str = "t0ken") -> Result:
    file = tmp_path / "token"
    file.write_text(token)
    address = f"http://127.0.0.1:{server.server_address[1]}"
    common = ["--set", f"paths.data={tmp_path}", "status", "--worker", address]
    return CliRunner().invoke(cli, [*common, "--token-file", str(file), *options])


def test_healthy_worker_ends_with_0(tmp_path: Path, worker: Worker) -> None:
    """
    A worker that is well: its figures, its shippers, exit code 0.
    """
    done = status(tmp_path, worker)
    assert 0 == done.exit_code, done.output
    assert "c1-7" in done.output
    assert "silent" in done.output


def test_trouble_ends_with_1_and_its_reason(tmp_path: Path, worker: Worker) -> None:
    """
    A store at fault and documents dropped are problems that scripts can see.
    """
    worker.answer = {
        **WELL,
        "store": {"store": "lake", "ok": False, "problems": ["disk full"], "datasets": {}},
        "hosts": [{**WELL["hosts"][0], "dropped_by_bound": 7}],  # type: ignore[index]
    }
    done = status(tmp_path, worker, "--format", "json")
    assert 1 == done.exit_code
    problems = json.loads(done.stdout)["problems"]
    assert ["store: disk full", "c1-7: 7 documents dropped by bound"] == problems


def test_wrong_token_says_what_to_do(tmp_path: Path, worker: Worker) -> None:
    """
    A refused token is not a crash but one line with the way out.
    """
    done = status(tmp_path, worker, token="wrong")
    assert 1 == done.exit_code
    assert "--token-file" in done.output


def test_nobody_there_says_how_to_start_it(tmp_path: Path, worker: Worker) -> None:
    """
    No worker on that port: which address, and the command that starts one.
    """
    common = ["--set", f"paths.data={tmp_path}", "status", "--worker", "http://127.0.0.1:9"]
    done = CliRunner().invoke(cli, common)
    assert 1 == done.exit_code
    assert "`leadline up`" in done.output
