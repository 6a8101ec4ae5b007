"""`leadline status` asks the daemons, and says what is wrong with an exit code."""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from leadline.alerts.ledger import Ledger
from leadline.commands import cli
from leadline.commands.status import ask
from leadline.formats.times import from_epoch
from leadline.store.lake import LakeStore
from shipper.senders.sender import State
from shipper.senders.settings import TlsSettings
from shipper.status import Status, Totals, Waiting, write_status
from tests.reports.test_condition import alert
from tests.shipper.senders.test_http import authority as authority

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
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def status(
    tmp_path: Path,
    server: Worker,
    *options: str,
    token: str = "t0ken",
    settings: tuple[str, ...] = ("web.listen=127.0.0.1:9",),
) -> Result:
    file = tmp_path / "token"
    file.write_text(token)
    address = f"http://127.0.0.1:{server.server_address[1]}"
    chosen = [word for one in settings for word in ("--set", one)]
    common = ["--set", f"paths.data={tmp_path}", *chosen, "status", "--worker", address]
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


def ran(folder: Path, **more: object) -> None:
    """
    The status a shipper has left.
    """
    values: dict[str, object] = {
        "time": time.time(), "started": 1e9, "pid": 1, "host": "n1", "interval": 60.0,
        "totals": Totals(read=1234, sent=1200, dropped_by_rule=3),
        "waiting": Waiting(34, 999, 2.0), "reported": Totals(), "confessed": Totals(),
        "sink": State("idle", target="http://w:8460"),
    }  # fmt: skip
    state = folder / "state" / "shipper"
    state.mkdir(parents=True)
    write_status(state, Status(**{**values, **more}))  # type: ignore[arg-type]


def test_the_shippers_counters_are_shown(tmp_path: Path, worker: Worker) -> None:
    """
    What was read, sent, refused, dropped and waits, by name, and how late it is.
    """
    ran(tmp_path)
    done = status(tmp_path, worker)
    assert 0 == done.exit_code, done.output
    assert (
        "read 1,234, sent 1,200, refused 0, dropped by rule 3, dropped by bound 0, not accepted 0,"
        " pending 34"
    ) in done.output
    assert "idle to http://w:8460, lag 2 s" in done.output


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"time": 1e9}, "no look since 2001-09-09"),
        ({"sink": State("paused", "401 Unauthorized", 1e9)}, "paused since 2001-09-09"),
        ({"clock_ahead": 7200.0}, "the clock is 7200 s ahead of the worker's"),
        ({"clock_ahead": -90.0}, "the clock is 90 s behind the worker's"),
        ({"problem": "disk full"}, "disk full"),
    ],
)
def test_a_shipper_in_trouble_ends_with_1(
    tmp_path: Path, worker: Worker, more: dict[str, object], words: str
) -> None:
    """
    No looks, nothing taken, a wrong clock: one line each, whatever the worker says.
    """
    ran(tmp_path, **more)
    done = status(tmp_path, worker)
    assert 1 == done.exit_code
    assert f"shipper of this machine: {words}" in done.output


@pytest.mark.parametrize("setting", ["token=t0ken", "token_file={folder}/tokens"])
def test_a_clusters_token_is_found(tmp_path: Path, worker: Worker, setting: str) -> None:
    """
    Where only the clusters have tokens, as on a worker's machine, one of them asks.
    """
    (tmp_path / "tokens").write_text("t0ken c1-7\nanother\n")
    values = [f"paths.data={tmp_path}", f"clusters.fox.{setting.format(folder=tmp_path)}"]
    options = [word for value in values for word in ("--set", value)]
    address = f"http://127.0.0.1:{worker.server_address[1]}"
    done = CliRunner().invoke(cli, [*options, "status", "--worker", address])
    assert 0 == done.exit_code, done.output


def answering(alerts: list[dict[str, object]]) -> dict[str, object]:
    """
    What the pages say of alerts, one complaint, and a shipper that no worker has heard.
    """
    notice = {"cluster": "fox", "host": "c1-8", "about": "nvidia", "times": 3, "last": "now"}
    shipper = {"cluster": "fox", "host": "c1-8", "seen": "2026-11-21T04:00:00.000Z"}
    shipper |= {"lag": None, "pending": None, "dropped": 0, "version": "0.1.0"}
    return {
        "alerts": alerts,
        "notices": [{**notice, "text": "collector nvidia on c1-8: broken"}],
        "shippers": [shipper],
    }


def test_alerts_complaints_and_silent_shippers_come_from_the_pages(
    tmp_path: Path, worker: Worker
) -> None:
    """
    Remote over the API: what fires, what collectors complain of, shippers no worker has heard.
    """
    alert = {"severity": "critical", "cluster": "fox", "rule": "disk-full", "since": "now"}
    worker.answer = {**WELL, **answering([{**alert, "text": "c1 / is full"}])}
    address = f"http://127.0.0.1:{worker.server_address[1]}"
    done = status(
        tmp_path, worker, "--pages", address, "--format", "json",
        settings=(f"client.token_file={tmp_path}/token",),
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert ["disk-full"] == [row["rule"] for row in told["alerts"]]
    assert ["nvidia"] == [row["about"] for row in told["notices"]]
    assert ["c1-7", "c1-8"] == [row["host"] for row in told["shippers"]]
    shown = status(
        tmp_path, worker, "--pages", address, settings=(f"client.token_file={tmp_path}/token",)
    )
    for text in ("1 firing", "c1 / is full", "collector nvidia on c1-8: broken", "c1-8"):
        assert text in shown.output


def test_several_workers_are_asked(tmp_path: Path, worker: Worker) -> None:
    """
    One that is away is a problem by its address; what the others heard is shown.
    """
    done = status(tmp_path, worker, "--worker", "http://127.0.0.1:9", "--format", "json")
    told = json.loads(done.stdout)
    assert 1 == done.exit_code
    assert [False, True] == ["error" in one for one in told["workers"]]
    assert told["problems"][0].startswith("worker http://127.0.0.1:9 does not answer")
    assert ["c1-7"] == [row["host"] for row in told["shippers"]]


def test_without_pages_the_store_at_hand_tells(tmp_path: Path, worker: Worker) -> None:
    """
    On the machine that has the lake; elsewhere it says that alerts are not known, and why.
    """
    assert "alerts   not known: http" in status(tmp_path, worker).output
    store = LakeStore(tmp_path / "lake")
    store.write([alert(5, "hog") | {"@timestamp": from_epoch(time.time())}], "create")
    store.close()
    assert "alerts   1 firing" in status(tmp_path, worker).output


def test_messages_nobody_takes_are_a_problem(tmp_path: Path, worker: Worker) -> None:
    """
    An alert that reaches nobody is none.
    """
    ledger = Ledger(tmp_path / "state" / "alerts")
    ledger.do("INSERT INTO outbox (id, state, attempts) VALUES ('x', 'refused', 1)")
    ledger.close()
    done = status(tmp_path, worker)
    assert 1 == done.exit_code
    assert "1 alert messages cannot be handed over" in done.output


def test_a_worker_is_trusted_as_the_shipper_trusts_it(worker: Worker, authority: Path) -> None:
    """
    The site's own authority vouches for the worker; without it, nobody does.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority / "server.pem", authority / "server.key")
    worker.socket = context.wrap_socket(worker.socket, server_side=True)
    address = f"https://127.0.0.1:{worker.server_address[1]}"
    trusted = TlsSettings(certificate_authorities=(authority / "ca.pem",))
    assert WELL == ask(address, "t0ken", trusted)
    assert "certificate verify failed" in ask(address, "t0ken", TlsSettings())["error"]
