"""Nodes and queues that no job used: known from capacity, not from the lack of documents."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from leadline.formats import Document
from leadline.formats.times import format_time
from leadline.reports.inventory import InventorySettings, NodesSettings, read_inventory
from leadline.reports.unused import never_used
from leadline.store.scope import EVERYTHING
from tests.query.conftest import stored

START = datetime(2026, 3, 2, tzinfo=UTC)
END = START + timedelta(days=7)


def at(hours: float) -> str:
    return format_time(START + timedelta(hours=hours))


def hour(host: str, **fields: object) -> Document:
    return {
        "dataset": "capacity",
        "@timestamp": at(5),
        "cluster": "fox",
        "host.name": host,
        "partition": "batch",
        "seconds.up": 3600.0,
        "node.cores": 16,
        "record.version": 1,
        **fields,
    }


def node(host: str, *partitions: str) -> Document:
    return {
        "dataset": "node_state",
        "@timestamp": at(-3),
        "cluster": "fox",
        "host.name": host,
        "state.name": "IDLE",
        "state.hash": "i",
        "partitions": list(partitions),
    }


def job(start: float, end: float | None, **fields: object) -> Document:
    run: Document = {
        "dataset": "job",
        "@timestamp": at(start - 900),
        "cluster": "fox",
        "job.run": f"fox/1@{start}",
        "job.start": at(start),
        "job.nodes": ["n1"],
        "partition": "batch",
        "record.version": 1,
        **fields,
    }
    return run if end is None else {**run, "job.end": at(end)}


def unused(*documents: Document) -> list[tuple[object, object]]:
    rows = never_used(stored(documents), EVERYTHING, START, END)
    return [(row["name"], row["last_used"]) for row in rows]


FLEET = [hour("n1"), hour("n2"), node("n1", "batch", "long"), node("n2", "batch", "gpu")]


def test_nodes_and_queues_without_a_job() -> None:
    """
    One job on n1 in batch: n2, gpu and long were there for nothing.
    """
    assert [("n2", None), ("gpu", None), ("long", None)] == unused(*FLEET, job(2, 3))


@pytest.mark.parametrize(
    "run",
    [
        job(-20, 3),
        job(160, None),
        job(-20, None),
    ],
)
def test_a_run_that_overlaps_the_period_is_use(run: Document) -> None:
    """
    Submitted long before, begun before, not ended yet.
    """
    assert ["n2", "gpu", "long"] == [name for name, _ in unused(*FLEET, run)]


def test_last_use_before_the_period_is_told() -> None:
    """
    When a job last ended there; one that only waits uses nothing.
    """
    before = job(-40, -30, **{"job.nodes": ["n2"], "partition": "gpu"})
    waits = {n: v for n, v in job(3, None).items() if n not in ("job.start", "job.nodes")}
    found = dict(unused(*FLEET, before, job(2, 3), waits))
    assert {"n2": at(-30), "gpu": at(-30), "long": None} == found


def test_states_and_samples_are_use_too() -> None:
    """
    Where no accounting came: what the scheduler told, or what ran in a job there.
    """
    told = {
        "dataset": "job_state",
        "@timestamp": at(4),
        "cluster": "fox",
        "job.run": "fox/9@1",
        "state.name": "RUNNING",
        "state.hash": "r",
        "job.nodes": ["n1"],
        "partition": "gpu",
    }
    sampled = {
        "dataset": "process",
        "@timestamp": at(4),
        "cluster": "fox",
        "host.name": "n2",
        "boot.id": "b",
        "sample.uptime": 1,
        "process.entity_id": "1-1",
        "job.id": "fox/10",
        "partition": "long",
    }
    assert ["batch"] == [name for name, _ in unused(*FLEET, told, sampled)]


def test_a_node_that_was_never_up_is_not_told() -> None:
    """
    Nobody could have used it; one of which nobody knows is told, without time.
    """
    down = hour("n3", **{"seconds.up": 0.0, "seconds.down": 3600.0})
    unknown = hour("n4", **{"seconds.up": 0.0, "seconds.unknown": 3600.0})
    rows = never_used(stored([*FLEET, down, unknown, job(2, 3)]), EVERYTHING, START, END)
    times = {row["name"]: row["up_seconds"] for row in rows if row["kind"] == "node"}
    assert {"n2": 3600, "n4": None} == times


def test_listed_queues_are_there() -> None:
    """
    Where no scheduler tells which queues there are, the settings do.
    """
    listed = NodesSettings(cluster="fox", hosts="n1", partitions=("rare", "batch"))
    inventory = read_inventory(InventorySettings((listed,)))
    store = stored([hour("n1"), job(2, 3)])
    rows = never_used(store, EVERYTHING, START, END, inventory=inventory)
    assert ["rare"] == [row["name"] for row in rows]
