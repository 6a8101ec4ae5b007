"""
A worker for tests: a real HTTP server on the loopback that answers as it is told.
"""

from __future__ import annotations

import gzip
import json
import ssl
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = tuple[int, bytes] | tuple[int, bytes, dict[str, str]] | bytes | None


class Worker:
    """
    Takes everything, unless `answer` (called with the lines) says otherwise: a status and a body;
    bytes: these and nothing else on the wire; None: as a good worker would.
    """

    def __init__(
        self,
        answer: Callable[[list[bytes]], Answer] = lambda lines: None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.answer = answer
        self.taken: list[bytes] = []
        self.requests: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(self))
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        if tls is not None:
            self.server.socket = tls.wrap_socket(
                self.server.socket, server_side=True, do_handshake_on_connect=False
            )
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        self.thread = threading.Thread(
            target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


def handler_of(worker: Worker) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 5

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            lines = body.splitlines()
            worker.requests.append(dict(self.headers))
            worker.paths.append(self.path)
            said = worker.answer(lines)
            if isinstance(said, bytes):
                self.wfile.write(said)
                self.close_connection = True
                return
            if said is None:
                worker.taken += lines
                said = 200, json.dumps({"accepted": len(lines)}).encode()
            status, answer, *more = said
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            for name, value in (more[0] if more else {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None: ...

    return Handler
