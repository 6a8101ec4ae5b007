"""The import: what is sent, and that an answer of 200 is not taken for a success."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from kibana.build import objects
from kibana.thresholds import tables
from leadline.commands import cli


class Product(ThreadingHTTPServer):
    """
    A scripted server in the place of the products, which are not to be had for tests.
    """

    status = 200
    answer: object = None
    path = ""
    body = b""
    headers: dict[str, str]
    token = ""  # what the pages want


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server: Any = self.server
        server.path = self.path
        server.headers = {name.lower(): value for name, value in self.headers.items()}
        server.body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(server.status)
        self.end_headers()
        self.wfile.write(json.dumps(server.answer).encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def product() -> Iterator[Product]:
    server = Product(("127.0.0.1", 0), Handler)
    server.answer = {"success": True, "successCount": len(objects())}
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def setup(product: Product, *options: str, settings: tuple[str, ...] = ()) -> Result:
    url = f"http://127.0.0.1:{product.server_address[1]}"
    common = ["--store", "memory", *(word for one in settings for word in ("--set", one))]
    return CliRunner().invoke(cli, [*common, "setup", "--dashboards", url, *options])


def test_whole_file_is_sent_with_both_headers(product: Product) -> None:
    """
    One multipart file named .ndjson, overwrite on, the headers that each product wants.
    """
    done = setup(product, "--tenant", "global")
    assert 0 == done.exit_code, done.output
    assert f"{len(objects())} saved objects" in done.output
    assert product.path.endswith("/api/saved_objects/_import?overwrite=true")
    assert ("true", "true") == (product.headers["osd-xsrf"], product.headers["kbn-xsrf"])
    assert "global" == product.headers["securitytenant"]
    assert b'filename="leadline.ndjson"' in product.body
    lines = [line for line in product.body.splitlines() if line.startswith(b'{"type"')]
    assert len(objects()) == len(lines)


def test_space_goes_into_the_path(product: Product) -> None:
    """
    Kibana keeps a space's objects below /s/<space>.
    """
    assert 0 == setup(product, "--space", "hpc").exit_code
    assert product.path.startswith("/s/hpc/api/")


def test_200_with_errors_is_a_failure(product: Product) -> None:
    """
    A product that refused an object answers 200 as well; its errors are read and told.
    """
    refused = {"id": "leadline-jobs", "type": "dashboard", "error": {"type": "conflict"}}
    product.answer = {"success": False, "successCount": 3, "errors": [refused]}
    done = setup(product)
    assert 1 == done.exit_code
    assert "dashboard/leadline-jobs conflict" in str(done.exception)


@pytest.mark.parametrize(("status", "answer"), [(400, {"message": "xsrf"}), (200, ["hello"])])
def test_other_answers_are_one_clear_line(product: Product, status: int, answer: object) -> None:
    """
    A refusal or a stranger on that port is named, not traced.
    """
    product.status, product.answer = status, answer
    done = setup(product)
    assert 1 == done.exit_code
    assert "http://127.0.0.1" in str(done.exception)
    assert "\n" not in str(done.exception)


GRANT = {"project": "chem", "resource": "core", "hours_per_day": 10.0}
GRANT |= {"from": "2026-04-01T00:00:00.000Z", "to": "2099-04-01T00:00:00.000Z"}
CONSTANTS = {
    "grants": [
        GRANT,
        {**GRANT, "hours_per_day": 5.0},
        {**GRANT, "to": "2026-05-01T00:00:00.000Z", "project": "over"},
        {**GRANT, "project": None},
        {**GRANT, "resource": "gpu", "project": "ml", "hours_per_day": 2.0},
    ],
    "limits": {"busy_share": 0.7, "hog_share": 0.3, "hog_hours": 1},
}


class Pages(Handler):
    """
    In the place of leadline's own pages.
    """

    def do_GET(self) -> None:
        assert self.path == "/api/v1/constants"
        wanted = self.server.token  # type: ignore[attr-defined]
        if wanted and self.headers["Authorization"] != f"Bearer {wanted}":
            self.send_error(401)
            return
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(CONSTANTS).encode())


def test_grants_of_the_pages_are_drawn(product: Product) -> None:
    """
    The import brings along what the constants say now: no panel fetches from elsewhere.
    """
    product.RequestHandlerClass = Pages
    pages = f"http://127.0.0.1:{product.server_address[1]}"
    done = setup(product, "--constants", pages)
    assert done.exit_code == 0, done.output
    sent = {}
    for line in product.body.splitlines():
        if line.startswith(b'{"type":"visualization"'):
            one = json.loads(line)
            state = json.loads(one["attributes"]["visState"])
            if state["type"] == "vega":
                sent[one["id"]] = json.loads(state["params"]["spec"])["data"][0]
    core = [{"project": "chem", "hours_per_day": 15.0}]
    assert sent["leadline-granted"] == {"name": "core hours", "values": core}
    gpu = [{"project": "ml", "hours_per_day": 2.0}]
    assert sent["leadline-granted-gpu"] == {"name": "GPU hours", "values": gpu}
    assert sent["leadline-hogs"]["values"] == [{"busy_share": 0.7, "hog_share": 0.3}]


@pytest.mark.parametrize("address", ["ftp://x", "http://127.0.0.1:1"])
def test_constants_that_cannot_be_had_stop_the_import(product: Product, address: str) -> None:
    """
    An import without the thresholds that were asked for is none.
    """
    done = setup(product, "--constants", address)
    assert address in str(done.exception)
    assert product.body == b""


def test_guarded_constants_want_a_token(product: Product, tmp_path: Path) -> None:
    """
    A token that is named is shown to the pages that are named; the secret of this machine's own
    pages to these alone.
    """
    product.RequestHandlerClass, product.token = Pages, "only-for-the-metrics"
    pages = f"127.0.0.1:{product.server_address[1]}"
    file = tmp_path / "state" / "web.token"
    file.parent.mkdir()
    file.write_text("only-for-the-metrics\n")
    data = f"paths.data={tmp_path}"

    def asked(*options: str, listen: str) -> Result:
        settings = (data, f"web.listen={listen}")
        return setup(product, "--constants", f"http://{pages}", *options, settings=settings)

    refused = asked(listen="127.0.0.1:1")
    assert "answers 401" in str(refused.exception)
    assert "--token-file" in str(refused.exception)
    assert product.body == b""
    assert asked("--token-file", str(file), listen="127.0.0.1:1").exit_code == 0
    assert asked(listen=pages).exit_code == 0


def test_thresholds_hold_while_the_grant_does() -> None:
    """
    Before its first day a grant is no threshold.
    """
    before = datetime(2026, 3, 31, tzinfo=UTC)
    assert tables(CONSTANTS, before)["core hours"] == []
