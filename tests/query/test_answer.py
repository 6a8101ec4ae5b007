"""
Answers: parts and others make the whole, absence is not zero, and who is asked for is who is told.
"""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from leadline.errors import QuestionError, StoreError
from leadline.query.answer import time_label
from leadline.store.memory import MemoryStore
from leadline.store.scope import Scope
from tests.query.conftest import answer, heartbeat, sample, stored


@pytest.fixture
def store() -> MemoryStore:
    """
    alice 3 h in VASP and unmatched, bob 2 h in GROMACS, chen 1 h in VASP, of unlike memory.
    """
    names = ["alice", "alice", "alice", "bob", "bob", "chen"]
    programs = ["VASP", "VASP", None, "GROMACS", "GROMACS", "VASP"]
    memory = [10, 20, None, 5, 15, 90]
    tags = [["mpi"], ["mpi", "licensed"], None, ["mpi"], ["gpu", "mpi"], ["licensed"]]
    return stored(
        sample(
            number,
            **{"user.name": names[number], "job.id": f"fox/{number // 2}"},
            **({"program.name": programs[number]} if programs[number] else {}),
            **({"memory.rss.bytes": memory[number]} if memory[number] else {}),
            **({"program.tags": tags[number]} if tags[number] else {}),
        )
        for number in range(6)
    )


def test_top_and_others_make_the_total(store: MemoryStore) -> None:
    """
    The shown rows and the others row add up to the total.
    """
    found = answer(store, "core_hours_used by user top 1")
    assert ({"user": "alice", "core_hours_used": 3.0},) == found.rows
    assert {"core_hours_used": 3.0} == found.others
    assert {"core_hours_used": 6.0} == found.total
    assert 2 == found.others_count
    assert (0.5,) == found.shares


def test_others_of_a_mean_is_no_mean_of_means(store: MemoryStore) -> None:
    """
    The others' mean comes from their sums: (5 + 15 + 90) / 3, not (10 + 90) / 2.
    """
    found = answer(store, "core_hours_used, memory_mean, memory_max by user top 1")
    assert pytest.approx(110 / 3) == found.others["memory_mean"]  # type: ignore[index]
    assert 90 == found.others["memory_max"]  # type: ignore[index]
    assert pytest.approx(140 / 5) == found.total["memory_mean"]


def test_distinct_users_are_not_added_up(store: MemoryStore) -> None:
    """
    Distinct counts of others and total are counted anew: alice runs two programs, and is one.
    """
    found = answer(store, "users by program top 1")
    assert ({"program": "VASP", "users": 2},) == found.rows
    assert {"users": 2} == found.others
    assert {"users": 3} == found.total


def test_unmatched_is_a_row_of_its_own(store: MemoryStore) -> None:
    """
    Commands no rule names are a row: null for scripts, `unmatched` for people.
    """
    found = answer(store, "core_hours_used by program")
    assert {"program": None, "core_hours_used": 1.0} in found.rows
    assert "unmatched" == found.label("program", None)
    only = answer(store, "core_hours_used by user where program=unmatched")
    assert ({"user": "alice", "core_hours_used": 1.0},) == only.rows


def test_what_was_not_measured_is_not_zero(store: MemoryStore) -> None:
    """
    No GPU was measured: the answer says so, and never 0.
    """
    found = answer(store, "gpu_hours_busy, memory_mean by program")
    values = {row["program"]: row for row in found.rows}
    assert values["VASP"]["gpu_hours_busy"] is None
    assert values[None]["memory_mean"] is None
    assert found.total["gpu_hours_busy"] is None


def test_tags_count_twice_and_say_so(store: MemoryStore) -> None:
    """
    A sample of two tags is in two rows and once in the total; `others` has no shown tag.
    """
    found = answer(store, "core_hours_used by tag top 1")
    assert ({"tag": "mpi", "core_hours_used": 4.0},) == found.rows
    assert {"core_hours_used": 2.0} == found.others
    assert {"core_hours_used": 6.0} == found.total
    whole = answer(store, "core_hours_used by tag")
    assert {"tag": None, "core_hours_used": 1.0} in whole.rows
    assert whole.multiple
    assert whole.notes[0].startswith("2.0 of core hours used counted in more than one row")


@pytest.mark.parametrize(
    ("where", "hours"),
    [
        ("user=alice", 3.0),
        ("user!=alice", 3.0),
        ("user=alice|bob", 5.0),
        ("user=a*", 3.0),
        ("user!=a*|bob", 1.0),
        ("user=a*|bob", 5.0),
        ("program=(none)", 1.0),
        ("program!=(none)", 5.0),
        ("program=VASP|(none)", 4.0),
        ("program!=VASP|(none)", 2.0),
        ("tag=licensed", 2.0),
        ("tag!=licensed", 4.0),
        ("weekday=Friday", 6.0),
        ("weekday=mon", None),
        ("user=alice, program=VASP", 2.0),
    ],
)
def test_filters(store: MemoryStore, where: str, hours: float | None) -> None:
    """
    Equal, not equal, lists, prefixes, absence, and all of them mixed.
    """
    assert hours == answer(store, f"core_hours_used where {where}").total["core_hours_used"]


@pytest.mark.parametrize("where", ["weekday=8", "weekday=Foo", "hour_of_day=24", "hour_of_day=x"])
def test_no_such_hour_or_day(store: MemoryStore, where: str) -> None:
    """
    A value that cannot be is refused: nothing would be found of it, and that would look measured.
    """
    with pytest.raises(QuestionError, match=r"write .*\d to \d"):
        answer(store, f"core_hours_used where {where}")


def test_two_dimensions_and_a_bucket(store: MemoryStore) -> None:
    """
    Two dimensions mix with a time bucket, and the buckets' totals are told as well.
    """
    found = answer(store, "core_hours_used by user, program per month top 2")
    assert [
        {"user": "alice", "program": "VASP", "month": "2026-11-01", "core_hours_used": 2.0},
        {"user": "bob", "program": "GROMACS", "month": "2026-11-01", "core_hours_used": 2.0},
    ] == list(found.rows)
    assert ({"month": "2026-11-01", "core_hours_used": 6.0},) == found.total_by_time
    assert ({"month": "2026-11-01", "core_hours_used": 2.0},) == found.others_by_time
    assert "2026-11" == found.label("month", "2026-11-01")


def test_midnight_belongs_to_the_new_day() -> None:
    """
    A period is half-open in the cluster's zone: local midnight is the next day's.
    """
    store = stored(
        [
            sample(1, **{"@timestamp": "2026-10-31T22:59:59.999Z"}),
            sample(2, **{"@timestamp": "2026-10-31T23:00:00.000Z"}),
        ]
    )
    assert 1 == answer(store, "samples during 2026-10").total["samples"]
    assert 1 == answer(store, "samples during 2026-11").total["samples"]


def test_a_job_question_shows_the_top_of_many(store: MemoryStore) -> None:
    """
    By job only the top is fetched; others and total are right all the same.
    """
    found = answer(store, "core_hours_used, users by job per day top 2")
    assert ["fox/0", "fox/1"] == [row["job"] for row in found.rows]
    assert {"core_hours_used": 2.0, "users": 2} == found.others
    assert {"core_hours_used": 6.0, "users": 3} == found.total


def test_least_used_knows_the_never_used(store: MemoryStore) -> None:
    """
    The least used nodes begin with those that ran nothing, known from their heartbeats.
    """
    store.write([heartbeat("c1-9", "2026-11-20T11:30:00.000Z")], "create")
    found = answer(store, "core_hours_used by host order core_hours_used ascending")
    assert ["c1-9", "c1-1"] == [row["host"] for row in found.rows]
    assert 0 == found.rows[0]["core_hours_used"]


def test_never_used_queues_nodes_and_clusters_come_from_the_inventory(store: MemoryStore) -> None:
    """
    What capacity and the scheduler's states know and nobody used is 0, within the places asked
    about; a period before there was any has none.
    """
    state = {
        "dataset": "node_state",
        "@timestamp": "2026-11-19T23:00:00.000Z",
        "cluster": "fox",
        "host.name": "c1-8",
        "state.hash": "x",
        "partitions": ["batch", "debug"],
    }
    hour = {
        "dataset": "capacity",
        "@timestamp": "2026-11-20T11:00:00.000Z",
        "cluster": "betzy",
        "host.name": "b1",
        "partitions": ["huge"],
        "record.version": 1,
    }
    store.write([state, hour, sample(90, partition="batch")], "replace")
    least = "core_hours_used by {} during 2026-11-20 top 9 order core_hours_used ascending"

    def zeros(name: str, asked: str = least) -> list[object]:
        rows = answer(store, asked.format(name)).rows
        return [row[name] for row in rows if row["core_hours_used"] == 0]

    assert ["debug", "huge"] == zeros("partition")
    assert ["b1", "c1-8"] == zeros("host")
    assert ["betzy"] == zeros("cluster")
    assert ["c1-8"] == zeros("host", least.replace("during", "where cluster=fox during"))
    assert [] == zeros("host", least.replace("2026-11-20", "2026-10-20"))


def test_coverage_is_the_share_of_node_time_looked_at() -> None:
    """
    Two nodes, one silent for half the day: 75 %, and the silent one is named.
    """
    beats = [heartbeat("c1", f"2026-11-19T{h:02d}:30:00.000Z") for h in range(23)]
    beats += [heartbeat("c1", "2026-11-18T23:30:00.000Z")]
    beats += [heartbeat("c2", f"2026-11-19T{h:02d}:30:00.000Z") for h in range(12)]
    beats += [heartbeat("c2", "2026-11-18T12:30:00.000Z")]
    found = answer(stored(beats), "core_hours_used during 2026-11-19").coverage
    assert pytest.approx(0.75) == found.share
    assert (("c2", 0.5),) == found.silent
    assert "2026-11-19T22:30:00.000Z" == found.newest


def test_without_heartbeats_coverage_is_not_measured(store: MemoryStore) -> None:
    """
    Nobody said how much was looked at: coverage is not measured, freshness still is.
    """
    found = answer(store, "samples")
    assert found.coverage.share is None
    assert "2026-11-20T11:00:00.000Z" == found.coverage.newest
    assert found.provisional


def test_a_closed_period_is_not_provisional(store: MemoryStore) -> None:
    """
    Last month is over: its figures do not wait for anything.
    """
    assert not answer(store, "samples during 2026-10").provisional


def test_scope_is_kept(store: MemoryStore) -> None:
    """
    Who may see only bob's samples is told only of them; totals only refuses names.
    """
    found = answer(store, "core_hours_used by user", Scope(users=frozenset({"bob"})))
    assert [{"user": "bob", "core_hours_used": 2.0}] == list(found.rows)
    assert {"core_hours_used": 2.0} == found.total
    totals = Scope(totals_only=True)
    assert 6.0 == answer(store, "core_hours_used by program", totals).total["core_hours_used"]
    with pytest.raises(StoreError):
        answer(store, "core_hours_used by user", totals)


@pytest.mark.parametrize(
    "text",
    ["core_hour_used", "samples by prgram", "memory_median by state", "jobs by program",
     "core_allocation by user", "jobs_running by weekday", "samples where wait_class=1"],
)  # fmt: skip
def test_what_nobody_can_tell_is_refused(store: MemoryStore, text: str) -> None:
    """
    A measure is not told apart by what its documents do not know.
    """
    with pytest.raises(QuestionError):
        answer(store, text)


def test_of_the_hour_that_comes_twice_it_is_said_which() -> None:
    """
    Rows of the night of 25 October are told apart by the clocks' names; other hours need none.
    """
    hours = [f"2026-10-25T0{hour}:00:00.000Z" for hour in range(3)]
    told = [time_label("hour", hour, ZoneInfo("Europe/Oslo"))[11:] for hour in hours]
    assert ["02:00 CEST", "02:00 CET", "03:00"] == told
