"""
How memory is distributed, told from hourly usage once raw samples have gone.
"""

from __future__ import annotations

import random
from datetime import timedelta

import pytest

from leadline.chores.rollup import roll_up
from leadline.chores.run import CHORES, Work, do
from leadline.formats import Document
from leadline.formats.times import parse_time
from leadline.query import ask, parse_question
from leadline.store.contract import Store
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING
from tests.any_store import STORES
from tests.query.conftest import NOW, ZONE, answer, sample
from tests.query.test_differential import figures

ROLLUP = CHORES[0]
OPEN = "2026-11-21T11:30:00.000Z"  # within the hour that no roll-up has closed


def samples() -> list[Document]:
    """
    Of two programs and an unmatched one, over seven orders of magnitude; some without a figure.
    """
    dice = random.Random(4)
    found = []
    for number in range(400):
        program = dice.choice(["VASP", "GROMACS", None])
        day, hour = dice.choice(["2026-11-03", "2026-11-20"]), dice.randrange(24)
        time = OPEN if number % 40 == 0 else f"{day}T{hour:02d}:{number % 60:02d}:00.000Z"
        have = {"memory.rss.bytes": int(10 ** dice.uniform(3, 11))} if dice.random() < 0.9 else {}
        named = {"program.name": program, "program.rule": program} if program else {}
        users = {"user.name": dice.choice(["alice", "bob"]), "host.name": f"c1-{number % 3}"}
        taken = {"event.ingested": "2026-11-21T11:40:00.000Z"}
        local = parse_time(time).astimezone(ZONE)
        clock = {"local.day": local.date().isoformat(), "local.hour": local.hour}
        clock |= {"@timestamp": time, "local.weekday": local.isoweekday()}
        found.append(sample(number, **clock, **have, **named, **users, **taken))
    return found


@pytest.fixture
def memory() -> MemoryStore:
    """
    All samples, and the usage of closed hours.
    """
    store = MemoryStore()
    assert not store.write(samples(), "create").rejected
    assert do(ROLLUP, Work(store, NOW, lambda cluster: ZONE)) is not None
    return store


def outlived(memory: MemoryStore) -> list[Document]:
    """
    What is left when the samples before the 20th have gone.
    """
    kept = [d for d in memory.tables["process"].values() if str(d["@timestamp"]) >= "2026-11-20"]
    assert 0 < len(kept) < len(memory.tables["process"])
    return [*kept, *memory.tables["usage"].values(), *memory.tables["event"].values()]


PERCENTILES = "memory_p25, memory_median, memory_p90, memory_p99"


@STORES
@pytest.mark.parametrize(
    "rest",
    [
        "during all",
        "by program during all",
        "by program during all top 1",
        "by program per day during 2026-11-01..2026-11-30 top 1",
        "by user where program=VASP during 2026-11-03T10:00..2026-11-21T12:00",
        "by memory_class during all",
        "by memory_class during all top 2 order memory_p99",
        'by user where memory_class="256 MiB-1 GiB", program=VASP during all top 1',
    ],
)
def test_percentiles_outlive_samples(memory: MemoryStore, other: Store, rest: str) -> None:
    """
    Rows, others and totals are within 2 % of what the samples told, whatever is asked.
    """
    text = f"{PERCENTILES} {rest}"
    expected = ask(parse_question(text), memory, EVERYTHING, NOW, zone=ZONE, rolled=False)
    other.write(outlived(memory), "replace")
    found = answer(other, text)
    assert "usage" in found.datasets
    assert figures(found, 0.02) == figures(expected, 0.02)


@STORES
@pytest.mark.parametrize(
    "rest",
    [
        "by memory_class during all",
        "by program, memory_class during all top 4",
        "by memory_class per week where user=alice during 2026-11",
        'by user, program where memory_class="16-64 MiB" during all top 1',
        "by user where memory_class=unknown during all",
        'per day where memory_class="< 16 MiB" during 2026-11-01..2026-11-30',
    ],
)
def test_the_histogram_outlives_samples(memory: MemoryStore, other: Store, rest: str) -> None:
    """
    Samples by class of memory are exact, those without a figure a class of their own.
    """
    text = f"samples {rest}"
    expected = ask(parse_question(text), memory, EVERYTHING, NOW, zone=ZONE, rolled=False)
    other.write(outlived(memory), "replace")
    found = answer(other, text)
    assert figures(expected) == figures(found)
    assert "usage" in found.datasets


def test_what_classes_cannot_tell_is_said(memory: MemoryStore) -> None:
    """
    Core hours of samples of a class need the samples: the answer says since when there are any.
    """
    left = MemoryStore()
    left.write(outlived(memory), "replace")
    found = answer(left, 'core_hours_used where memory_class="16-64 MiB" during 2026-11')
    assert "samples are not kept before 2026-11-20" in found.notes
    assert {"process": "2026-11-20"} == found.kept_from


@STORES
def test_every_store_makes_the_same_classes(memory: MemoryStore, other: Store) -> None:
    """
    The chore writes the same usage wherever samples lie.
    """
    other.write(samples(), "create")
    roll_up(other, NOW, lambda cluster: ZONE)
    names = ("@timestamp", "host.name", "user.name", "program.name", "memory.classes")
    key = {
        tuple(str(document.get(name)) for name in names)
        for document in memory.tables["usage"].values()
        if str(document["@timestamp"]) < "2026-11-21T11"
    }
    made = {
        tuple(str(document.get(name)) for name in names)
        for batch in other.scan("usage", EVERYTHING, fields=names)
        for document in batch
        if str(document["@timestamp"]) < "2026-11-21T11"
    }
    assert key == made
    assert any("memory.classes" in document for document in memory.tables["usage"].values())


def test_usage_of_an_older_version_says_what_it_lacks(memory: MemoryStore) -> None:
    """
    Hours rolled up without classes are not in the distribution, and the answer says until when.
    """
    documents = outlived(memory)
    old = MemoryStore()
    for document in documents:
        if document["dataset"] == "usage" and str(document["@timestamp"]) < "2026-11-20":
            document = {k: v for k, v in document.items() if k != "memory.classes"}
        old.write([document], "replace")
    found = answer(old, "memory_median during all")
    assert "how memory is distributed was not kept until 2026-11-04" in found.notes
    told = answer(old, "samples by memory_class during all")
    assert told.total == answer(memory, "samples during all").total
    assert found.total["memory_median"] is not None


def test_samples_that_are_all_there_answer_exactly(memory: MemoryStore) -> None:
    """
    Nothing is taken from classes that samples can tell.
    """
    found = answer(memory, f"{PERCENTILES} by program during all")
    assert ("process",) == found.datasets
    later = NOW + timedelta(hours=1)
    assert (
        found.rows
        == ask(
            parse_question(f"{PERCENTILES} by program during all"),
            memory,
            EVERYTHING,
            later,
            zone=ZONE,
            rolled=False,
        ).rows
    )
