"""
What the daemon itself holds: `leadline ship` that looks at a crowd of sleeping processes and hands
them to a worker, over HTTP as over HTTPS, for some ticks.

    python bench/daemon.py 4000
"""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory

SHIP = "from leadline.commands import main; main()"
PATIENCE = 180.0  # seconds a machine under load may take
KEY = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
NAME = ["-subj", "/CN=worker", "-addext", "subjectAltName=IP:127.0.0.1"]


@contextmanager
def sleepers(count: int) -> Iterator[None]:
    """
    Processes with a command line of their own that use nothing.
    """
    words = ["sh", "-c", "read line; :"]
    made = [
        subprocess.Popen([*words, f"sleeper-{n}", f"--part={n * 7919}"], stdin=subprocess.PIPE)
        for n in range(count)
    ]
    try:
        yield
    finally:
        for one in made:
            one.kill()
        for one in made:
            one.communicate()


class Takes(BaseHTTPRequestHandler):
    """
    A worker that takes everything.
    """

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "15")
        self.end_headers()
        self.wfile.write(b'{"accepted": 1}')

    def log_message(self, *_: object) -> None: ...


@contextmanager
def worker(folder: Path, tls: bool) -> Iterator[dict[str, object]]:
    """
    The settings by which it is reached.
    """
    server = HTTPServer(("127.0.0.1", 0), Takes)
    settings: dict[str, object] = {}
    if tls:
        files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
        subprocess.run([*KEY, *NAME, *files], check=True, capture_output=True)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
        server.socket = context.wrap_socket(server.socket, server_side=True)
        settings["ship.ssl.certificate_authorities"] = folder / "cert.pem"
    scheme = "https" if tls else "http"
    settings["ship.endpoints"] = f"{scheme}://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield settings
    finally:
        server.shutdown()
        server.server_close()


def resident(ticks: int = 3, interval: float = 2.0, *, tls: bool = False) -> dict[str, float]:
    """
    The most a daemon had resident in TICKS ticks, and what it has after the last, in bytes.
    """
    with TemporaryDirectory(prefix="leadline-bench-") as name, worker(Path(name), tls) as reached:
        folder = Path(name)
        values = {**reached, "paths.data": folder, "ship.interval": f"{interval}s"}
        child = subprocess.Popen(
            [sys.executable, "-c", SHIP, *words(values), "ship"],
            env={**os.environ, "LEADLINE_CONFIG": name},
        )
        try:
            wait_for_ticks(folder, child, ticks)
            return memory(child.pid)
        finally:
            child.terminate()
            child.wait()


def words(values: dict[str, object]) -> Sequence[str]:
    return [word for name, value in values.items() for word in ("--set", f"{name}={value}")]


def wait_for_ticks(folder: Path, child: subprocess.Popen[bytes], ticks: int) -> None:
    """
    A tick ends with a new status, and its documents are sent; one more file time is one more tick.
    """
    status = folder / "state" / "shipper" / "status.json"
    until = time.monotonic() + PATIENCE
    seen: set[str] = set()
    sent = 0
    while len(seen) < ticks or not sent:
        if child.poll() is not None or time.monotonic() > until:
            raise SystemExit("leadline ship: ended, or made no ticks, or sent nothing")
        time.sleep(0.1)
        with suppress(OSError, json.JSONDecodeError):
            told = json.loads(status.read_bytes())
            seen.add(told["time"])
            sent = told["totals"]["sent"]


def memory(pid: int) -> dict[str, float]:
    found = {}
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        name, _, rest = line.partition(":")
        if name in ("VmRSS", "VmHWM"):
            found[name] = int(rest.split()[0]) * 1024.0
    return found


def main(count: int) -> None:
    with sleepers(count):
        for tls in (False, True):
            held = resident(tls=tls)
            print(
                f"{count} processes, {'HTTPS' if tls else 'HTTP'}: at most"
                f" {held['VmHWM'] / 1e6:.1f} MB, now {held['VmRSS'] / 1e6:.1f} MB"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 4000)
