"""Delivery: whatever a store answers, every document ends in exactly one place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from enrich.counters import Tally
from enrich.deadletters import DeadLetters
from enrich.delivery import Delivery, StoppedError, wait_seconds
from enrich.expiry import Expiry
from enrich.settings import BackoffSettings
from leadline.errors import StoreError
from leadline.formats import Document
from leadline.settings import Duration
from leadline.store.contract import Outcome
from leadline.store.retention import Gone
from leadline.store.scope import EVERYTHING
from tests.enrich.conftest import FakeWait, ScriptedStore, make_line, make_shipped

Deliver = Callable[..., Delivery]


def keep_some(documents: Sequence[Document]) -> Outcome:
    """
    Half is stored, a quarter is kept, one is refused: a mixed answer.
    """
    quarter = len(documents) // 4
    return Outcome(
        accepted=len(documents) - quarter - 1,
        rejected=[(documents[0], "immense term")],
        kept=list(documents[1 : quarter + 1]),
        reason="429",
    )


def keep_all(documents: Sequence[Document]) -> Outcome:
    return Outcome(kept=list(documents), reason="index closed", pause=True)


def test_stored_and_seen_before_are_told_apart(deliver: Deliver) -> None:
    """
    The same lines twice are stored once, and counted as duplicates then.
    """
    delivery = deliver(ScriptedStore())
    lines = [make_line(number) for number in range(5)]
    assert Tally(stored=5) == delivery.lines(lines, "file")
    assert Tally(duplicate=5) == delivery.lines(lines, "file")


def test_only_what_was_kept_is_sent_again(deliver: Deliver) -> None:
    """
    A mixed answer: the kept quarter alone goes again, what was refused never does.
    """
    store, wait = ScriptedStore(keep_some), FakeWait()
    tally = deliver(store, wait).lines([make_line(number) for number in range(20)], "file")
    assert Tally(stored=19, dead_lettered=1) == tally
    assert [20, 5] == store.sizes
    assert 1 == len(wait.waited)


@pytest.mark.parametrize("script", [keep_some, keep_all])
def test_what_waited_is_taken_in_when_it_is_taken(
    deliver: Deliver, script: Callable[[Sequence[Document]], Outcome]
) -> None:
    """
    Roll-ups look for what came in since the last one: what a store kept back for an hour must not
    look as old as that.
    """
    store = ScriptedStore(script)
    later = replace(deliver(store), clock=lambda: 4_000_000_000.0)
    later.lines([make_line(number) for number in range(20)], "file")
    (batch,) = store.scan("process", EVERYTHING)
    assert {"2096-10-02T07:06:40.000Z"} == {one["event.ingested"] for one in batch}


def test_a_store_at_fault_is_waited_for(deliver: Deliver, letters: DeadLetters) -> None:
    """
    A closed index or a lost connection is nobody's document's fault: wait, no dead letter.
    """
    store = ScriptedStore(keep_all, StoreError("connection refused"), keep_all)
    wait = FakeWait()
    assert Tally(stored=2) == deliver(store, wait).lines([make_line(1), make_line(2)], "file")
    assert 3 == len(wait.waited)
    assert [] == list(letters.read())


def test_waiting_ends_when_told_to_stop(deliver: Deliver) -> None:
    """
    A worker that is stopped leaves its batch where it was.
    """
    with pytest.raises(StoppedError, match="wait for the next start"):
        deliver(ScriptedStore(*[keep_all] * 9), FakeWait(stop_after=2)).lines([make_line()], "file")


def test_files_do_not_wait_for_ever(deliver: Deliver) -> None:
    """
    A command gives up after so many tries, and says what the store said.
    """
    with pytest.raises(StoreError, match="1 documents not stored: index closed"):
        deliver(ScriptedStore(*[keep_all] * 9), tries=3).lines([make_line()], "file")


def test_broken_line_is_a_dead_letter_with_its_reason(
    deliver: Deliver, letters: DeadLetters
) -> None:
    """
    The lines beside a broken one are stored; it is kept redacted, with reason and source.
    """
    broken = b'{"process.command_line":"mysql --password=hunter2"'
    tally = deliver(ScriptedStore()).lines([make_line(1), broken, make_line(2)], "a.ndjson")
    assert Tally(stored=2, dead_lettered=1) == tally
    (letter,) = letters.read()
    assert ("a.ndjson", True) == (letter.source, letter.reason.startswith("not JSON"))
    assert "hunter2" not in letter.input


def test_document_the_store_refuses_is_a_dead_letter(
    deliver: Deliver, letters: DeadLetters
) -> None:
    """
    What the store refuses for ever is kept with the store's own words.
    """
    deliver(ScriptedStore(keep_some)).lines([make_line(n) for n in range(8)], "file")
    assert ["immense term"] == [letter.reason for letter in letters.read()]


def test_no_room_for_dead_letters_holds_the_batch(
    deliver: Deliver, letters: DeadLetters, tmp_path: Path
) -> None:
    """
    A dead letter that cannot be written is not forgotten: the batch waits.
    """
    letters.folder.parent.mkdir(exist_ok=True)
    letters.folder.write_text("in the way")
    with pytest.raises(StoreError, match="cannot keep dead letters"):
        deliver(ScriptedStore(), tries=2).lines([b"broken"], "file")


def test_corrections_replace_and_samples_do_not(deliver: Deliver) -> None:
    """
    A job read again with a later version takes the place of the earlier one.
    """
    store = ScriptedStore()
    job = {"dataset": "job", "job.local_id": "17", "job.run": "fox/17@1"}
    delivery = deliver(store)
    delivery.lines([make_line(**job, **{"record.version": 1, "job.state": "RUNNING"})], "file")
    delivery.lines([make_line(**job, **{"record.version": 2, "job.state": "COMPLETED"})], "file")
    assert ["COMPLETED"] == [d["job.state"] for d in store.tables["job"].values()]


def test_waits_grow_and_differ() -> None:
    """
    Twice as long each time up to the bound, and never in step with other workers.
    """
    backoff = BackoffSettings(init=Duration(1), max=Duration(60))
    waits = [wait_seconds(backoff, tried) for tried in range(1, 12)]
    assert all(0.5 * min(2**n, 60) <= wait <= min(2**n, 60) for n, wait in enumerate(waits))
    assert len({wait_seconds(backoff, 9) for _ in range(5)}) > 1


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.binary(max_size=60) | st.integers(0, 9).map(make_line), max_size=20))
def test_every_line_ends_in_one_place(deliver: Deliver, lines: list[bytes]) -> None:
    """
    Whatever bytes come: stored + duplicate + dead-lettered is what was read.
    """
    assert len(lines) == deliver(ScriptedStore()).lines(lines, "file").total


def test_what_comes_too_late_is_counted_and_not_stored(deliver: Deliver) -> None:
    """
    By either way of a line: sealed months of samples, and states older than states are kept.
    """
    late = Gone({"process": "2026-04", "state": "2026-04"}, frozenset({("process", "2026-03")}))
    store = ScriptedStore()
    delivery = replace(deliver(store), expiry=lambda: late)
    line = make_shipped(1)
    fresh = line.replace(b"2026-03-29", b"2026-04-29")
    for _ in range(3):
        tally = delivery.lines([line, make_line(2), fresh], "file")
        assert 2 == tally.expired
    assert 1 == store.count


def test_expiry_is_asked_now_and_then() -> None:
    """
    Once an hour; while the store is away what it said last holds, and it is asked again.
    """
    answers: list[Gone | Exception] = [
        Gone({"event": "1"}),
        StoreError("away"),
        Gone({"event": "2"}),
    ]
    now = [0.0]

    def ask() -> Gone:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    expiry = Expiry(ask, lambda: now[0])
    said = []
    for moment in (0.0, 3599.0, 3600.0, 3601.0, 3602.0):
        now[0] = moment
        said.append(expiry().before["event"])
    assert ["1", "1", "1", "2", "2"] == said
