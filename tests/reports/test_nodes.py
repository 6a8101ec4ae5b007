"""Nodes over time: what nobody saw is unknown, the rest adds up to the second."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from click.testing import CliRunner

from leadline.commands import cli
from leadline.formats import Document
from leadline.formats.nodestate import REMOVED, parse_state
from leadline.formats.times import from_epoch
from leadline.reports import nodes as report
from leadline.reports.timeline import TOLD, availability, by_class, by_state, covered, spans
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING

START = datetime(2026, 1, 1, tzinfo=UTC)
AT = START.timestamp()
DAY = 86400.0


def state(at: float, text: str, host: str = "n1", **more: object) -> Document:
    name, flags = parse_state(text)
    return {
        "@timestamp": from_epoch(AT + at),
        "dataset": "node_state",
        "cluster": "fox",
        "host.name": host,
        "state.name": name,
        "state.flags": list(flags),
        "state.hash": text,
        **more,
    }


def look(at: float, host: str = "head", **more: object) -> Document:
    return {
        "@timestamp": from_epoch(AT + at),
        "sample.time": from_epoch(AT + at),
        "dataset": "node",
        "cluster": "fox",
        "host.name": host,
        "boot.id": "b00t",
        "sample.uptime": int(at),
        **more,
    }


def looks(start: float, end: float, step: float = 300) -> list[Document]:
    return [
        {**look(start + n * step), "slurm.nodes": 2} for n in range(int((end - start) / step) + 1)
    ]


def stored(*documents: Document) -> MemoryStore:
    store = MemoryStore()
    outcome = store.write(list(documents), "create")
    assert not outcome.rejected, outcome.rejected
    return store


def read(store: MemoryStore, seconds: float = DAY) -> report.Fleet:
    return report.fleet(store, EVERYTHING, START, START + timedelta(seconds=seconds))


def test_time_between_changes_is_the_state_before() -> None:
    """
    Up 6 h, drained 6 h, down 12 h.
    """
    changes = [state(0, "IDLE"), state(6 * 3600, "IDLE+DRAIN"), state(12 * 3600, "DOWN")]
    found = spans(changes, [(AT, AT + DAY)], AT, AT + DAY)
    assert {"up": 21600, "drained": 21600, "down": 43200, "unknown": 0} == by_class(found)
    assert 25.0 == availability(by_class(found))
    assert {"DOWN": 43200, "IDLE": 21600, "IDLE+DRAIN": 21600} == by_state(found)


def test_time_nobody_looked_is_unknown() -> None:
    """
    A collector that was away for two hours: no state is made up for them.
    """
    store = stored(state(0, "IDLE"), *looks(0, 36000), *looks(43200, DAY))
    fleet = read(store)
    seconds = by_class(fleet.timeline(("fox", "n1")))
    assert {"up": DAY - 7200, "drained": 0, "down": 0, "unknown": 7200} == seconds
    assert 100.0 == availability(seconds)


def test_nothing_known_is_no_availability() -> None:
    """
    Not 0 %, not 100 %.
    """
    store = stored(state(0, "IDLE"))
    (row,) = report.node_rows(read(store))
    assert row["availability"] is None
    assert DAY == row["unknown_seconds"]


def test_state_before_the_period_holds_in_it() -> None:
    """
    The daily full set tells how a node that did not change began.
    """
    told = [state(at, "IDLE+DRAIN", snapshot=True) for at in (-40000, 46400)]
    store = stored(*told, *looks(0, DAY))
    assert DAY == by_class(read(store).timeline(("fox", "n1")))["drained"]


def test_a_state_not_told_again_is_unknown() -> None:
    """
    Somebody looked all the time and the daily full sets had no such node: it is gone.
    """
    store = stored(state(0, "IDLE"), *looks(0, 2 * DAY))
    seconds = by_class(read(store, 2 * DAY).timeline(("fox", "n1")))
    assert (TOLD, 2 * DAY - TOLD) == (seconds["up"], seconds["unknown"])


def test_a_node_is_remembered_when_nobody_asks_any_more() -> None:
    """
    The collector has been away for days: the node is there, its time unknown; a removed one is not.
    """
    store = stored(
        state(-5 * DAY, "IDLE"), state(-6 * DAY, "IDLE", "n2"), state(-5 * DAY, REMOVED, "n2")
    )
    fleet = read(store)
    assert [("fox", "n1")] == fleet.hosts()
    assert DAY == by_class(fleet.timeline(("fox", "n1")))["unknown"]
    assert not fleet.is_known(("fox", "n1"))


def test_snapshots_are_no_changes() -> None:
    """
    The same state told again leaves one span.
    """
    store = stored(state(0, "IDLE"), state(3600, "IDLE", snapshot=True), *looks(0, DAY))
    assert 1 == len(read(store).timeline(("fox", "n1")))


def test_spans_leave_no_hole_and_no_overlap() -> None:
    """
    Whatever changed and whenever somebody looked, the spans fill the period.
    """
    rng = random.Random(7)
    for _ in range(200):
        times = sorted(rng.uniform(-DAY, 2 * DAY) for _ in range(rng.randrange(8)))
        changes = [state(at, rng.choice(["IDLE", "DOWN", "MIXED+DRAIN"])) for at in times]
        seen = covered(AT + rng.uniform(-DAY, 2 * DAY) for _ in range(rng.randrange(300)))
        found = spans(changes, seen, AT, AT + DAY)
        assert found[0].start == AT
        assert found[-1].end == AT + DAY
        assert all(a.end == b.start for a, b in pairwise(found))


def test_availability_of_a_partition_is_of_its_nodes() -> None:
    """
    Node-seconds; a node in two partitions counts in both.
    """
    store = stored(
        state(0, "IDLE", "n1", partitions=["batch", "gpu"]),
        state(0, "DOWN", "n2", partitions=["batch"]),
        *looks(0, DAY),
    )
    rows = {row["partition"]: row for row in report.group_rows(read(store), "partition")}
    assert (2, 50.0) == (rows["batch"]["nodes"], rows["batch"]["availability"])
    assert (1, 100.0) == (rows["gpu"]["nodes"], rows["gpu"]["availability"])
    (whole,) = report.group_rows(read(store), "cluster")
    assert 50.0 == whole["availability"]


def test_command_prints_states_and_cards(tmp_path: object) -> None:
    """
    `leadline nodes` on a lake: table, timeline, cards, and a word where there is nothing.
    """
    from leadline.store import open_store

    address = f"lake:{tmp_path}/lake"
    store = open_store(address)
    empty = CliRunner().invoke(cli, ["--store", address, "nodes"])
    assert "slurm_live" in empty.output
    now = datetime.now(UTC).timestamp() - AT
    store.write(
        [
            state(now - 7200, "IDLE", snapshot=True),
            state(
                now - 3600,
                "IDLE+DRAIN",
                **{
                    "state.reason": "fan noise",
                    "state.reason_user": "root",
                    "gpu.by_model": {"A100": {"total": 2, "allocated": 0}},
                },
            ),
            *looks(now - 7200, now),
        ],
        "create",
    )
    store.close()

    def run(*words: str) -> str:
        return CliRunner().invoke(cli, ["--store", address, "nodes", *words]).output

    assert "IDLE+DRAIN" in run("--format", "csv")
    assert "fan noise" in run("n1.fox")
    assert "A100,fox,2,0,0,2,2 drained: fan noise" in run("--gpus", "--format", "csv")
    assert "50" in run("--by", "cluster", "--format", "csv")
