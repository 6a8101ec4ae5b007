"""
Every store: groups and aggregates.
"""

from __future__ import annotations

from collections import Counter

import pytest

from leadline.store.classes import class_of
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Bucket, Condition, Function, Group, Op, Plan
from leadline.store.scope import EVERYTHING
from tests.store.cases import COUNT, HOURS, PEOPLE, ask, at, everything, table
from tests.store.documents import job, process


def test_an_empty_store_answers(store: Store) -> None:
    """
    Before anything was written there is one empty total and no row.
    """
    least = Aggregate("least", Function.MIN, "core_seconds")
    users = Aggregate("users", Function.DISTINCT, "user.name")

    assert ask(store, COUNT, HOURS, least, users) == [
        {"n": 0, "seconds": None, "least": None, "users": 0}
    ]
    assert ask(store, by=(Group("user.name"),)) == []
    assert everything(store) == []
    assert store.search("gmx", EVERYTHING).total == 0
    assert store.health().ok
    assert store.expire({"process": at(21)}, dry_run=False) == []


def test_groups_and_aggregates(store: Store) -> None:
    """
    One row per value, absent values as None; nothing to sum is None, not 0.
    """
    store.write(PEOPLE, "create")

    rows = ask(store, COUNT, HOURS, by=(Group("user.name"),))

    assert table(rows, "user.name") == {"alice": 1, "bob": 1, "alicia": 1, None: 1}
    assert table(rows, "user.name", "seconds") == {"alice": 1, "bob": 2, "alicia": None, None: 3}


def test_every_function(store: Store) -> None:
    """
    Count of a field, least, greatest, distinct, median, over numbers and over instants.
    """
    store.write(PEOPLE, "create")

    [row] = ask(
        store,
        Aggregate("have", Function.COUNT, "core_seconds"),
        Aggregate("tagged", Function.COUNT, "program.tags"),
        Aggregate("least", Function.MIN, "core_seconds"),
        Aggregate("most", Function.MAX, "core_seconds"),
        Aggregate("users", Function.DISTINCT, "user.name"),
        Aggregate("tags", Function.DISTINCT, "program.tags"),
        Aggregate("median", Function.PERCENTILE, "core_seconds", 50),
        Aggregate("newest", Function.MAX, "@timestamp"),
        Aggregate("by_alice", Function.COUNT, where=(Condition("user.name", Op.IN, ("alice",)),)),
        Aggregate(
            "by_nobody", Function.SUM, "core_seconds", where=(Condition("host.name", Op.MISSING),)
        ),
    )

    assert row == {
        "have": 3,
        "tagged": 2,
        "least": 1.0,
        "most": 3.0,
        "users": 3,
        "tags": 2,
        "median": pytest.approx(2.0, rel=0.01),
        "newest": "2026-11-21T04:00:04.000Z",
        "by_alice": 1,
        "by_nobody": None,
    }


def test_a_set_counts_in_each_of_its_values(store: Store) -> None:
    """
    A document with two tags stands in two rows; one without stands in the row None.
    """
    store.write(PEOPLE, "create")

    assert table(ask(store, by=(Group("program.tags"),)), "program.tags") == {
        "gpu": 1,
        "mpi": 2,
        None: 2,
    }


def test_what_is_left_out(store: Store) -> None:
    """
    Documents that match all of one of several sets of conditions are not there; absence is no
    match, unless it is what is left out.
    """
    store.write(PEOPLE, "create")
    alice = (Condition("user.name", Op.IN, ("alice",)), Condition("program.tags", Op.IN, ("mpi",)))
    bob = (Condition("user.name", Op.IN, ("bob",)), Condition("program.tags", Op.IN, ("gpu",)))
    nobody = (Condition("user.name", Op.MISSING), Condition("core_seconds", Op.BELOW, (4,)))

    rows = ask(store, COUNT, by=(Group("user.name"),), without=(alice, bob))
    [whole] = ask(store, COUNT, HOURS, without=(alice, bob, nobody))
    [all_left_out] = ask(store, COUNT, without=((Condition("cluster", Op.IN, ("fox",)),),))

    assert table(rows, "user.name") == {"bob": 1, "alicia": 1, None: 1}
    assert whole == {"n": 2, "seconds": 2.0}
    assert all_left_out == {"n": 0}


def test_two_sets_give_every_pair(store: Store) -> None:
    """
    Grouping by two set fields takes both apart.
    """
    store.write(
        [process(1, **{"program.tags": ["a", "b"], "user.metagroup": ["x", "y"]})], "create"
    )

    rows = ask(store, by=(Group("program.tags"), Group("user.metagroup")))

    assert {(row["program.tags"], row["user.metagroup"]) for row in rows} == {
        ("a", "x"),
        ("a", "y"),
        ("b", "x"),
        ("b", "y"),
    }


@pytest.mark.parametrize(
    ("bucket", "expected"),
    [
        (Bucket.DAY, {"2026-11-21": 2, "2027-01-01": 1, None: 1}),
        (Bucket.WEEK, {"2026-11-16": 2, "2026-12-28": 1, None: 1}),
        (Bucket.MONTH, {"2026-11-01": 2, "2027-01-01": 1, None: 1}),
        (Bucket.QUARTER, {"2026-10-01": 2, "2027-01-01": 1, None: 1}),
        (Bucket.YEAR, {"2026-01-01": 2, "2027-01-01": 1, None: 1}),
    ],
)
def test_days_and_longer_are_the_clusters_own(
    store: Store, bucket: Bucket, expected: dict[str | None, int]
) -> None:
    """
    Buckets of a day and more go by local.day, whatever the time in UTC.
    """
    nowhere = {name: value for name, value in process(4).items() if name != "local.day"}
    store.write(
        [process(1), process(2), process(3, **{"local.day": "2027-01-01"}), nowhere], "create"
    )

    rows = ask(store, by=(Group("local.day", bucket),))

    assert table(rows, "local.day") == expected


def test_hours_are_utc(store: Store) -> None:
    """
    An hour is written as its first moment; empty hours have no row.
    """
    store.write(
        [process(1), process(2), process(3, **{"@timestamp": "2026-11-21T06:59:59.999Z"})], "create"
    )

    rows = ask(store, by=(Group("@timestamp", Bucket.HOUR),))

    assert table(rows, "@timestamp") == {
        "2026-11-21T04:00:00.000Z": 2,
        "2026-11-21T06:00:00.000Z": 1,
    }


def test_edges_cut_numbers_into_classes(store: Store) -> None:
    """
    A class holds its lower edge; what lies below the first or is absent is None.
    """
    values = [0.5, 1.0, 1.5, 10.0, 99.0]
    store.write([process(n, core_seconds=v) for n, v in enumerate(values)] + [process(9)], "create")

    rows = ask(store, by=(Group("core_seconds", edges=(1, 2, 10)),))

    assert table(rows, "core_seconds") == {None: 2, 1: 2, 10: 2}


def test_a_plan_may_run_on_another_time(store: Store) -> None:
    """
    Bounds and hours go by the plan's time field; documents without it are out.
    """
    store.write(
        [
            job(1, **{"job.end": "2026-11-21T05:30:00.000Z"}),
            job(2, **{"job.end": "2026-11-22T00:00:00.000Z"}),
            job(3),
        ],
        "replace",
    )

    rows = store.ask(
        Plan(
            "job",
            (COUNT,),
            by=(Group("job.end", Bucket.HOUR),),
            start=at(21),
            end=at(22),
            time="job.end",
        ),
        EVERYTHING,
    )

    assert rows == [{"job.end": "2026-11-21T05:00:00.000Z", "n": 1}]


def test_many_groups_are_all_there(store: Store) -> None:
    """
    Rows are never cut: top N and others are made above, from all of them.
    """
    store.write([process(n, **{"user.name": f"u{n}"}) for n in range(2500)], "create")

    rows = ask(store, by=(Group("user.name"), Group("host.name")))

    assert len(rows) == 2500
    [row] = ask(store, Aggregate("users", Function.DISTINCT, "user.name"))
    assert row["users"] == 2500


def test_numbers_and_flags_are_keys_too(store: Store) -> None:
    """
    A row's key has the type of its field.
    """
    store.write([process(1, **{"process.pid": 5, "rolled_up": True}), process(2)], "create")

    rows = ask(store, by=(Group("process.pid"), Group("rolled_up")))

    assert {(row["process.pid"], row["rolled_up"]) for row in rows} == {(5, True), (None, None)}


def test_hours_of_the_day_share_a_run(store: Store) -> None:
    """
    A run's day is split over the hours it names, in proportion; parts make the whole, and a day
    that names none is a row of its own.
    """
    runs = [
        ("a", {"08": 3600, "09": 1800}, {"core_seconds_allocated": 600.0}),
        ("b", {"09": 3600}, {"core_seconds_allocated": 60.0}),
        ("b", {"23": 60}, {}),
        ("c", None, {"core_seconds_allocated": 1.0}),
    ]
    documents = [
        job(number)
        | {"dataset": "job_slice", "local.day": "2026-11-21", "project": project}
        | ({} if hours is None else {"hours": hours})
        | sums
        for number, (project, hours, sums) in enumerate(runs)
    ]
    assert not store.write(documents, "replace").rejected
    seconds = Aggregate("seconds", Function.SUM, "core_seconds_allocated")
    have = Aggregate("have", Function.COUNT, "core_seconds_allocated")
    some = Aggregate("some", Function.COUNT, where=(Condition("project", Op.IN, ("b",)),))
    clock = Group("hours", Bucket.CLOCK)

    rows = store.ask(Plan("job_slice", (COUNT, seconds, have, some), (clock,)), EVERYTHING)
    named = store.ask(Plan("job_slice", (seconds,), (Group("project"), clock)), EVERYTHING)

    by_hour = {r["hours"]: (r["n"], r["seconds"], r["have"], r["some"]) for r in rows}
    assert by_hour == {
        8: (1, pytest.approx(400), 1, 0),
        9: (2, pytest.approx(260), 2, 1),
        23: (1, None, 0, 1),
        None: (1, 1.0, 1, 0),
    }
    assert {(r["project"], r["hours"]): r["seconds"] for r in named} == {
        ("a", 8): pytest.approx(400),
        ("a", 9): pytest.approx(200),
        ("b", 9): 60.0,
        ("b", 23): None,
        ("c", None): 1.0,
    }


def test_classes_of_a_number(store: Store) -> None:
    """
    Values a 64th apart share a class; at powers of two, where logarithms round, all stores agree.
    """
    edges = [2**power + off for power in (6, 10, 31, 46) for off in (-1, 0, 1)]
    values = [0, 1, 63, 64, 65, 66, *edges]
    documents = [process(n, **{"memory.rss.bytes": value}) for n, value in enumerate(values)]
    store.write([*documents, process(99)], "create")

    rows = ask(store, by=(Group("memory.rss.bytes", Bucket.CLASS), Group("cluster")))

    expected = Counter(map(class_of, values))
    assert table(rows, "memory.rss.bytes") == {**expected, None: 1}
    assert expected[class_of(64)] == 4  # 64 and 65, each twice


def test_a_sum_that_stands_alone_is_of_all(store: Store) -> None:
    """
    One sum of many thousand documents, without groups: engines take those in ranges.
    """
    documents = [process(n, **{"core_seconds": float(n % 7)}) for n in range(9000)]
    for place in range(0, len(documents), 3000):
        assert not store.write(documents[place : place + 3000], "create").kept
    expected = sum(n % 7 for n in range(9000))

    for _ in range(3):
        [row] = ask(store, HOURS)
        assert row["seconds"] == expected
    rows = ask(store, HOURS, by=(Group("core_seconds", edges=(0.0, 3.0)),))
    assert sum(float(row["seconds"] or 0) for row in rows) == expected
