"""The import: what is sent, and that an answer of 200 is not taken for a success."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from click.testing import CliRunner, Result

from kibana.build import objects
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


def setup(product: Product, *options: str) -> Result:
    url = f"http://127.0.0.1:{product.server_address[1]}"
    return CliRunner().invoke(cli, ["--store", "memory", "setup", "--dashboards", url, *options])


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
