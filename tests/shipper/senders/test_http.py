"""
The sink `http`: what counts as taken, as refused, as later, and as a case for a person.
"""

import socket
import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from leadline.errors import SettingsError
from leadline.settings import Duration
from shipper.senders.http import HttpSink, tls_context
from shipper.senders.settings import ShipSettings, TlsSettings
from shipper.senders.sink import NotNow, Paused, Refused
from tests.needs import lacking
from tests.shipper.senders.worker import Answer, Worker

Start = Callable[..., Worker]
LINES = b'{"a":1}\n{"b":2}\n'


def sink_for(*urls: str, **more: object) -> HttpSink:
    return HttpSink(ShipSettings(endpoints=urls, timeout=Duration(2), **more), "n1")  # type: ignore[arg-type]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_batch_arrives_as_gzip_ndjson_with_the_token(worker: Start) -> None:
    """
    One POST to the documents' address, compressed, with who we are.
    """
    there = worker()
    sink_for(there.url + "/", token="secret").send(LINES, 2)
    assert [b'{"a":1}', b'{"b":2}'] == there.taken
    assert there.paths == ["/api/v1/documents"]
    sent = there.requests[0]
    assert sent["Authorization"] == "Bearer secret"
    assert sent["Content-Encoding"] == "gzip"
    assert sent["Content-Type"] == "application/x-ndjson"


def test_level_zero_sends_plain_lines(worker: Start) -> None:
    """
    Without compression the body is the lines themselves.
    """
    there = worker()
    sink_for(there.url, compression_level=0).send(LINES, 2)
    assert "Content-Encoding" not in there.requests[0]
    assert len(there.taken) == 2


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        ((400, b'{"error": "line 1: not JSON"}'), Refused, "400 Bad Request: line 1: not JSON"),
        ((413, b""), Refused, "413 "),
        ((401, b'{"error": "unknown token"}'), Paused, "401 Unauthorized: unknown token"),
        ((403, b"no"), Paused, "403 Forbidden: no"),
        ((404, b"<html>\nno\tpage</html>"), Paused, "404 Not Found: <html> no page</html>"),
        ((301, b""), Paused, "301 Moved Permanently"),
        ((429, b""), NotNow, "429 Too Many Requests"),
        ((500, b"\xff\xfe"), NotNow, "500 Internal Server Error"),
        ((503, b""), NotNow, "503 Service Unavailable"),
        ((200, b"<html>Please log in</html>"), NotNow, "not as a leadline worker"),
        ((200, b""), NotNow, "not as a leadline worker"),
        ((200, b"[]"), NotNow, "not as a leadline worker"),
        ((200, b'{"accepted": "all"}'), NotNow, "not as a leadline worker"),
        ((204, b""), NotNow, "not as a leadline worker"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", NotNow, "no proper answer"),
        (b"", NotNow, "no proper answer"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", NotNow, "no proper answer"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200, NotNow, "no proper answer"),
    ],
)
def test_answers_are_judged(
    worker: Start, answer: Answer, kind: type[Exception], words: str
) -> None:
    """
    Only a worker's own receipt counts as taken; each other answer has one meaning and one line.
    """
    there = worker(lambda lines: answer)
    with pytest.raises(kind) as caught:
        sink_for(there.url).send(LINES, 2)
    assert words in str(caught.value)
    assert there.url in str(caught.value)
    assert "\n" not in str(caught.value)


def test_endless_answer_is_cut(worker: Start) -> None:
    """
    A megabyte of rubbish costs 64 KiB here, and the connection.
    """
    there = worker(lambda lines: (200, b"x" * 1_000_000))
    with pytest.raises(NotNow, match="not as a leadline worker"):
        sink_for(there.url).send(LINES, 2)


def test_worker_may_say_when_to_come_back(worker: Start) -> None:
    """
    Retry-After is handed on.
    """
    there = worker(lambda lines: (429, b"", {"Retry-After": "17"}))
    with pytest.raises(NotNow) as caught:
        sink_for(there.url).send(LINES, 2)
    assert caught.value.retry_after == 17


def test_nobody_there_is_for_later() -> None:
    """
    A refused connection names the endpoint and is tried again.
    """
    url = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(NotNow, match=f"{url}: Connection refused"):
        sink_for(url).send(LINES, 2)


def test_silence_is_for_later() -> None:
    """
    A worker that accepts and never answers is given up after the timeout.
    """
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        sink = HttpSink(ShipSettings(endpoints=(url,), timeout=Duration(0.1)), "n1")
        with pytest.raises(NotNow, match="no answer in time"):
            sink.send(LINES, 2)


def test_next_endpoint_takes_over_and_the_first_comes_back(worker: Start) -> None:
    """
    With the first endpoint down the second gets the batch at once; later the first is asked again.
    """
    now = [0.0]
    first, second = worker(lambda lines: (503, b"")), worker()
    settings = ShipSettings(endpoints=(first.url, second.url))
    sink = HttpSink(settings, "n1", clock=lambda: now[0])
    sink.send(LINES, 2)
    sink.send(LINES, 2)
    assert len(first.requests) == 1
    assert len(second.taken) == 4
    first.answer = lambda lines: None
    now[0] = 601.0
    sink.send(LINES, 2)
    assert len(first.taken) == 2


def test_all_endpoints_down_is_told_once(worker: Start) -> None:
    """
    When nobody takes it, later beats never: one endpoint without right does not pause the others.
    """
    one, two = worker(lambda lines: (403, b"")), worker(lambda lines: (503, b""))
    with pytest.raises(NotNow, match="503"):
        sink_for(one.url, two.url).send(LINES, 2)


def test_loadbalance_spreads_hosts_over_endpoints() -> None:
    """
    Hosts begin at different endpoints, the same host always at the same.
    """
    urls = tuple(f"http://w{n}:8460" for n in range(4))
    settings = ShipSettings(endpoints=urls, loadbalance=True)
    begun = [HttpSink(settings, f"node{n:03d}").target for n in range(200)]
    assert set(urls) == set(begun)
    assert begun == [HttpSink(settings, f"node{n:03d}").target for n in range(200)]


def test_connection_is_kept_and_a_stale_one_is_no_failure(worker: Start) -> None:
    """
    A worker that closes idle connections costs a reconnect, not a failed batch.
    """
    there = worker()
    sink = sink_for(there.url)
    sink.send(LINES, 2)
    assert sink._connection is not None
    sink._connection.socket.shutdown(socket.SHUT_RDWR)
    sink.send(LINES, 2)
    assert len(there.taken) == 4


def test_token_file_may_be_replaced(worker: Start, tmp_path: Path) -> None:
    """
    The token is read again for each batch; a missing or empty file pauses with its name.
    """
    there, file = worker(), tmp_path / "token"
    sink = sink_for(there.url, token_file=file)
    with pytest.raises(Paused, match="No such file"):
        sink.send(LINES, 2)
    for broken in (b"", b"a\nb", b"\xff"):
        file.write_bytes(broken)
        with pytest.raises(Paused, match="holds no token"):
            sink.send(LINES, 2)
    for token in ("one", "two"):
        file.write_text(token + "\n")
        sink.send(LINES, 2)
    assert ["Bearer one", "Bearer two"] == [r["Authorization"] for r in there.requests]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """
    An authority, a server's and a client's certificate, made with openssl.
    """
    folder = tmp_path_factory.mktemp("tls")
    make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    make += ["-nodes", "-days", "2"]
    names = ["-addext", "subjectAltName=IP:127.0.0.1"]
    for name, more in (("ca", []), ("server", names), ("client", []), ("stranger", names)):
        signed = ["-CA", "ca.pem", "-CAkey", "ca.key"] if name in ("server", "client") else []
        words = [*make, *more, *signed, "-subj", f"/CN={name}", "-keyout", f"{name}.key"]
        done = subprocess.run([*words, "-out", f"{name}.pem"], cwd=folder, capture_output=True)
        if done.returncode:
            lacking(f"openssl cannot make certificates here: {done.stderr.decode()[-200:]}")
    return folder


def server_tls(folder: Path, name: str) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / f"{name}.pem", folder / f"{name}.key")
    context.load_verify_locations(folder / "ca.pem")
    context.verify_mode = ssl.CERT_REQUIRED
    return context


def test_tls_with_authority_and_client_certificate(worker: Start, authority: Path) -> None:
    """
    Both sides show certificates of the same authority, and the batch goes through.
    """
    there = worker(tls=server_tls(authority, "server"))
    tls = TlsSettings(
        certificate_authorities=(authority / "ca.pem",),
        certificate=authority / "client.pem",
        key=authority / "client.key",
    )
    sink_for(there.url, ssl=tls).send(LINES, 2)
    assert len(there.taken) == 2


def test_worker_of_another_authority_gets_nothing(worker: Start, authority: Path) -> None:
    """
    A certificate that nobody vouches for ends the talk before a document is sent.
    """
    there = worker(tls=server_tls(authority, "stranger"))
    tls = TlsSettings(certificate_authorities=(authority / "ca.pem",))
    with pytest.raises(NotNow, match="certificate not trusted"):
        sink_for(there.url, ssl=tls).send(LINES, 2)
    assert there.requests == []


def test_own_authorities_are_the_only_ones(authority: Path) -> None:
    """
    Who names an authority trusts nobody else: not those the system brings along either.
    """
    mine = tls_context(TlsSettings(certificate_authorities=(authority / "ca.pem",)))
    assert ["ca"] == [ca["subject"][0][0][1] for ca in mine.get_ca_certs()]
    assert mine.check_hostname
    assert mine.verify_mode == ssl.CERT_REQUIRED
    assert mine.minimum_version >= ssl.TLSVersion.TLSv1_2


def test_unusable_certificate_is_a_settings_error(tmp_path: Path) -> None:
    """
    A wrong path is told at the start with the file's name.
    """
    tls = TlsSettings(certificate_authorities=(tmp_path / "none.pem",))
    with pytest.raises(SettingsError, match=r"none\.pem: cannot be used: No such file"):
        sink_for("https://127.0.0.1:1", ssl=tls)
