"""Secrets never reach a disk or a wire: every shape they come in, and nothing beside them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.formats.redact import REDACTED, redact, redact_line, redact_value

SECRET = "hunter2Hunter2"

WITH_SECRET = [
    f"mysql -u root -p{SECRET} db",
    f"mysqldump --password={SECRET} db",
    f"prog --password '{SECRET} {SECRET}' next",
    f"env HF_TOKEN={SECRET} python train.py",
    f"python -c \"connect(password = '{SECRET}')\"",
    f"curl -H 'Authorization: Bearer {SECRET}' https://example.org",
    f"curl -u me:{SECRET} https://example.org",
    f"git clone https://me:{SECRET}@example.org/x.git",
    f"openssl rsa -passin pass:{SECRET} -in key.pem",
    f"sshpass -p {SECRET} ssh node1",
    f"redis-cli -a {SECRET} ping",
    f"smbclient -U me%{SECRET} //server/share",
    f'tool \'{{"password": "{SECRET}", "x": 1}}\'',
    f"WANDB_API_KEY={SECRET} wandb agent",
    f"jupyter lab --ServerApp.token={SECRET}",
]

WITHOUT_SECRET = [
    "python train.py --tokenizer gpt2 --max-tokens 512 --num_tokens=4",
    "apptainer exec --pwd /scratch image.sif ./bypass",
    "man the password is not here",
    "ssh -i /home/me/.ssh/id_ed25519 node1",
    "/usr/bin/ssh-agent -D",
    "compass --pass-through",
]


@pytest.mark.parametrize("text", WITH_SECRET)
def test_secret_is_taken_out(text: str) -> None:
    """
    Whatever way a command line carries a secret, it is gone and the rest is still readable.
    """
    redacted = redact(text)
    assert SECRET not in redacted
    assert REDACTED in redacted
    assert text[:4] == redacted[:4]


@pytest.mark.parametrize("text", WITHOUT_SECRET)
def test_harmless_text_is_left_alone(text: str) -> None:
    """
    A word that only looks like a secret's name takes nothing with it.
    """
    assert text == redact(text)


@pytest.mark.parametrize("text", WITH_SECRET)
def test_line_that_is_no_json_is_redacted(text: str) -> None:
    """
    A torn line is kept for people to look at, but not its secrets.
    """
    torn = b'{"process.command_line": "' + text.replace('"', '\\"').encode() + b'", "x'
    assert SECRET.encode() not in redact_line(torn)


def test_field_named_like_a_secret_goes_altogether() -> None:
    """
    An unknown field called `password` is redacted by its name, options in lists too.
    """
    value = {"db": {"password": SECRET, "user": "me"}, "argv": ["x", "--token", SECRET, "y"]}
    expected = {
        "db": {"password": REDACTED, "user": "me"},
        "argv": ["x", "--token", REDACTED, "y"],
    }
    assert expected == redact_value(value)


PIECES = [*WITH_SECRET, *WITHOUT_SECRET, "--password", "token", "=", ":", " ", "'", '"', "&"]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=8).map("".join))
def test_redacting_twice_is_redacting_once(text: str) -> None:
    """
    A redacted text passes unchanged, so that every hop may redact.
    """
    once = redact(text)
    assert once == redact(once)


@given(st.binary(max_size=200))
def test_any_bytes_become_a_line(line: bytes) -> None:
    """
    Whatever came in can be kept as one line of UTF-8.
    """
    kept = redact_line(line)
    assert b"\n" not in kept
    kept.decode()


@pytest.mark.parametrize(
    "piece",
    ["password ", "pass", " ", "a", "--password ", "://", "mysql -p ", "bearer ", "curl -u "],
)
def test_no_text_stalls_it(piece: str) -> None:
    """
    Time grows with length only: a text made to provoke backtracking costs milliseconds.
    """
    text = "password" + piece * (8191 // len(piece))
    started = time.process_time()
    redact(text)
    assert time.process_time() - started < 0.25
