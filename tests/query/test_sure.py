"""
How sure an answer is: what was rejected, dropped, not kept; and coverage that outlives samples.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from leadline.chores.capacity import keep_capacity
from leadline.chores.lease import done
from leadline.chores.rollup import roll_up
from leadline.query import Answer, ask, parse_question
from leadline.query.coverage import Coverage
from leadline.query.rejected import rejected_in
from leadline.reports.answers import as_json, footer, why_empty
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING
from tests.query.conftest import NOW, ZONE, answer, heartbeat, sample, stored

UTC_ZONE = ZoneInfo("UTC")


def beats(host: str, hours: range) -> list[dict[str, object]]:
    """
    An hour of a node told in its middle.
    """
    return [heartbeat(host, f"2026-11-19T{hour:02d}:30:00.000Z") for hour in hours]


def with_capacity(store: MemoryStore) -> MemoryStore:
    keep_capacity(store, NOW, lambda cluster: UTC_ZONE)
    done(store, "capacity", NOW, NOW, 1)
    return store


def covered(store: MemoryStore, period: str = "2026-11-19") -> Coverage:
    question = parse_question(f"samples during {period}")
    return ask(question, store, EVERYTHING, NOW, zone=UTC_ZONE).coverage


def test_coverage_is_the_same_from_capacity() -> None:
    """
    Two nodes, one silent for half the day: 75 % from heartbeats as from hourly capacity.
    """
    documents = [*beats("c1", range(24)), *beats("c2", range(12))]
    raw, summed = covered(stored(documents)), covered(with_capacity(stored(documents)))
    assert pytest.approx(0.75) == raw.share
    assert raw.share == pytest.approx(summed.share)
    assert raw.silent == summed.silent
    assert raw.newest == summed.newest == "2026-11-19T23:30:00.000Z"
    cut = covered(with_capacity(stored(documents)), "2026-11-19T00:20..2026-11-19T23:40")
    assert cut.share == pytest.approx((23 / (23 + 1 / 3) + 12 / (23 + 1 / 3)) / 2, abs=0.03)


def test_coverage_outlives_the_heartbeats() -> None:
    """
    When heartbeats are gone, capacity still tells how much was looked at; nothing becomes 0 %.
    """
    store = with_capacity(stored([*beats("c1", range(24)), *beats("c2", range(12))]))
    store.tables["node"].clear()
    assert pytest.approx(0.75) == covered(store).share
    assert covered(store).newest == "2026-11-19T23:59:59.000Z"


def test_a_login_node_is_not_judged_by_its_last_hour() -> None:
    """
    The scheduler does not rule it, so capacity has no hours of it: it is left out.
    """
    store = with_capacity(stored([*beats("c1", range(24)), *beats("login", range(24))]))
    for key in [k for k, d in store.tables["capacity"].items() if d["host.name"] == "login"]:
        del store.tables["capacity"][key]
    last = heartbeat("login", "2026-11-21T11:05:00.000Z") | {"interval.seconds": 300}
    store.write([last, heartbeat("c1", "2026-11-21T11:30:00.000Z")], "create")
    assert [host for host, _ in covered(store, "2026-11-19..2026-11-21").silent] == ["c1"]


@pytest.mark.parametrize("kept", [stored, lambda documents: with_capacity(stored(documents))])
def test_a_new_node_is_looked_at_since_it_is_there(
    kept: Callable[[list[dict[str, object]]], MemoryStore],
) -> None:
    """
    Of a node first heard of at noon nothing was missed before; of one that fell silent, it was.
    """
    new = [*beats("c1", range(24)), *beats("c2", range(12, 24))]
    assert pytest.approx(1.0, abs=0.03) == covered(kept(new)).share
    assert pytest.approx(1.0, abs=0.03) == covered(kept(new), "2026-11-01..2026-11-19").share
    known = [*new, heartbeat("c2", "2026-11-18T10:30:00.000Z")]
    found = covered(kept(known))
    assert pytest.approx(0.75) == found.share
    assert ["c2"] == [name for name, _ in found.silent]


def test_downtime_is_no_lack_of_coverage() -> None:
    """
    A node down for half the day was looked at whenever it was there.
    """
    store = with_capacity(stored([*beats("c1", range(24)), *beats("c2", range(12))]))
    for document in store.tables["capacity"].values():
        if document["host.name"] == "c2":
            document["seconds.unknown"] = 0.0
    last = max(str(d["@timestamp"]) for d in store.tables["capacity"].values())
    out = {"dataset": "capacity", "cluster": "fox", "host.name": "c2", "record.version": 1}
    hours = range(12, 24)
    store.write(
        [
            {
                **out,
                "@timestamp": f"2026-11-19T{hour:02d}:00:00.000Z",
                "seconds.down": 3600.0,
                "seconds.up": 0.0,
                "covered.seconds": 0.0,
            }
            for hour in hours
        ],
        "replace",
    )
    assert "2026-11-19T23:00:00.000Z" == last
    found = covered(store)
    assert (pytest.approx(1.0), ()) == (found.share, found.silent)


def test_rejected_and_dropped_are_told(tmp_path: Path) -> None:
    """
    Dead letters of the period's days and what nodes dropped stand under the answer and in JSON.
    """
    letters = tmp_path / "deadletters"
    assert rejected_in(letters) is None
    letters.mkdir()
    for day, count in (("2026-11-19", 2), ("2026-11-20", 3), ("2026-10-01", 9)):
        (letters / f"{day}.ndjson").write_text("{}\n" * count)
    (letters / ".lock").write_text("")
    lost = {**heartbeat("c1", "2026-11-20T10:00:00.000Z"), "shipper.dropped_by_bound": 7}
    question = parse_question("samples during 2026-11-19..2026-11-20")
    found = ask(
        question,
        stored([lost]),
        EVERYTHING,
        NOW,
        zone=UTC_ZONE,
        rejected=rejected_in(letters),
    )
    assert (5, 7) == (found.rejected, found.coverage.dropped)
    text = "\n".join(footer(found))
    assert "Rejected of these days: 5 documents" in text
    assert "Dropped on nodes that could not send: 7 documents" in text
    assert (5, 7) == (as_json(found)["rejected"], as_json(found)["dropped"])
    assert answer(stored([lost]), "samples").rejected is None


def old_and_new() -> MemoryStore:
    """
    Samples of August and of today; those of August were rolled up and are gone.
    """
    early = "2026-08-10T10:00:00.000Z"
    ingested = {"event.ingested": "2026-11-20T11:00:01.000Z"}
    store = stored(
        [
            sample(1, **{"@timestamp": early, "local.day": "2026-08-10", **ingested}),
            sample(2, **ingested),
        ]
    )
    moment = datetime(2026, 11, 20, 13, tzinfo=UTC)
    roll_up(store, moment, lambda cluster: ZONE)
    done(store, "rollup", moment, moment, 2)
    table = store.tables["process"]
    for key in [k for k, document in table.items() if document["@timestamp"] == early]:
        del table[key]
    return store


def notes(store: MemoryStore, text: str) -> tuple[str, ...]:
    found: Answer = answer(store, text)
    assert dict(found.kept_from) == as_json(found)["not_kept_before"]
    return found.notes


def test_what_usage_cannot_part_is_said() -> None:
    """
    An hour whose samples are gone has no containers any more: that is no filter that misses.
    """
    found = answer(old_and_new(), "core_hours_used by container during 2026-08")
    assert () == found.rows
    assert "kept since 2026-11-20, and hourly usage" in why_empty(found)


def test_what_is_gone_is_said() -> None:
    """
    Core hours and memory are answered from usage and complete; processes need samples, which are
    gone.
    """
    store = old_and_new()
    assert 2.0 == answer(store, "core_hours_used during all").total["core_hours_used"]
    assert () == notes(store, "core_hours_used during 2026-08-10..2026-11-20")
    assert () == notes(store, "memory_median during all")
    assert ("samples are not kept before 2026-11-20",) == notes(store, "processes during all")
    assert ("samples are not kept before 2026-11-20",) == notes(
        store, "core_hours_used, processes during 2026-08-10..2026-11-20"
    )
    assert ("hourly usage is not kept before 2026-08-10",) == notes(
        store, "core_hours_used during 2026"
    )


def test_a_count_of_what_is_gone_is_not_nought() -> None:
    """
    Core hours are known from usage; how many processes they were nobody knows any more.
    """
    store = old_and_new()
    found = answer(store, "core_hours_used, processes by user during 2026-08-10 top 5")
    assert [(1.0, None)] == [(row["core_hours_used"], row["processes"]) for row in found.rows]
    assert {"core_hours_used": 1.0, "processes": None} == found.total
    found = answer(store, "core_hours_used, processes per month during 2026-08-10..2026-11-20")
    assert [None, 1] == [row["processes"] for row in found.rows]
    assert [None, 1] == [row["processes"] for row in found.total_by_time]


def test_the_newest_sample_is_of_what_was_asked_for() -> None:
    """
    Of a cluster that nobody heard of, no other's newest sample is told.
    """
    store = stored([sample(1)])
    assert None is answer(store, "samples where cluster=nosuch during all").coverage.newest
    assert None is not answer(store, "samples during all").coverage.newest


def test_before_the_first_sample_nobody_is_not_nought() -> None:
    """
    Users are not 0 where nobody looked, whether there are roll-ups or not.
    """
    store = stored([sample(1), heartbeat("c1", "2026-11-20T10:30:00.000Z")])
    assert {"users": None, "samples": None} == answer(store, "users, samples during 2025").total
    assert {"users": 0} == answer(store, "users where user=bob during 2026").total
    rolled = old_and_new()
    assert {"users": None, "hosts": None} == answer(rolled, "users, hosts during 2025").total
    assert {"users": 0} == answer(rolled, "users where user=bob during 2026-08-10").total


def test_where_no_scheduler_ever_told_jobs_are_not_nought() -> None:
    """
    Samples alone know core hours, not how many runs ended.
    """
    found = answer(old_and_new(), "core_hours_used, jobs, jobs_running by user during all top 5")
    assert [(2.0, None, None)] == [tuple(row.values())[1:] for row in found.rows]
    assert {"core_hours_used": 2.0, "jobs": None, "jobs_running": None} == found.total


def test_a_count_that_is_not_known_has_no_share() -> None:
    """
    Accounting began in November: August's runs are neither 0 nor 0 % of all.
    """
    store = old_and_new()
    run = {"job.id": "fox/1", "job.run": "fox/1@1", "record.version": 1, "cluster": "fox"}
    ended = "2026-11-20T09:00:00.000Z"
    store.write([{**run, "dataset": "job", "@timestamp": ended, "job.end": ended}], "replace")
    found = answer(store, "jobs, core_hours_used per month during 2026-08-10..2026-11-20")
    assert [None, 1] == [row["jobs"] for row in found.rows]
    assert (None, 1.0) == found.shares


def test_distinct_users_of_usage_and_samples_together() -> None:
    """
    Users are listed on hourly usage and on the samples of the open hour, each counted once.
    """
    store = old_and_new()
    moment = datetime(2026, 11, 21, 11, tzinfo=UTC)
    open_hour = {
        "@timestamp": "2026-11-21T11:30:00.000Z",
        "local.day": "2026-11-21",
        "event.ingested": "2026-11-21T11:30:01.000Z",
    }
    for number, user in enumerate(["alice", "bob"]):
        store.write([sample(10 + number, **open_hour, **{"user.name": user})], "create")
    early = {"@timestamp": "2026-11-20T09:00:00.000Z", "event.ingested": "2026-11-21T09:00:01.000Z"}
    store.write([sample(20, **early, **{"user.name": "alice"})], "create")
    roll_up(store, moment, lambda cluster: ZONE)
    done(store, "rollup", moment - timedelta(minutes=1), moment, 1)
    found = answer(store, "users, core_hours_used during 2026-11-20..2026-11-21")
    assert {"process", "usage"} == set(found.datasets)
    assert {"users": 2, "core_hours_used": 4.0} == found.total
