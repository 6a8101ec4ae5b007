"""Hourly capacity: seconds add up to the hour, and what was not seen is not there to be used."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from leadline.chores.capacity import keep_capacity
from leadline.formats import Document
from leadline.formats.times import from_epoch
from leadline.store.contract import Store
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING

START = datetime(2026, 3, 2, tzinfo=UTC)
AT = START.timestamp()
CARDS = {"A100": {"total": 4, "allocated": 0}}


def state(at: float, name: str, *flags: str, **more: object) -> Document:
    return {
        "@timestamp": from_epoch(AT + at),
        "dataset": "node_state",
        "cluster": "fox",
        "host.name": "n1",
        "state.name": name,
        "state.flags": list(flags),
        "state.hash": f"{name}{at}",
        "partitions": ["batch", "accel"],
        "node.cores": 16,
        "gpu.by_model": CARDS,
        **more,
    }


def sample(at: float, host: str, dataset: str = "node", **more: object) -> Document:
    """
    A sample that speaks for the five minutes before AT.
    """
    return {
        "@timestamp": from_epoch(AT + at - 150),
        "sample.time": from_epoch(AT + at),
        "interval.seconds": 300,
        "dataset": dataset,
        "cluster": "fox",
        "host.name": host,
        "boot.id": "b00t",
        "sample.uptime": int(at),
        **more,
    }


def made(*documents: Document, hours: float = 3) -> list[Document]:
    store = MemoryStore()
    outcome = store.write(list(documents), "create")
    assert not outcome.rejected, outcome.rejected
    keep(store, hours)
    return kept(store)


def keep(store: Store, hours: float) -> tuple[int, int]:
    now = START + timedelta(hours=hours, minutes=30)
    return keep_capacity(store, now, lambda cluster: ZoneInfo("Europe/Oslo"))


def kept(store: Store) -> list[Document]:
    return [d for batch in store.scan("capacity", EVERYTHING) for d in batch]


def looks(hours: float) -> list[Document]:
    return [sample(n * 300.0, "head", **{"slurm.nodes": 1}) for n in range(1, int(hours * 12) + 2)]


def test_an_hour_is_up_drained_down_and_unknown() -> None:
    """
    Up half of the second hour, drained the rest; the third one nobody looked.
    """
    found = made(state(0, "IDLE"), state(5400, "IDLE", "DRAIN"), *looks(2), hours=4)
    hours = [d for d in found if d["host.name"] == "n1" and "gpu.model" not in d]
    times = [
        tuple(d[f"seconds.{name}"] for name in ("up", "drained", "down", "unknown")) for d in hours
    ]
    assert (1800, 1800, 0, 0) == times[1]
    assert all(sum(t) == 3600 for t in times)  # type: ignore[arg-type]
    assert (0, 0, 0, 3600) == times[3]
    assert 16 * 1800 == hours[1]["core_seconds_capacity"]
    assert ("accel", 2) == (hours[1]["partition"], hours[1]["local.hour"])


def test_cards_are_known_though_nothing_ran_on_them() -> None:
    """
    The scheduler's inventory: four cards for an hour, no busy second measured.
    """
    found = made(state(0, "IDLE"), *looks(3))
    cards = [d for d in found if d.get("gpu.model") == "A100"]
    assert (4, 4 * 3600) == (cards[1]["gpu.total"], cards[1]["gpu_seconds_capacity"])
    assert "gpu_seconds" not in cards[1]


def test_busy_seconds_come_from_samples() -> None:
    """
    Cores by the node, cards by the card, under the scheduler's name of the model.
    """
    busy = [sample(3600 + n * 300, "n1", **{"core_seconds": 600.0}) for n in range(1, 13)]
    cards = [
        sample(
            3600 + n * 300,
            "n1",
            "gpu",
            **{"gpu.uuid": "u1", "gpu.model": "NVIDIA A100-SXM4-40GB", "gpu_seconds": 150.0},
        )
        for n in range(1, 13)
    ]
    found = made(state(0, "IDLE"), *looks(3), *busy, *cards)
    second = [d for d in found if d["host.name"] == "n1" and d["local.hour"] == 2]
    node, card = sorted(second, key=lambda d: "gpu.model" in d)
    assert 7200 == node["core_seconds"]
    assert ("A100", 1800, 4) == (card["gpu.model"], card["gpu_seconds"], card["gpu.total"])


def test_without_a_scheduler_samples_tell() -> None:
    """
    A machine is up while it sends; the rest of the hour is unknown, not down.
    """
    found = made(*(sample(n * 300, "pc", **{"node.cores": 4}) for n in range(1, 7)), hours=1)
    (hour,) = found
    assert (1800, 1800, 0) == (hour["seconds.up"], hour["seconds.unknown"], hour["seconds.down"])
    assert 4 * 1800 == hour["core_seconds_capacity"]


def test_run_again_changes_nothing() -> None:
    """
    The same hours, the same documents; new hours are added.
    """
    store = MemoryStore()
    store.write([state(0, "IDLE"), *looks(6)], "create")
    keep(store, 3)
    before = {(d["@timestamp"], d["host.name"], d.get("gpu.model")): d for d in kept(store)}
    keep(store, 5)
    after = {(d["@timestamp"], d["host.name"], d.get("gpu.model")): d for d in kept(store)}
    assert set(before) < set(after)
    for key, document in before.items():
        same = {n: v for n, v in after[key].items() if n != "record.version"}
        assert same == {n: v for n, v in document.items() if n != "record.version"}


def test_nothing_there_is_no_error() -> None:
    """
    An empty store.
    """
    assert (0, 0) == keep(MemoryStore(), 3)


@pytest.mark.parametrize("hours", [0.2, 0.8])
def test_open_hour_waits(hours: float) -> None:
    """
    An hour is kept when it is over, and a little longer.
    """
    assert [] == made(state(0, "IDLE"), *looks(1), hours=hours - 0.5)
