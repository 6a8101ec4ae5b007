"""
Utilisation against capacity: idle clusters and downtime count, what nobody saw does not.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from leadline.errors import QuestionError
from leadline.formats import Document
from leadline.query import MEASURES
from leadline.store.contract import Store
from leadline.store.lake import LakeStore
from leadline.store.memory import MemoryStore
from tests.any_store import STORES
from tests.query.conftest import answer, stored
from tests.query.test_accounted import slices

HOUR = 3600.0


def hour(
    host: str,
    at: int = 10,
    *,
    cluster: str = "fox",
    busy: float | None = None,
    up: float = HOUR,
    down: float = 0.0,
    unknown: float = 0.0,
    **fields: object,
) -> Document:
    """
    An hour of a node of ten cores, sampled whenever it was up.
    """
    made: Document = {
        "dataset": "capacity",
        "@timestamp": f"2026-11-20T{at:02d}:00:00.000Z",
        "cluster": cluster,
        "host.name": host,
        "local.day": "2026-11-20",
        "local.hour": at + 1,
        "local.weekday": 5,
        "record.version": 1,
        "seconds.up": up,
        "seconds.down": down,
        "seconds.drained": 0.0,
        "seconds.unknown": unknown,
        "node.cores": 10,
        "core_seconds_capacity": 10 * up,
        "core_seconds_lost": 10 * down,
        **fields,
    }
    if busy is not None:
        made |= {"core_seconds": busy * up, "core_seconds_watched": 10 * up}
    return made


def cards(host: str, busy: float, **fields: object) -> Document:
    """
    The same hour of the node's four cards.
    """
    return hour(
        host,
        **{
            "gpu.model": "A100",
            "gpu.total": 4,
            "gpu_seconds": busy * HOUR,
            "gpu_seconds_watched": 4 * HOUR,
            "gpu_seconds_capacity": 4 * HOUR,
            "gpu_seconds_lost": 0.0,
            **fields,
        },
    )


def value(store: Store, measure: str, rest: str = "during all") -> float | None:
    return answer(store, f"{measure} {rest}").total[measure]


def test_an_idle_cluster_is_in_the_denominator() -> None:
    """
    Five of ten cores on one cluster, none on another: 25 %, not 50 %.
    """
    store = stored([hour("c1", busy=5), hour("b1", cluster="betzy", busy=0)])
    assert 25.0 == value(store, "cpu_utilisation")
    found = answer(store, "cpu_utilisation by cluster during all")
    assert {"fox": 50.0, "betzy": 0.0} == {
        row["cluster"]: row["cpu_utilisation"] for row in found.rows
    }


def test_downtime_is_lost_and_told_apart() -> None:
    """
    A node busy for the half hour it was up: 100 % of what was up, 50 % of what is installed.
    """
    store = stored([hour("c1", busy=10, up=1800, down=1800)])
    assert 100.0 == value(store, "cpu_utilisation")
    assert 50.0 == value(store, "cpu_utilisation_installed")
    assert (5.0, 5.0) == (value(store, "core_hours_capacity"), value(store, "core_hours_lost"))
    assert 50.0 == value(store, "availability")


def test_a_node_down_all_the_time_counts() -> None:
    """
    One node busy, one down: installed utilisation is 50 %, though nobody sampled the second.
    """
    store = stored([hour("c1", busy=10), hour("c2", up=0, down=HOUR)])
    assert 100.0 == value(store, "cpu_utilisation")
    assert 50.0 == value(store, "cpu_utilisation_installed")


def test_time_nobody_looked_is_in_no_figure_and_said() -> None:
    """
    Half of the node time is unknown: the figure is of the rest, and the answer says so.
    """
    store = stored([hour("c1", busy=5), hour("c2", up=0, unknown=HOUR)])
    found = answer(store, "cpu_utilisation_installed during all")
    assert 50.0 == found.total["cpu_utilisation_installed"]
    assert ("of 50.0 % of the node time nobody knows whether nodes were up",) == found.notes
    assert 1.0 == value(store, "node_hours_unknown")


def test_use_that_was_not_measured_is_not_zero() -> None:
    """
    A node that was up and not sampled is in no utilisation; alone, utilisation is not measured.
    """
    assert 50.0 == value(stored([hour("c1", busy=5), hour("c2")]), "cpu_utilisation")
    assert value(stored([hour("c2")]), "cpu_utilisation") is None
    assert value(stored([hour("c1", busy=1)]), "gpu_utilisation") is None
    assert value(stored([hour("c1", busy=1)]), "memory_utilisation") is None


def test_cards_and_nodes_are_not_mixed() -> None:
    """
    A node's cards are documents of their own: neither counts the other's hours.
    """
    store = stored([hour("g1", busy=5), cards("g1", 3)])
    assert (50.0, 75.0) == (value(store, "cpu_utilisation"), value(store, "gpu_utilisation"))
    assert (1.0, 10.0) == (value(store, "node_hours_up"), value(store, "core_hours_capacity"))
    found = answer(store, "gpu_utilisation, gpu_hours_capacity by gpu_model during all")
    assert [{"gpu_model": "A100", "gpu_utilisation": 75.0, "gpu_hours_capacity": 4.0}] == list(
        found.rows
    )
    with pytest.raises(QuestionError, match="cpu_utilisation is not told apart by gpu_model"):
        answer(store, "cpu_utilisation by gpu_model during all")


def test_memory_and_time_of_day() -> None:
    """
    Memory goes by byte-seconds; hours of the day are the cluster's own.
    """
    first = {"memory.byte_seconds": 25.0, "memory.byte_seconds_watched": 100.0}
    later = {"memory.byte_seconds": 75.0, "memory.byte_seconds_watched": 100.0}
    store = stored([hour("c1", 10, **first), hour("c1", 11, **later)])
    assert 50.0 == value(store, "memory_utilisation")
    found = answer(store, "memory_utilisation by hour_of_day during all")
    assert [(11, 25.0), (12, 75.0)] == [
        (row["hour_of_day"], row["memory_utilisation"]) for row in found.rows
    ]


def test_allocation_takes_accounting_and_capacity_together() -> None:
    """
    Core hours given of core hours up, by cluster and in total; ranked by it, too.
    """
    store = stored(
        [
            hour("c1", busy=5),
            hour("b1", cluster="betzy", busy=0),
            *slices(1, ("2026-11-20", 2.0)),
        ]
    )
    found = answer(store, "core_allocation by cluster during all top 1")
    assert [{"cluster": "fox", "core_allocation": 80.0}] == list(found.rows)
    assert 40.0 == found.total["core_allocation"]
    assert found.others == {"core_allocation": None}
    with pytest.raises(QuestionError, match="core_hours_capacity is not told apart by user"):
        answer(store, "core_allocation by user during all")


@STORES
def test_a_node_counts_in_every_partition_it_is_in(other: Store) -> None:
    """
    c1 lies in two partitions and is in the capacity of both; the total has it once, and the answer
    says so. What no shown partition has is in the others.
    """
    documents = [
        hour("c1", busy=10, partitions=["batch", "debug"]),
        hour("c2", busy=0, partitions=["batch"]),
        hour("c3", busy=4),
        cards("c1", 2, partitions=["batch", "debug"]),
    ]
    other.write(documents, "replace")
    found = answer(other, "core_hours_capacity, cpu_utilisation by partition during all")
    assert {"batch": (20.0, 50.0), "debug": (10.0, 100.0), None: (10.0, 40.0)} == {
        row["partition"]: (row["core_hours_capacity"], row["cpu_utilisation"]) for row in found.rows
    }
    assert 30.0 == found.total["core_hours_capacity"]
    assert pytest.approx(1400 / 30) == found.total["cpu_utilisation"]
    assert found.multiple
    said = "a node in several partitions counts in each of them; the total counts it once"
    assert (said,) == found.notes
    top = answer(other, "core_hours_capacity, cpu_utilisation by partition during all top 1")
    assert {"core_hours_capacity": 10.0, "cpu_utilisation": 40.0} == top.others
    only = answer(other, "core_hours_capacity, gpu_hours_capacity where partition=debug during all")
    assert {"core_hours_capacity": 10.0, "gpu_hours_capacity": 4.0} == only.total
    given = answer(other, "gpu_utilisation by partition, gpu_model during all")
    assert {("batch", 50.0), ("debug", 50.0)} == {
        (row["partition"], row["gpu_utilisation"]) for row in given.rows
    }


def test_every_store_tells_the_same(tmp_path: Path) -> None:
    """
    The lake answers every measure of capacity as memory does.
    """
    documents = [hour("c1", busy=5), hour("c2", up=900, down=1800, unknown=900), cards("c1", 3)]
    memory, lake = MemoryStore(), LakeStore(tmp_path / "lake")
    for store in (memory, lake):
        assert not store.write([*documents, *slices(1, ("2026-11-20", 2.0))], "replace").rejected
    names = ", ".join(m.name for m in MEASURES if m.dataset == "capacity")
    for rest in ("by cluster during all", "per day during 2026-11", "by cluster per week"):
        expected, found = (answer(store, f"{names} {rest}") for store in (memory, lake))
        assert expected.rows == found.rows
        assert expected.total == found.total
    lake.close()
