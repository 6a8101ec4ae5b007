"""The receiver: a batch is judged whole, made safe, and only then acknowledged."""

from __future__ import annotations

import gzip
from pathlib import Path

import orjson
import pytest
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from enrich.app import create_app
from enrich.grants import Grant, Grants
from enrich.receiver import Receiver, RefusedError, unpack
from enrich.rules import Rules
from enrich.seen import Seen
from enrich.settings import DiskSettings, QueueSettings, WorkerSettings
from enrich.step import Context
from leadline.errors import SettingsError, SpoolError
from leadline.formats.times import from_epoch
from leadline.settings import Size
from leadline.settings.common import ClusterSettings
from tests.enrich.conftest import make_line, make_shipped

FOX, OWL, NODE = "fox-token-0123456789", "owl-token-0123456789", "node-token-0123456789"
NOW = 1_780_000_000.0
LIMIT = 1 << 16


class FakeQueue:
    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.full_disk = False

    def append(self, lines: list[bytes]) -> None:
        if self.full_disk:
            raise SpoolError("spool x: 1 documents not accepted: No space left on device")
        self.lines += lines

    def waiting_bytes(self) -> int:
        return sum(map(len, self.lines))


@pytest.fixture
def queue() -> FakeQueue:
    return FakeQueue()


@pytest.fixture
def clusters(tmp_path: Path) -> dict[str, ClusterSettings]:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"# fox\n{FOX}\n{NODE} c1-7\n")
    return {
        "fox": ClusterSettings(token_file=tokens, aliases=("old_fox",)),
        "owl": ClusterSettings(token=OWL, hosts=("o1", "c1-1")),
    }


@pytest.fixture
def client(queue: FakeQueue, clusters: dict[str, ClusterSettings], rules: Rules) -> FlaskClient:
    worker = WorkerSettings(
        max_batch=Size(LIMIT), queue=QueueSettings(disk=DiskSettings(max_size=Size(LIMIT)))
    )
    context = Context(rules=rules, clusters=clusters)
    receiver = Receiver(queue, context, worker, Seen(), clock=lambda: NOW)
    app = create_app(receiver, Grants(clusters), lambda: {"role": "worker"}, lambda: True, LIMIT)
    return app.test_client()


def send(
    client: FlaskClient, *lines: bytes, token: str = FOX, body: bytes | None = None
) -> tuple[int, dict[str, object]]:
    answer = client.post(
        "/api/v1/documents",
        data=gzip.compress(b"\n".join(lines)) if body is None else body,
        headers={"Authorization": f"Bearer {token}", "Content-Encoding": "gzip"},
    )
    return answer.status_code, answer.get_json()


def code_of(answer: tuple[int, dict[str, object]]) -> tuple[int, object]:
    return answer[0], answer[1]["code"]


def test_batch_is_in_the_queue_when_it_is_acknowledged(
    client: FlaskClient, queue: FakeQueue
) -> None:
    """
    The answer counts what was taken, and the token's cluster stands in each document.
    """
    assert (200, {"accepted": 2, "rejected": 0}) == send(client, make_line(1), make_line(2))
    assert ["fox", "fox"] == [orjson.loads(line)["cluster"] for line in queue.lines]


def test_broken_line_does_not_refuse_the_batch(client: FlaskClient, queue: FakeQueue) -> None:
    """
    It is counted with its reason and queued, redacted, to become a dead letter.
    """
    status, answer = send(client, make_line(1), b"--token=hunter2 {", b"", make_line(2))
    assert (200, 2, 1) == (status, answer["accepted"], answer["rejected"])
    assert "not JSON" in str(answer["reasons"])
    assert 3 == len(queue.lines)
    assert b"hunter2" not in b"".join(queue.lines)


def test_secrets_do_not_reach_the_disk(client: FlaskClient, queue: FakeQueue) -> None:
    """
    A shipper that redacts nothing is made up for before the spool.
    """
    send(client, make_line(**{"process.command_line": "mysql -phunter2"}))
    assert b"hunter2" not in b"".join(queue.lines)


SENDERS = pytest.mark.parametrize(
    ("token", "fields", "status", "code"),
    [
        (FOX, {"cluster": "owl"}, 403, "cluster"),
        (FOX, {"cluster": "old_fox"}, 200, None),
        (OWL, {"cluster": "owl", "host.name": "o2"}, 403, "host"),
        (NODE, {"host.name": "c1-1"}, 403, "host"),
        (NODE, {"host.name": "c1-7"}, 200, None),
        (FOX, {"@timestamp": from_epoch(NOW + 3700)}, 422, "ahead"),
        (FOX, {"@timestamp": from_epoch(NOW + 3500)}, 200, None),
        ("guessed-token-0123456789", {}, 401, "token"),
        ("", {}, 401, "token"),
    ],
)


@SENDERS
def test_batch_of_somebody_else_is_refused(
    client: FlaskClient,
    queue: FakeQueue,
    token: str,
    fields: dict[str, object],
    status: int,
    code: str | None,
) -> None:
    """
    Another cluster, another host, the future, no token: refused whole, with a reason.
    """
    found, answer = send(client, make_line(1, **fields), make_line(2, **fields), token=token)
    assert (status, code) == (found, answer.get("code"))
    assert (status == 200) == bool(queue.lines)


@SENDERS
def test_processes_that_are_known_are_judged_like_others(
    client: FlaskClient, token: str, fields: dict[str, object], status: int, code: str | None
) -> None:
    """
    What was taken three times from its own host is refused all the same from another one.
    """
    home = {NODE: ("fox", "c1-7"), OWL: ("owl", "o1")}.get(token, ("fox", "c1-1"))
    own = dict(zip(("cluster", "host.name"), home, strict=True))
    for _ in range(3):
        send(client, make_shipped(1, **own), token=token)
    found, answer = send(client, make_shipped(1, **{**own, **fields}), token=token)
    assert (status, code) == (found, answer.get("code"))


def test_known_lines_are_taken_as_they_were_the_first_time(
    queue: FakeQueue, context: Context
) -> None:
    """
    The same documents in the queue, redacted, the cluster named, every host and line counted.
    """
    seen = Seen()
    receiver = Receiver(queue, context, WorkerSettings(), seen, clock=lambda: NOW)
    secret = {"process.command_line": "mysql -phunter2"}
    lines = [make_shipped(1, **secret), make_shipped(2, **{"host.name": "c1-2"}), make_line(3)]
    batch = b"\n".join([*lines, b"broken"]).replace(b'"cluster":"fox",', b"")
    times = []
    for _ in range(4):
        queue.lines.clear()
        answer = receiver.take(batch, "", Grant("fox"))
        assert (3, 1) == (answer["accepted"], answer["rejected"])
        times.append([orjson.loads(line) for line in queue.lines[:3]])
    assert times[0] == times[1] == times[2] == times[3]
    assert {"fox"} == {document["cluster"] for document in times[3]}
    assert b"hunter2" not in b"".join(queue.lines)
    assert [("c1-1", 8), ("c1-2", 4)] == [(h["host"], h["documents"]) for h in seen.hosts()]


def test_bomb_is_cut_off(client: FlaskClient, queue: FakeQueue) -> None:
    """
    A small body that unfolds to megabytes costs no more memory than a full batch.
    """
    status, answer = send(client, body=gzip.compress(b"\n" * 10_000_000))
    assert (413, "size") == (status, answer["code"])
    assert [] == queue.lines


def test_large_body_is_refused_before_it_is_read(client: FlaskClient) -> None:
    """
    The bound on the body holds for what is sent, packed or not.
    """
    assert 413 == send(client, body=b"x" * (LIMIT + 1))[0]


@pytest.mark.parametrize("cut", [1, 10, 19, 40])
def test_torn_gzip_is_refused(client: FlaskClient, queue: FakeQueue, cut: int) -> None:
    """
    A body that broke off is not taken in part: the shipper sends it again.
    """
    body = gzip.compress(make_line())[:cut]
    assert (400, "gzip") == code_of(send(client, body=body))
    assert [] == queue.lines


def test_full_queue_and_full_disk_ask_to_come_again(client: FlaskClient, queue: FakeQueue) -> None:
    """
    Nothing that was acknowledged is dropped for what is new: shippers wait.
    """
    queue.full_disk = True
    assert (503, "disk") == code_of(send(client, make_line()))
    queue.full_disk = False
    queue.lines = [b"x" * LIMIT]
    answer = client.post(
        "/api/v1/documents", data=make_line(), headers={"Authorization": f"Bearer {FOX}"}
    )
    assert (503, "30") == (answer.status_code, answer.headers["Retry-After"])


def test_status_needs_a_token_and_health_does_not(client: FlaskClient) -> None:
    """
    Who sends is not for everybody; whether the worker lives is.
    """
    assert 401 == client.get("/api/v1/status").status_code
    assert 200 == client.get("/healthz").status_code
    headers = {"Authorization": f"bearer {FOX}"}
    assert {"role": "worker"} == client.get("/api/v1/status", headers=headers).get_json()


def test_unknown_path_is_answered_in_json(client: FlaskClient) -> None:
    """
    Even a mistake gets one clear line.
    """
    answer = client.get("/api/v2/documents")
    assert 404 == answer.status_code
    assert isinstance(answer.get_json()["error"], str)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.binary(max_size=200) | st.binary(max_size=100).map(gzip.compress), st.text(max_size=10))
def test_arbitrary_bytes_get_an_answer(client: FlaskClient, body: bytes, token: str) -> None:
    """
    Whatever is sent, the answer is 200 with counts or a 4xx with an error, never a crash.
    """
    status, answer = send(client, body=body)
    assert status in {200, 400, 413}
    assert ("accepted" in answer) == (status == 200)


def test_several_gzip_members_are_one_batch() -> None:
    """
    Files of gzip that were joined are gzip.
    """
    assert b"ab" == unpack(gzip.compress(b"a") + gzip.compress(b"b"), "gzip", 100)
    with pytest.raises(RefusedError, match="send gzip"):
        unpack(b"", "br", 100)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "holds no token"),
        ("short", "line 1: a token of 5 characters"),
        (f"{FOX} host extra", "line 1: write TOKEN"),
    ],
)
def test_token_file_errors_say_where(tmp_path: Path, text: str, match: str) -> None:
    """
    File, line and way out, before the worker starts.
    """
    path = tmp_path / "tokens"
    path.write_text(text)
    with pytest.raises(SettingsError, match=match):
        Grants({"fox": ClusterSettings(token_file=path)})


def test_one_token_cannot_speak_for_two_clusters() -> None:
    """
    Two clusters with one token would make the sender's cluster a guess.
    """
    same = ClusterSettings(token=FOX)
    with pytest.raises(SettingsError, match="same token"):
        Grants({"fox": same, "owl": same})
