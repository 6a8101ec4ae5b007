"""Hourly capacity: seconds add up to the hour, and what was not seen is not there to be used."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from leadline.chores.run import CHORES, Work, do
from leadline.formats import Document
from leadline.formats.times import format_time, from_epoch, parse_time
from leadline.reports.inventory import Inventory, InventorySettings, NodesSettings, read_inventory
from leadline.store.contract import Store
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING

CAPACITY = next(chore for chore in CHORES if chore.name == "capacity")
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


def stored(*documents: Document) -> MemoryStore:
    store = MemoryStore()
    take_in(store, *documents)
    return store


def take_in(store: Store, *documents: Document, at: float = -1) -> None:
    """
    Documents that the worker takes in AT hours.
    """
    ingested = format_time(START + timedelta(hours=at))
    outcome = store.write([{"event.ingested": ingested, **d} for d in documents], "create")
    assert not outcome.rejected, outcome.rejected


def made(
    *documents: Document, hours: float = 3, inventory: Inventory | None = None
) -> list[Document]:
    store = stored(*documents)
    keep(store, hours, inventory)
    return kept(store)


def keep(store: Store, hours: float, inventory: Inventory | None = None) -> str | None:
    """
    The chore's turn, and the mark that it is done.
    """
    now = START + timedelta(hours=hours, minutes=30)
    work = Work(store, now, lambda cluster: ZoneInfo("Europe/Oslo"), inventory=inventory)
    return do(CAPACITY, work, forced=True)


def hour_of(store: Store, host: str, hour: int) -> Document:
    at = format_time(START + timedelta(hours=hour))
    (found,) = [
        d for d in kept(store) if (d["@timestamp"], d["host.name"]) == (at, host)
        and "gpu.model" not in d
    ]  # fmt: skip
    return found


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
        tuple(d.get(f"seconds.{name}") for name in ("up", "drained", "down", "unknown"))
        for d in hours
    ]
    assert (1800, 1800, 0, 0) == times[1]
    assert all(sum(part or 0 for part in t) == 3600 for t in times)  # type: ignore[misc]
    assert (None, None, None, 3600) == times[3]  # which is not 0 s up
    assert not {"core_seconds_capacity", "core_seconds_lost"} & hours[3].keys()
    assert 16 * 1800 == hours[1]["core_seconds_capacity"]
    assert (["accel", "batch"], 2) == (hours[1]["partitions"], hours[1]["local.hour"])


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


def test_a_sample_that_lacks_the_figure_is_not_idle() -> None:
    """
    Half of the samples without CPU time, a card whose driver tells no utilisation: not watched.
    """
    node = {"node.cores": 4}
    busy = [sample(n * 300, "pc", **node, **{"core_seconds": 600.0}) for n in range(1, 7)]
    bare = [sample(n * 300, "pc", **node) for n in range(7, 13)]
    card = {"gpu.model": "A100"}
    told = {"gpu.uuid": "u1", **card, "gpu_seconds": 300.0}
    mute = {"gpu.uuid": "u2", **card}
    cards = [sample(n * 300, "pc", "gpu", **own) for n in range(1, 13) for own in (told, mute)]
    cores, gpus = sorted(made(*busy, *bare, *cards, hours=1), key=lambda d: "gpu.model" in d)
    assert (6 * 600, 4 * 1800) == (cores["core_seconds"], cores["core_seconds_watched"])
    assert (3600, 3600, 2) == (gpus["gpu_seconds"], gpus["gpu_seconds_watched"], gpus["gpu.total"])


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
    store = stored(state(0, "IDLE"), *looks(6))
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
    assert "0 hours" in str(keep(MemoryStore(), 3))


@pytest.mark.parametrize("hours", [0.2, 0.8])
def test_open_hour_waits(hours: float) -> None:
    """
    An hour is kept when it is over, and a little longer.
    """
    assert [] == made(state(0, "IDLE"), *looks(1), hours=hours - 0.5)


def test_hours_that_late_data_touched_are_made_again() -> None:
    """
    A node's samples, and a state of the scheduler, that came two days late; other hours are left.
    """
    store = stored(state(0, "IDLE"), state(86400, "IDLE", snapshot=True), *looks(50))
    keep(store, 48)
    assert "core_seconds" not in hour_of(store, "n1", 5)
    busy = [sample(5 * 3600 + n * 300.0, "n1", **{"core_seconds": 600.0}) for n in range(1, 13)]
    take_in(store, *busy, state(10 * 3600, "DOWN"), state(12 * 3600, "IDLE"), at=49)
    version = hour_of(store, "n1", 3)["record.version"]
    keep(store, 50)
    assert 7200 == hour_of(store, "n1", 5)["core_seconds"]
    assert [0, 3600, 3600, 0] == [hour_of(store, "n1", h)["seconds.down"] for h in (9, 10, 11, 12)]
    assert version == hour_of(store, "n1", 3)["record.version"]


def test_capacity_does_not_depend_on_when_it_was_made() -> None:
    """
    A scheduler asked from the second day on, silent for three days, and heard again: in one go
    or every seven hours, the capacity is the same.
    """
    told = [(30, 31), (33, 40), (100, 110)]  # hours in which it answers
    documents = [state(first * 3600, "IDLE") for first, _ in told]
    documents += [d for first, last in told for d in looks(last) if AT + first * 3600 <= seen(d)]
    documents += [
        sample(n * 300.0, "n1", **{"core_seconds": 60.0, "node.cores": 16}) for n in range(130 * 12)
    ]
    once, often = stored(*documents), MemoryStore()
    keep(once, 125)
    for hours in range(6, 126, 7):
        before, until = AT + (hours - 7) * 3600, AT + hours * 3600 + 1800
        take_in(often, *(d for d in documents if before + 1800 < seen(d) <= until), at=hours)
        keep(often, hours)
    assert kept(once)
    assert figures(once) == figures(often)


def seen(document: Document) -> float:
    return parse_time(str(document.get("sample.time", document["@timestamp"]))).timestamp()


def figures(store: Store) -> list[Document]:
    """
    Capacity but for what a run leaves of itself; void hours are none.
    """
    known = [{**d, "record.version": 0, "event.ingested": ""} for d in kept(store)]
    hours = [d for d in known if d.get("node.cores")]
    return sorted(hours, key=lambda d: (str(d["@timestamp"]), str(d["host.name"])))


def test_hours_that_nobody_watched_are_made_too() -> None:
    """
    Everything was away, the worker too: there is no document, and the hours are unknown.
    """
    store = stored(state(0, "IDLE"), *looks(2))
    keep(store, 3)
    keep(store, 9)
    assert [3600] * 5 == [hour_of(store, "n1", h)["seconds.unknown"] for h in range(4, 9)]


def test_what_is_known_of_a_month_outlives_its_samples() -> None:
    """
    Raw samples have gone; one that comes late for them takes nothing away.
    """
    store = stored(state(0, "IDLE"), *looks(40))
    keep(store, 40 * 24)
    before = hour_of(store, "n1", 5)
    for name in ("node", "node_state"):
        store.tables[name].clear()
    now = sample(40 * 86400.0, "n1")
    take_in(store, sample(5 * 3600, "n1"), now, at=40 * 24 + 1)
    keep(store, 40 * 24 + 2)
    assert before == hour_of(store, "n1", 5)


def test_what_is_not_made_again_is_void() -> None:
    """
    Cards of no known model turn out to be the scheduler's A100: counted once.
    """
    card = {"gpu.uuid": "u1", "gpu.model": "weird", "gpu_seconds": 150.0}
    own = [sample(600, "n1"), sample(600, "n1", "gpu", **card)]
    store = stored(*own)
    keep(store, 2)
    assert {"weird", None} == {d.get("gpu.model") for d in kept(store)}
    take_in(store, state(0, "IDLE"), *looks(1), at=3)
    keep(store, 4)
    cards = {d["gpu.model"]: d for d in kept(store) if d["@timestamp"] == from_epoch(AT)
             and "gpu.model" in d}  # fmt: skip
    assert 150 == cards["A100"]["gpu_seconds"]
    weird = cards["weird"]
    assert not [n for n in weird if n.startswith("gpu_seconds") or weird.get(n) == 3600]


def test_removed_and_returned_nodes() -> None:
    """
    A node is in the hours in which the scheduler had it; time is unknown from its removal on.
    """
    store = stored(state(0, "IDLE"), state(5400, "REMOVED"), state(4 * 3600, "IDLE"), *looks(6))
    keep(store, 6)
    there = sorted(d["local.hour"] for d in kept(store) if "gpu.model" not in d)
    assert [1, 2, 5, 6] == there
    second = hour_of(store, "n1", 1)
    assert (1800, 1800) == (second["seconds.up"], second["seconds.unknown"])


def test_the_hour_has_what_the_node_had_then() -> None:
    """
    Memory and cores grew at noon: hours before keep what was there.
    """
    store = stored(state(0, "IDLE"), state(2 * 3600, "IDLE", **{"node.cores": 32}), *looks(3))
    keep(store, 3)
    assert [16, 16, 32] == [hour_of(store, "n1", hour)["node.cores"] for hour in range(3)]


LISTED = NodesSettings(
    cluster="fox",
    hosts="n[1-2],GPU-1.fox",
    cores=8,
    gpus="l40s:2",
    partitions=("long",),
    type="cheap",
)


def test_list_in_the_settings_fills_in() -> None:
    """
    The scheduler tells of n1 all but its type; of n2 and gpu-1 nobody tells, so their time is
    unknown, and what they have is known.
    """
    inventory = read_inventory(InventorySettings((LISTED,)))
    assert [("fox", "gpu-1"), ("fox", "n1"), ("fox", "n2")] == sorted(inventory)
    found = made(state(0, "IDLE"), *looks(3), inventory=inventory)
    nodes = {str(d["host.name"]): d for d in found if "gpu.model" not in d}
    assert (16, "cheap", ["accel", "batch"]) == tuple(
        nodes["n1"][name] for name in ("node.cores", "node.type", "partitions")
    )
    assert (8, "cheap", ["long"], 3600) == tuple(
        nodes["n2"][name] for name in ("node.cores", "node.type", "partitions", "seconds.unknown")
    )
    models = {(d["host.name"], d["gpu.model"]): d["gpu.total"] for d in found if "gpu.model" in d}
    assert {("n1", "A100"): 4, ("n2", "L40S"): 2, ("gpu-1", "L40S"): 2} == models


def test_listed_node_without_a_scheduler_is_up_while_it_sends() -> None:
    """
    What it says of itself stands above the list.
    """
    own = [sample(n * 300, "n2", **{"node.cores": 4}) for n in range(1, 7)]
    found = made(*own, hours=1, inventory=read_inventory(InventorySettings((LISTED,))))
    (hour,) = [d for d in found if d["host.name"] == "n2" and "gpu.model" not in d]
    assert (1800, 4, "cheap") == (hour["seconds.up"], hour["node.cores"], hour["node.type"])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"hosts": "c1-[3-1]"}, "no range"),
        ({"hosts": ""}, "no host"),
        ({"hosts": "n1", "gpus": "a100:x:y:z"}, "not understood"),
        ({"hosts": "n1,n1.fox,N2", "cores": -1}, "less than 0"),
    ],
)
def test_a_list_that_cannot_be_read_is_refused(given: dict[str, object], said: str) -> None:
    """
    With the words that are wrong.
    """
    with pytest.raises(ValueError, match=said):
        NodesSettings(cluster="fox", **given)  # type: ignore[arg-type]


def test_a_node_is_listed_once() -> None:
    """
    Two lines on one node would contradict each other.
    """
    with pytest.raises(ValueError, match="fox/n1 is listed twice"):
        InventorySettings((LISTED, NodesSettings(cluster="fox", hosts="n1")))
