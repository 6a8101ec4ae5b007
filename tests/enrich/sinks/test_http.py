"""Sink `http`: worker to worker, with everything that may be answered on the way."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import orjson
import pytest

from enrich.sinks.http import ForwardSettings, HttpSink
from leadline.errors import StoreError
from leadline.formats import Document
from tests.enrich.conftest import make_sample

Answer = tuple[int, object]


@dataclass
class NextWorker:
    """
    Answers by script, and takes everything when the script is over.
    """

    script: list[Answer] = field(default_factory=list)
    poison: str = ""  # a batch with this entity is refused
    taken: list[Document] = field(default_factory=list)
    tokens: list[str | None] = field(default_factory=list)
    endpoint: str = ""

    def answer(self, documents: list[Document], token: str | None) -> Answer:
        self.tokens.append(token)
        if self.script:
            return self.script.pop(0)
        if any(document["process.entity_id"] == self.poison for document in documents):
            return 422, {"error": "too far ahead", "code": "ahead"}
        self.taken += documents
        return 200, {"accepted": len(documents), "rejected": 0}


@pytest.fixture
def upstream() -> Iterator[NextWorker]:
    worker = NextWorker()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = gzip.decompress(self.rfile.read(int(self.headers["Content-Length"])))
            documents = [orjson.loads(line) for line in body.split(b"\n")]
            status, said = worker.answer(documents, self.headers["Authorization"])
            data = said if isinstance(said, bytes) else orjson.dumps(said)
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    worker.endpoint = f"http://127.0.0.1:{server.server_port}"
    yield worker
    server.shutdown()
    server.server_close()


SAMPLES = [make_sample(number) for number in range(8)]


def test_next_worker_gets_what_this_one_took(upstream: NextWorker, tmp_path: Path) -> None:
    """
    All documents, once, with the token of this worker.
    """
    (tmp_path / "token").write_text("a-token-of-workers\n")
    sink = HttpSink(ForwardSettings(upstream.endpoint, tmp_path / "token"))
    assert 8 == sink.write(SAMPLES, "create").accepted
    assert SAMPLES == upstream.taken
    assert ["Bearer a-token-of-workers"] == upstream.tokens
    assert sink.health().ok


@pytest.mark.parametrize(
    ("status", "said", "pause"),
    [
        (503, {"error": "full"}, True),
        (401, {"error": "no token"}, True),
        (403, {"error": "another cluster"}, True),
        (429, {"error": "slowly"}, False),
        (200, b"<html>a captive portal</html>", True),
    ],
)
def test_what_is_not_acknowledged_is_kept(
    upstream: NextWorker, status: int, said: object, pause: bool
) -> None:
    """
    Only a worker's receipt counts: anything else keeps every document for later.
    """
    upstream.script = [(status, said)]
    sink = HttpSink(ForwardSettings(upstream.endpoint))
    outcome = sink.write(SAMPLES, "create")
    assert (SAMPLES, pause) == (outcome.kept, outcome.pause)
    assert not sink.health().ok
    assert 8 == sink.write(outcome.kept, "create").accepted


def test_one_bad_document_is_told_from_the_others(upstream: NextWorker) -> None:
    """
    A batch that is refused for one document is halved until that one stands alone.
    """
    upstream.poison = "5-1"
    outcome = HttpSink(ForwardSettings(upstream.endpoint)).write(SAMPLES, "create")
    assert (7, 1) == (outcome.accepted, len(outcome.rejected))
    assert "too far ahead" in outcome.rejected[0][1]


def test_nobody_there_keeps_everything() -> None:
    """
    No connection is the network's fault, not the documents'.
    """
    outcome = HttpSink(ForwardSettings("http://127.0.0.1:1")).write(SAMPLES, "create")
    assert SAMPLES == outcome.kept
    assert "refused" in outcome.reason


def test_missing_token_file_pauses(upstream: NextWorker, tmp_path: Path) -> None:
    """
    A token that cannot be read is told by name; the delivery waits for it.
    """
    sink = HttpSink(ForwardSettings(upstream.endpoint, tmp_path / "nothing"))
    with pytest.raises(StoreError, match=r"forward\.token_file"):
        sink.write(SAMPLES, "create")
