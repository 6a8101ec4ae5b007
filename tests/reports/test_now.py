"""
What goes on now: rates over the looks at a node, and what was not measured is not 0.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial

from leadline.formats import Document
from leadline.formats.times import format_time
from leadline.reports.now import Now, now
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING, Scope
from tests.query.conftest import stored

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def seen(minutes: float, host: str = "c1-1", **fields: object) -> Document:
    moment = NOON - timedelta(minutes=minutes)
    return {
        "dataset": "node",
        "@timestamp": format_time(moment),
        "sample.time": format_time(moment + timedelta(minutes=2, seconds=30)),
        "cluster": "fox",
        "host.name": host,
        "boot.id": "b",
        "sample.uptime": int(1e6 - 60 * minutes),
        "interval.seconds": 300.0,
        **fields,
    }


def process(minutes: float, number: int, **fields: object) -> Document:
    named = {"dataset": "process", "process.entity_id": str(number), "user.name": "alice"}
    return seen(minutes, **{**named, "process.name": "vasp_std", **fields})


def fleet() -> MemoryStore:
    whole = {"node.cores": 64, "core_seconds": 3000.0, "memory.used.bytes": 1 << 35}
    busy = {"core_seconds": 1200.0, "memory.rss.bytes": 1 << 30}
    card = {"dataset": "gpu", "gpu.uuid": "u", "gpu.index": 0, "gpu.model": "A100"}
    card |= {"gpu_seconds": 150.0, "gpu.failing": True, "temperature.celsius": 71.0}
    return stored(
        [
            *(seen(m, **whole) for m in (5, 10)),
            seen(240, "c1-9"),
            seen(5, "c1-2", **{"interval.seconds": 300.0}),
            *(process(m, 1, **busy) for m in (5, 10)),
            process(5, 2, **{"core_seconds": 300.0, "process.count": 7, "user.name": "bo"}),
            seen(5, **card),
        ]
    )


def look(scope: Scope = EVERYTHING, cluster: str | None = None) -> Now:
    store = fleet()
    totals = partial(store.ask, scope=Scope(totals_only=True))
    return now(partial(store.ask, scope=scope), totals, NOON, cluster)


def test_processes_are_rates_over_the_looks_at_their_node() -> None:
    """
    Seen at one look of two it is half a load, memory and number of processes too.
    """
    rows = {str(row["user"]): row for row in look().processes}
    assert (4.0, float(1 << 30), 1.0) == tuple(
        rows["alice"][n] for n in ("cores", "memory_bytes", "processes")
    )
    assert (0.5, 3.5, "vasp_std") == tuple(rows["bo"][n] for n in ("cores", "processes", "program"))
    assert rows["bo"]["gpus"] is None


def test_nodes_with_their_cards_and_those_that_fell_silent() -> None:
    """
    A node that does not measure its cores is not idle, and one that was there is not gone.
    """
    rows = {str(row["host"]): row for row in look().nodes}
    assert (10.0, 64, 1, 0.5) == tuple(
        rows["c1-1"][n] for n in ("cores_busy", "cores", "gpus", "gpus_busy")
    )
    assert rows["c1-2"]["cores_busy"] is None
    assert [False, False, True] == [rows[n]["silent"] for n in ("c1-1", "c1-2", "c1-9")]


def test_cards_say_how_they_are() -> None:
    """
    Busy in percent of one card, failing as the driver says.
    """
    (card,) = look().gpus
    assert (50.0, True, 71.0) == tuple(
        card[n] for n in ("busy_percent", "failing", "temperature_celsius")
    )


def test_who_may_see_her_own_sees_no_other() -> None:
    """
    Nodes as wholes carry no name and are shown to all.
    """
    found = look(Scope(users=frozenset({"bo"})))
    assert ["bo"] == [row["user"] for row in found.processes]
    assert 3 == len(found.nodes)


def test_another_cluster_has_nothing_of_this_one() -> None:
    """
    One cluster alone, when it is named.
    """
    assert Now([], [], []) == look(cluster="betzy")
