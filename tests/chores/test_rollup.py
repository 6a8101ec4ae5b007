"""
Hourly usage gives the figures raw samples give, whatever came late, twice or was renamed.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from leadline.chores.lease import take
from leadline.chores.rollup import roll_up
from leadline.chores.run import CHORES, Work, do
from leadline.formats import Document
from leadline.formats.times import format_time
from leadline.query import Answer, ask, parse_question, question
from leadline.query.rollups import complete_until
from leadline.store.contract import Store
from leadline.store.lake import LakeStore
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING
from tests.query.test_differential import OWN, ZONE, documents, figures, questions

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
ROLLUP = CHORES[0]


def zone_of(cluster: str) -> ZoneInfo:
    return OWN.get(cluster, ZONE)


def rolled(store: MemoryStore, now: datetime = NOW) -> str | None:
    return do(ROLLUP, Work(store, now, zone_of))


def told(store: MemoryStore, text: str, *, rolled: bool = True) -> Answer:
    return ask(parse_question(text), store, EVERYTHING, NOW, zone=ZONE, own=OWN, rolled=rolled)


def made(count: int, seed: int = 1) -> list[Document]:
    dice = random.Random(seed)
    return [tidy(document, dice) for document in documents(dice, count)]


def tidy(document: Document, dice: random.Random) -> Document:
    """
    As the worker's chain leaves it: what a program, a user, a run is, follows from its name.
    """
    found = {**document, "event.ingested": format_time(NOW - timedelta(days=1))}
    if document["dataset"] != "process":
        return found
    for name in ("program.level1", "program.tags", "user.group", "project"):
        found.pop(name, None)
    if program := found.get("program.name"):
        known = {"VASP": ("chemistry", ["licensed", "mpi"]), "GROMACS": ("biology", ["mpi"])}
        level, tags = known.get(str(program), ("other", ["gpu"]))
        found |= {"program.level1": level, "program.tags": tags, "program.rule": f"r:{program}"}
    if user := found.get("user.name"):
        found["user.group"] = "ml" if user == "alice" else "bio"
        found |= {"user.id": f"u{user}"} if dice.random() < 0.8 else {}
    if job := found.get("job.id"):
        found |= {"job.run": f"{job}@1", "project": f"p{str(job)[-1]}"}
    if dice.random() < 0.5:
        found["command.shape"] = dice.choice(["a", "b"])
    return found


@pytest.fixture
def store() -> MemoryStore:
    store = MemoryStore()
    store.write(made(300), "replace")
    return store


def test_answers_are_the_same(store: MemoryStore) -> None:
    """
    Random questions have the same answers from usage and open hours as from raw samples alone.
    """
    rolled(store)
    dice = random.Random(5)
    from_usage = 0
    for _ in range(150):
        asked = questions(dice)
        try:
            raw = ask(asked, store, EVERYTHING, NOW, zone=ZONE, own=OWN, rolled=False)
        except Exception as error:
            with pytest.raises(type(error)):
                ask(asked, store, EVERYTHING, NOW, zone=ZONE, own=OWN)
            continue
        found = ask(asked, store, EVERYTHING, NOW, zone=ZONE, own=OWN)
        from_usage += "usage" in found.datasets
        assert figures(found) == figures(raw), str(asked)
    assert from_usage > 5


def test_edges_within_an_hour_come_from_raw(store: MemoryStore) -> None:
    """
    A period that begins within an hour is cut there, not at the hour.
    """
    rolled(store)
    span = "2026-10-21T10:17..2026-11-19T03:41"
    asked = parse_question(f"core_hours_used, samples by user where cluster=fox during {span}")
    found = ask(asked, store, EVERYTHING, NOW, zone=ZONE)
    assert ("process", "usage") == tuple(sorted(found.datasets))
    assert figures(found) == figures(ask(asked, store, EVERYTHING, NOW, zone=ZONE, rolled=False))


def test_late_samples_make_their_hour_anew(store: MemoryStore) -> None:
    """
    A sample taken in after its hour was rolled up is in the answer after the next run.
    """
    rolled(store)
    before = told(store, "samples during all").total["samples"]
    late = {**made(1, seed=9)[0], "sample.uptime": 10**6, "event.ingested": format_time(NOW)}
    store.write([late], "create")
    rolled(store, NOW + timedelta(minutes=10))
    assert (before or 0) + 1 == told(store, "samples during all").total["samples"]


def test_twice_is_once(store: MemoryStore) -> None:
    """
    Rolling everything up again changes no figure.
    """
    roll_up(store, NOW, zone_of)
    first = {key: dict(value) for key, value in store.tables["usage"].items()}
    roll_up(store, NOW, zone_of)
    assert first == store.tables["usage"]


def test_what_is_not_made_again_is_void() -> None:
    """
    A command whose shape was told anew leaves nothing of the old one behind.
    """
    store = MemoryStore()
    sample = {**made(30)[0], "command.shape": "old", "core_seconds": 3600.0}
    store.write([sample], "replace")
    roll_up(store, NOW, zone_of)
    store.tables["process"].clear()
    store.write([{**sample, "command.shape": "new"}], "replace")
    assert 1 == roll_up(store, NOW + timedelta(hours=1), zone_of).void
    rolled(store, NOW + timedelta(hours=2))
    found = told(store, "core_hours_used by shape during all")
    assert [{"shape": "new", "core_hours_used": 1.0}] == list(found.rows)


def test_figures_outlive_raw_samples(store: MemoryStore) -> None:
    """
    When raw samples are gone, closed hours still tell what they told.
    """
    rolled(store)
    before = figures(told(store, "core_hours_used, memory_mean by program per month during all"))
    store.tables["process"].clear()
    found = told(store, "core_hours_used, memory_mean by program per month during all")
    assert before[:4] == figures(found)[:4]


def expire_before(store: MemoryStore, moment: str) -> None:
    kept = {k: d for k, d in store.tables["process"].items() if str(d["@timestamp"]) >= moment}
    assert 0 < len(kept) < len(store.tables["process"])
    store.tables["process"].clear()
    store.tables["process"].update(kept)


def test_a_late_sample_does_not_hide_what_outlived_its_samples(store: MemoryStore) -> None:
    """
    October's samples have gone; one comes late for October, one for November. Hours without raw
    are answered from usage, before and after the next run; November's is counted at once.
    """
    rolled(store)
    text = "samples by user during all"
    before = told(store, text).total["samples"]
    october, november = sorted(
        (d for d in made(300) if d["dataset"] == "process"), key=lambda d: str(d["@timestamp"])
    )[:: len(store.tables["process"]) - 1][:2]
    expire_before(store, "2026-11-01")
    new = {"sample.uptime": 10**6, "event.ingested": format_time(NOW)}
    store.write([{**october, **new}], "create")
    assert before == told(store, text).total["samples"]
    store.write([{**november, **new}], "create")
    assert (before or 0) + 1 == told(store, text).total["samples"]
    said = rolled(store, NOW + timedelta(minutes=10))
    assert "1 hour expired before" in str(said)
    assert (before or 0) + 1 == told(store, text).total["samples"]


def test_history_read_in_after_a_run_is_answered_at_once() -> None:
    """
    A month that arrives after a roll-up has passed over it is in the very next answer, before
    and after the run that takes it in: a mark never hides what came behind it.
    """
    store = MemoryStore()
    assert rolled(store) is not None  # a first turn, on an empty store
    later = NOW + timedelta(minutes=20)
    history = [
        {**document, "event.ingested": format_time(later)}
        for document in made(200)
        if document["dataset"] == "process"
    ]
    store.write(history, "create")
    text = "core_hours_used, samples by user during all"
    whole = figures(told(store, text, rolled=False))
    assert whole == figures(told(store, text))
    assert do(ROLLUP, Work(store, later + timedelta(hours=1), zone_of)) is not None
    again = ask(parse_question(text), store, EVERYTHING, later + timedelta(hours=2), zone=ZONE)
    assert whole == figures(again)


def test_a_turn_is_taken_once(store: MemoryStore) -> None:
    """
    Of two workers in one slot one does the chore; the next slot is free again.
    """
    assert rolled(store) is not None
    assert rolled(store) is None
    assert rolled(store, NOW + timedelta(minutes=10)) is not None


def test_an_unfinished_run_is_no_mark(store: MemoryStore) -> None:
    """
    Whoever died in the middle of a run has not moved the mark: answers stay with raw samples.
    """
    assert take(store, "rollup", NOW)
    assert complete_until(store) is None
    asked = question(by=("user",), period="all")
    assert ("process",) == ask(asked, store, EVERYTHING, NOW, zone=ZONE, own=OWN).datasets


@pytest.mark.opensearch
def test_opensearch_rolls_up_the_same(opensearch_store: Store, store: MemoryStore) -> None:
    """
    The same samples rolled up on OpenSearch give the documents the naive store gives.
    """
    opensearch_store.write(made(300), "replace")
    for each in (store, opensearch_store):
        assert do(ROLLUP, Work(each, NOW, zone_of)) is not None
        assert do(ROLLUP, Work(each, NOW, zone_of)) is None
    for text in (
        "core_hours_used, memory_mean, samples by program per month during all top 2",
        "core_hours_used, memory_max by tag, user during all",
        "processes_sampled by user per day during 2026-10-25..2026-10-30",
    ):
        expected = told(store, text)
        found = ask(parse_question(text), opensearch_store, EVERYTHING, NOW, zone=ZONE, own=OWN)
        assert "usage" in found.datasets
        assert figures(found) == figures(expected), text


@pytest.mark.parametrize("order", ["", " order core_hours_used ascending"])
def test_the_best_of_usage_and_open_hours(tmp_path: Path, order: str) -> None:
    """
    A lake sends few rows of usage; with those of open hours they rank as raw samples alone do.
    """
    lake = LakeStore(tmp_path / "lake")
    documents = [
        {**known, "job.run": f"{known['job.id']}@1"} for known in made(400) if "job.id" in known
    ]
    lake.write(documents, "replace")
    do(ROLLUP, Work(lake, NOW, zone_of))
    soon = format_time(NOW - timedelta(minutes=5))
    late = [
        {**known, "@timestamp": soon, "sample.uptime": 10_000 + number, "job.id": job}
        for number, (known, job) in enumerate(
            zip(documents, ("fox/1", "fox/2", "fox/new", "fox/new"), strict=False)
        )
    ]
    lake.write(late, "create")
    for top in (1, 3, 10):
        text = f"core_hours_used by job during all top {top}{order}"
        found, raw = (
            ask(parse_question(text), lake, EVERYTHING, NOW, zone=ZONE, own=OWN, rolled=rolled)
            for rolled in (True, False)
        )
        assert {"process", "usage"} == set(found.datasets)
        assert figures(found) == figures(raw), text
    lake.close()


def test_sessions_and_strays_are_told_apart() -> None:
    """
    One command in two sessions is two jobs in usage, too, and what is no stray is said to be none.
    """
    shared: Document = {
        "dataset": "process",
        "@timestamp": "2026-11-20T11:10:00.000Z",
        "event.ingested": "2026-11-20T11:11:00.000Z",
        "cluster": "fox",
        "host.name": "login-1",
        "boot.id": "b1",
        "user.id": "7",
        "user.name": "alice",
        "process.name": "python3",
        "command.shape": "python3",
        "core_seconds": 3600.0,
    }
    made = [("one", False, 1), ("two", False, 2), ("two", True, 3)]
    store = MemoryStore()
    documents = [
        {
            **shared,
            "sample.uptime": number,
            "process.entity_id": f"{number}-1",
            "job.id": f"fox/login-1/{session}",
            "stray": stray,
        }
        for session, stray, number in made
    ]
    store.write(documents, "create")
    rolled(store)
    for text in ("core_hours_used by job", "core_hours_used by stray", "samples by shape"):
        asked = f"{text} during 2026-11-20"
        found = told(store, asked)
        assert found.datasets == ("usage",)
        assert found.rows == told(store, asked, rolled=False).rows
    assert 2 == told(store, "jobs_sampled during 2026-11-20").total["jobs_sampled"]
