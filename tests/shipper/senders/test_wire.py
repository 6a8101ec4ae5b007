"""
The wire: what counts as an answer in HTTP, and what a worker that misbehaves costs.
"""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shipper.senders.wire import BODY_LIMIT, Answer, Connection, WireError

Talk = Callable[[socket.socket], None]


@contextmanager
def server(talk: Talk) -> Iterator[str]:
    """
    Somebody who says on one connection what TALK says.
    """
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with listening.accept()[0] as peer:
                talk(peer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        thread.join(5)


def request(peer: socket.socket) -> bytes:
    got = b""
    while not got.endswith(b"BODY"):
        got += peer.recv(65536)
    return got


def answers(said: bytes, timeout: float = 2.0) -> tuple[Answer, bool]:
    """
    What is made of SAID, and whether the connection may be used again.
    """

    def talk(peer: socket.socket) -> None:
        request(peer)
        peer.sendall(said)

    with server(talk) as address:
        connection = Connection(address, timeout, None)
        try:
            return connection.post("/", b"BODY", {}), connection.is_open
        finally:
            connection.close()


@pytest.mark.parametrize(
    ("said", "status", "body", "is_open"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, b"ok", True),
        (b"HTTP/1.1 200\nContent-Length: 2\n\nok", 200, b"ok", True),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, b"ok", False),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", 200, b"ok", False),
        (b"HTTP/1.1 200 OK\r\n\r\nall there is", 200, b"all there is", False),
        (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b"", True),
        (
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
            200,
            b"x",
            True,
        ),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n"
            b"3;a=b\r\nabc\r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n",
            200,
            b"abc0123456789",
            True,
        ),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok and more", 200, b"ok", False),
    ],
)
def test_answers_of_every_length(said: bytes, status: int, body: bytes, is_open: bool) -> None:
    """
    Counted, in chunks, up to the end: the body is whole, and the connection kept where it may be.
    """
    answer, still = answers(said)
    assert (status, body, is_open) == (answer.status, answer.body, still)


@pytest.mark.parametrize(
    "length", [b"Content-Length: 10000000\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n989680\r\n"]
)
def test_endless_bodies_are_cut(length: bytes) -> None:
    """
    Of ten megabytes 64 KiB are read, and the connection is given up.
    """
    answer, is_open = answers(b"HTTP/1.1 200 OK\r\n" + length + b"x" * 100_000)
    assert (BODY_LIMIT, False) == (len(answer.body), is_open)


def test_time_out_holds_for_the_whole_answer() -> None:
    """
    A worker that sends a byte now and then does not hold the sender for ever.
    """
    gave_up = threading.Event()

    def drip(peer: socket.socket) -> None:
        request(peer)
        while not gave_up.wait(0.02):
            peer.sendall(b"H")

    with server(drip) as address:
        connection = Connection(address, 0.2, None)
        begun = time.monotonic()
        with pytest.raises(TimeoutError):
            connection.post("/", b"BODY", {})
        assert time.monotonic() - begun < 15
        gave_up.set()
        connection.close()


def test_answer_that_comes_before_the_batch_is_sent_is_heard() -> None:
    """
    Too large, says the worker, and hangs up: its answer counts, not the broken pipe.
    """

    def hang_up(peer: socket.socket) -> None:
        peer.recv(100)
        peer.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        peer.shutdown(socket.SHUT_WR)
        while peer.recv(1 << 20):
            pass

    with server(hang_up) as address:
        connection = Connection(address, 5.0, None)
        answer = connection.post("/", b"x" * 3_000_000, {})
        assert (413, "Too Large") == (answer.status, answer.phrase)
        connection.close()


@given(st.binary(max_size=300) | st.binary(max_size=80).map(lambda b: b"HTTP/1.1 200 OK\r\n" + b))
def test_any_bytes_are_an_answer_or_no_answer(said: bytes) -> None:
    """
    Whatever comes, it is an answer or a WireError, and nothing else.
    """
    near, far = socket.socketpair()
    far.sendall(said)
    far.shutdown(socket.SHUT_WR)
    connection = Connection.__new__(Connection)
    connection.socket, connection.is_open = near, True
    connection._timeout, connection._host, connection._got = 1.0, "h", bytearray()
    try:
        assert 200 <= connection.post("/", b"", {}).status <= 999
    except WireError:
        pass
    finally:
        connection.close()
        far.close()
