"""Dead letters: durable, readable after a crash, and never lost by a replay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from enrich.deadletters import DeadLetter, DeadLetters, dead_letter
from enrich.delivery import Delivery
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING
from tests.enrich.conftest import ScriptedStore, make_line

WHEN = 1_770_000_000.0


def test_letter_is_redacted() -> None:
    """
    Neither the input nor the reason keeps a secret.
    """
    letter = dead_letter(b"x --token=hunter2", "bad: --token=hunter2", "file", WHEN)
    assert "hunter2" not in letter.input + letter.reason


def test_letters_are_found_by_day(letters: DeadLetters) -> None:
    """
    One file a day, oldest first, private to the worker.
    """
    letters.add([dead_letter(b"new", "r", "s", WHEN + 86400), dead_letter(b"old", "r", "s", WHEN)])
    assert ["old", "new"] == [letter.input for letter in letters.read()]
    assert 0o600 == next(letters.folder.glob("*.ndjson")).stat().st_mode & 0o777


def test_torn_line_costs_only_itself(letters: DeadLetters) -> None:
    """
    A crash within a line loses that line, not the letters before and after it.
    """
    letters.add([dead_letter(b"one", "r", "s", WHEN)])
    path = next(letters.folder.glob("*.ndjson"))
    path.write_bytes(path.read_bytes() + b'{"time":"2026')
    letters.add([dead_letter(b"two", "r", "s", WHEN)])
    assert ["one", "two"] == [letter.input for letter in letters.read()]


def test_replay_stores_what_is_good_now(
    letters: DeadLetters, deliver: Callable[..., Delivery]
) -> None:
    """
    What can be stored now is; what still cannot is a dead letter again.
    """
    letters.add([dead_letter(make_line(), "store said no", "s"), dead_letter(b"{", "bad", "s")])
    store = ScriptedStore()
    delivery = deliver(store)
    count = letters.replay(
        lambda many: [delivery.lines([m.input.encode()], "s") for m in many] and None
    )
    assert (2, 1) == (count, store.count)
    assert ["{"] == [letter.input for letter in letters.read()]


def test_interrupted_replay_forgets_nothing(letters: DeadLetters) -> None:
    """
    A replay that breaks off is simply done again.
    """

    def fail(_: list[DeadLetter]) -> None:
        raise KeyboardInterrupt

    letters.add([dead_letter(b"one", "r", "s")])
    with pytest.raises(KeyboardInterrupt):
        letters.replay(fail)
    seen: list[str] = []
    letters.replay(lambda many: seen.extend(letter.input for letter in many))
    assert ["one"] == seen


def test_events_count_what_was_refused_by_reason(deliver: Callable[..., Delivery]) -> None:
    """
    Who looks at the store alone learns how many were refused, of which cluster, and why.
    """
    store = MemoryStore()
    delivery = replace(deliver(store), tells=True)
    bad = b'{"dataset":"node","cluster":"fox"}'
    tally = delivery.lines([bad, bad, b"no JSON"], "node")
    assert 3 == tally.dead_lettered
    events = [event for batch in store.scan("event", EVERYTHING) for event in batch]
    assert {("fox", 2), ("-", 1)} == {(one["cluster"], one["event.count"]) for one in events}
    assert {"dead letters"} == {one["rule.name"] for one in events}
