"""
Notifiers against what they speak to: a mail server, a web server, sockets, a program, a file.
"""

from __future__ import annotations

import http.server
import json
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from leadline.alerts.ledger import Ledger
from leadline.alerts.notifiers import Message, NotNowError, RefusedError, build_notifier
from leadline.alerts.outbox import Outbox
from leadline.alerts.settings import (
    AlertSettings,
    CommandSettings,
    NotifierSettings,
    PersonSettings,
    SmtpSettings,
    SyslogSettings,
    WebhookSettings,
)
from leadline.errors import SettingsError
from leadline.settings.typed import Duration
from tests.alerts.conftest import NOON, Inbox

MESSAGE = Message("0123abcd", "[critical] fox: disk-full: c1 /", "c1 / is full: ø", "critical")


def smtp(port: int) -> NotifierSettings:
    return NotifierSettings(smtp=SmtpSettings(host="127.0.0.1", port=port, timeout=Duration(5)))


def test_mail_arrives_at_a_real_server(mail: tuple[Inbox, int]) -> None:
    """
    With an id of its own, marked as made by a machine, so that no holiday answers come back.
    """
    inbox, port = mail
    build_notifier("smtp", smtp(port)).send(MESSAGE, "night@uni.no")
    (got,) = inbox.mails
    assert (MESSAGE.subject, "night@uni.no") == (got["Subject"], got["To"])
    assert ("<0123abcd@leadline>", "auto-generated") == (got["Message-ID"], got["Auto-Submitted"])
    assert "c1 / is full: ø" in got.get_content()  # type: ignore[attr-defined]


def test_mail_once_taken_is_not_sent_again(mail: tuple[Inbox, int]) -> None:
    """
    Whatever the server says to the goodbye.
    """
    inbox, port = mail
    inbox.goodbye = "421 too busy to say goodbye"
    build_notifier("smtp", smtp(port)).send(MESSAGE, "night@uni.no")
    assert 1 == len(inbox.mails)


def test_mail_headers_cannot_be_injected(mail: tuple[Inbox, int]) -> None:
    """
    Neither by a subject nor by an address.
    """
    inbox, port = mail
    sender = build_notifier("smtp", smtp(port))
    sender.send(Message("1", "a\r\nBcc: all@uni.no\r\n\r\nbody", "x"), "night@uni.no")
    (got,) = inbox.mails
    assert got["Bcc"] is None
    assert "a Bcc: all@uni.no body" == got["Subject"]
    for address in ("a@b\r\nBcc: c@d", "a@b, c@d", "nobody"):
        with pytest.raises(RefusedError):
            sender.send(MESSAGE, address)


def test_mail_server_says_no_or_not_now(mail: tuple[Inbox, int]) -> None:
    """
    5xx is kept and listed, 4xx and a server that is down are tried again.
    """
    _, port = mail
    sender = build_notifier("smtp", smtp(port))
    with pytest.raises(RefusedError, match="550 no such user"):
        sender.send(MESSAGE, "nobody@uni.no")
    with pytest.raises(NotNowError, match="451"):
        sender.send(MESSAGE, "later@uni.no")
    with pytest.raises(NotNowError):
        build_notifier("smtp", smtp(1)).send(MESSAGE, "night@uni.no")


class Hooks(http.server.ThreadingHTTPServer):
    answer = 200

    def __init__(self) -> None:
        self.got: list[tuple[str, str, dict[str, str], dict[str, str]]] = []
        super().__init__(("127.0.0.1", 0), Hook)


class Hook(http.server.BaseHTTPRequestHandler):
    server: Hooks

    def do_POST(self) -> None:
        data = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.got.append((self.command, self.path, dict(self.headers), data))
        self.send_response(self.server.answer)
        self.send_header("Location", "http://127.0.0.1:1/elsewhere")
        self.end_headers()

    do_PUT = do_POST  # noqa: N815 - the library's name

    def log_message(self, *args: object) -> None: ...


@pytest.fixture
def hooks() -> Iterator[Hooks]:
    server = Hooks()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize(
    ("shape", "method", "path", "told"),
    [
        ("plain", "POST", "/hook", {"id": "0123abcd", "severity": "critical"}),
        ("slack", "POST", "/hook", {"text": "*a &lt;!channel&gt; @all*\nb"}),
        ("mattermost", "POST", "/hook", {"text": "**a <!channel> @\u200ball**\nb"}),
        (
            "matrix",
            "PUT",
            "/hook/0123abcd",
            {"msgtype": "m.text", "body": "a <!channel> @all\n\nb"},
        ),
    ],
)
def test_webhook_speaks_each_shape(
    hooks: Hooks, tmp_path: Path, shape: Any, method: str, path: str, told: dict[str, str]
) -> None:
    """
    And a file name that calls a whole channel calls nobody.
    """
    token = tmp_path / "token"
    token.write_text("secret\n")
    settings = NotifierSettings(webhook=WebhookSettings(shape=shape, token_file=token))
    message = Message("0123abcd", "a <!channel> @all", "b", "critical")
    address = f"http://127.0.0.1:{hooks.server_port}/hook"
    build_notifier("webhook", settings).send(message, address)
    ((how, where, headers, data),) = hooks.got
    assert (method, path) == (how, where)
    assert told.items() <= data.items()
    assert ("Bearer secret", "0123abcd") == (headers["Authorization"], headers["Idempotency-Key"])


@pytest.mark.parametrize(
    ("answer", "error"),
    [(500, NotNowError), (429, NotNowError), (400, RefusedError), (307, RefusedError)],
)
def test_webhook_answers_are_judged(hooks: Hooks, answer: int, error: type[Exception]) -> None:
    """
    No redirect is followed, and no error line prints the secret path.
    """
    hooks.answer = answer
    sender = build_notifier("webhook", NotifierSettings())
    with pytest.raises(error, match=f"answers {answer}") as told:
        sender.send(MESSAGE, f"http://127.0.0.1:{hooks.server_port}/secret-path")
    assert "secret-path" not in str(told.value)
    assert 1 == len(hooks.got)


def test_command_gets_text_and_address(tmp_path: Path) -> None:
    """
    Whole words and no shell: a subject is never run.
    """
    code = "import sys, os; open(sys.argv[1] + '.sms', 'w').write("
    code += "sys.argv[2] + '|' + os.environ['LEADLINE_ID'] + '|' + sys.stdin.read())"
    run = (sys.executable, "-c", code, "{address}", "{subject}")
    sender = build_notifier("command", NotifierSettings(command=CommandSettings(run=run)))
    sender.send(Message("7", "$(rm -rf x); a", "b"), str(tmp_path / "4712"))
    assert "$(rm -rf x); a|7|$(rm -rf x); a\n\nb" == (tmp_path / "4712.sms").read_text()


def test_command_that_fails_or_hangs_is_tried_again() -> None:
    """
    With its last word in the list of messages.
    """
    for code, said in (("raise SystemExit('no credit')", "no credit"), ("while 1: pass", "no end")):
        command = CommandSettings(run=(sys.executable, "-c", code), timeout=Duration(1))
        with pytest.raises(NotNowError, match=said):
            build_notifier("command", NotifierSettings(command=command)).send(MESSAGE, "1")
    with pytest.raises(SettingsError, match=r"notifiers\.command\.run: empty"):
        build_notifier("command", NotifierSettings())


def test_file_holds_each_message_once_after_a_torn_line(tmp_path: Path) -> None:
    """
    An attempt that was killed within its line leaves a torn one; the next writes it whole.
    """
    path, sender = tmp_path / "alerts", build_notifier("file", NotifierSettings())
    sender.send(MESSAGE, str(path))
    whole = path.read_bytes()
    sender.send(MESSAGE, str(path))
    assert whole == path.read_bytes()
    path.write_bytes(whole[:40])
    sender.send(MESSAGE, str(path))
    sender.send(MESSAGE, str(path))
    assert whole[:40] + b"\n" + whole == path.read_bytes()
    with pytest.raises(NotNowError):
        sender.send(MESSAGE, str(tmp_path / "nowhere" / "alerts"))


@pytest.mark.parametrize("unix", [True, False])
def test_syslog_takes_one_line(tmp_path: Path, unix: bool) -> None:
    """
    On the machine's socket and over UDP, with the severity syslog knows.
    """
    with socket.socket(socket.AF_UNIX if unix else socket.AF_INET, socket.SOCK_DGRAM) as log:
        log.bind(str(tmp_path / "log") if unix else ("127.0.0.1", 0))
        log.settimeout(5)
        target = str(tmp_path / "log") if unix else f"127.0.0.1:{log.getsockname()[1]}"
        settings = NotifierSettings(syslog=SyslogSettings(target=target))
        build_notifier("syslog", settings).send(Message("7", "a\nb", "c\nd", "critical"), "")
        line = log.recv(4096).decode()
    assert line.startswith("<26>leadline[")
    assert line.endswith("]: a b: c d id=7")
    gone = NotifierSettings(syslog=SyslogSettings(target=str(tmp_path / "gone")))
    with pytest.raises(NotNowError):
        build_notifier("syslog", gone).send(MESSAGE, "")


def test_message_waits_while_the_server_is_down(mail: tuple[Inbox, int], tmp_path: Path) -> None:
    """
    It arrives once when the server is back, those behind it in order; what is refused is kept.
    """
    inbox, port = mail
    ledger, now = Ledger(tmp_path), NOON
    people = {"admins": PersonSettings(address="night@uni.no")}
    people["gone"] = PersonSettings(address="nobody@uni.no")
    for number, to in enumerate(["admins", "admins", "gone"]):
        values = (str(number), to, f"message {number}", "text", "info", number, "waiting")
        columns = "id, recipient, subject, body, severity, made, state"
        ledger.do(f"INSERT INTO outbox ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)", *values)

    def box(port: int) -> Outbox:
        return Outbox(ledger, AlertSettings(), people, lambda n: build_notifier(n, smtp(port)))

    sent, troubles = box(1).deliver(now)
    assert (0, 2) == (sent, len(troubles))
    assert (0, 2) == (box(port).deliver(now)[0], len(box(port).deliver(now)[1]))  # not yet again
    later = now.replace(hour=14)
    assert 2 == box(port).deliver(later)[0]
    assert 0 == box(port).deliver(later)[0]
    assert ["message 0", "message 1"] == [got["Subject"] for got in inbox.mails]
    states = ledger.rows("SELECT state, error FROM outbox ORDER BY id")
    assert ["sent", "sent", "refused"] == [row["state"] for row in states]
    assert "550" in states[2]["error"]
    ledger.close()


def test_message_of_unknown_fate_goes_out_again_under_its_id(
    mail: tuple[Inbox, int], tmp_path: Path
) -> None:
    """
    Killed between the server's yes and our note of it: rather again, and to be known, than never.
    """
    inbox, port = mail
    ledger = Ledger(tmp_path)
    values = ("77", "admins", "message", "text", "info", 1, "sending", 1)
    columns = "id, recipient, subject, body, severity, made, state, attempts"
    ledger.do(f"INSERT INTO outbox ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", *values)
    people = {"admins": PersonSettings(address="night@uni.no")}
    box = Outbox(ledger, AlertSettings(), people, lambda n: build_notifier(n, smtp(port)))
    assert 1 == box.deliver(NOON)[0]
    assert ["<77@leadline>"] == [got["Message-ID"] for got in inbox.mails]
    ledger.close()
