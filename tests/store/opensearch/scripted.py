"""
A server that pretends to be an engine: answers by script, and remembers what it was asked.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Asked:
    method: str
    path: str  # without its query
    query: str
    headers: dict[str, str]
    body: bytes

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.body.splitlines()]

    @property
    def ids(self) -> list[str]:
        return [next(iter(action.values()))["_id"] for action in self.lines[::2]]


Reply = tuple[int, Any]
Script = Callable[[Asked], Reply | None]  # None: the connection is cut


@dataclass
class Scripted:
    """
    `bulk` answers /_bulk, `others` everything else before the defaults do.
    """

    version: dict[str, str]
    bulk: Script
    others: Script
    asked: list[Asked] = field(default_factory=list)
    url: str = ""

    def answer(self, asked: Asked) -> Reply | None:
        self.asked.append(asked)
        if asked.path == "/_bulk":
            return self.bulk(asked)
        if (reply := self.others(asked)) != (0, None):
            return reply
        if asked.path == "/":
            return 200, {"version": self.version, "tagline": "You Know, for Search"}
        if asked.method == "HEAD":
            return (200 if asked.path.startswith("/_index_template") else 404), None
        return 200, {"acknowledged": True}

    def calls(self, method: str, start: str = "/") -> list[Asked]:
        return [a for a in self.asked if a.method == method and a.path.startswith(start)]


def nothing_special(asked: Asked) -> Reply:
    return 0, None


def stored(asked: Asked) -> Reply:
    return items(asked, {})


def items(asked: Asked, trouble: dict[int, tuple[int, str]]) -> Reply:
    """
    201 for every document but those at the given places: (status, error type).
    """
    found = []
    for place, action in enumerate(asked.lines[::2]):
        (name,) = action
        status, kind = trouble.get(place, (201, ""))
        result: dict[str, object] = {"status": status}
        if kind:
            result["error"] = {"type": kind, "reason": f"scripted {kind}"}
        found.append({name: result})
    return 200, {"errors": bool(trouble), "items": found}


OPENSEARCH = {"distribution": "opensearch", "number": "3.4.0"}
ELASTICSEARCH = {"number": "9.0.2", "build_flavor": "default"}


@contextmanager
def scripted(
    bulk: Script = stored, others: Script = nothing_special, version: dict[str, str] = OPENSEARCH
) -> Iterator[Scripted]:
    server = Scripted(version, bulk, others)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            path, _, query = self.path.partition("?")
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = server.answer(Asked(self.command, path, query, headers, body))
            if reply is None:
                self.close_connection = True
                return
            status, content = reply
            text = b"" if content is None else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json; charset=UTF-8")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(text)

        do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = handle_one  # noqa: N815

        def log_message(self, *_: object) -> None: ...

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, daemon=True)
    thread.start()
    server.url = f"http://127.0.0.1:{http.server_port}"
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()
