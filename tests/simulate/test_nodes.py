"""States of simulated nodes: what is read out of them is what they were made from."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from random import Random

import orjson
import pytest

from leadline.formats import Document
from leadline.formats.times import from_epoch
from leadline.formats.validate import read_line
from leadline.reports.cards import card_rows
from leadline.reports.nodes import fleet, group_rows
from leadline.reports.timeline import availability, by_class
from leadline.simulate.fleet import build_fleet
from leadline.simulate.nodes import Slurmctld
from leadline.simulate.timeline import schedule
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING

END = 1_795_219_200  # a midnight in UTC
EVERY = 300


def told(days: int, nodes: int, seed: int = 11) -> Slurmctld:
    random, start = Random(seed), END - days * 86400
    fleet = build_fleet(random, nodes, start, END, seed)
    return Slurmctld(fleet, schedule(random, fleet, start, END), seed, start, END, EVERY)


def stored(slurm: Slurmctld) -> MemoryStore:
    """
    Past the gate, which is not what is tested.
    """
    store = MemoryStore()
    states = [orjson.loads(line) for line in slurm.documents("fox")]
    looks: list[Document] = [
        {
            "@timestamp": from_epoch(look - EVERY / 2),
            "sample.time": from_epoch(look),
            "dataset": "node",
            "cluster": "fox",
            "host.name": slurm.asks.name,
            "slurm.nodes": 1,
        }
        for look in slurm.looks
    ]
    for name, documents in (("node_state", states), ("node", looks)):
        store.tables[name] = {(number,): d for number, d in enumerate(documents)}
    return store


def agrees(days: int, nodes: int) -> None:
    slurm = told(days, nodes)
    start, end = (datetime.fromtimestamp(at, UTC) for at in (END - days * 86400, END))
    found = fleet(stored(slurm), EVERYTHING, start, end)
    truth = slurm.truth()
    assert set(truth["seen"]) == {host for _, host in found.hosts()}
    up = known = 0.0
    for host, seen in truth["seen"].items():
        seconds = by_class(found.timeline(("fox", host)))
        assert seen == pytest.approx(seconds, abs=0.5), host
        share = availability(seconds)
        real = availability(truth["real"][host])  # type: ignore[arg-type]
        assert share == pytest.approx(real, abs=0.6), host
        up, known = up + seen["up"], known + sum(seen.values()) - seen["unknown"]
    (row,) = group_rows(found, "cluster")
    assert row["availability"] == pytest.approx(100 * up / known)
    kinds = Counter(name for seen in truth["seen"].values() for name, v in seen.items() if v)
    assert {"up", "drained", "down", "unknown"} == set(kinds)


def test_weeks_of_states_give_the_availability_they_were_made_from() -> None:
    """
    Every second of every node: up, drained, down, and unknown when nobody looked.
    """
    agrees(40, 7)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_year_of_states_gives_the_availability_it_was_made_from() -> None:
    """
    The same for a year of eight nodes, with the collector away for two days.
    """
    agrees(365, 8)


def test_what_the_scheduler_tells_passes_the_gate() -> None:
    """
    Documents as the collector sends them: changes, and a full set each day.
    """
    documents = [read_line(line) for line in told(10, 6).documents("fox")]
    assert not [d for d in documents if "labels" in d]
    daily = Counter(str(d["@timestamp"])[:10] for d in documents if d.get("snapshot"))
    assert daily
    assert all(count <= 5 for count in daily.values())
    changed = [d for d in documents if not d.get("snapshot")]
    assert all(d["state.seconds"] >= EVERY - 30 for d in changed)  # type: ignore[operator]
    assert {"IDLE", "MIXED", "ALLOCATED", "DOWN"} <= {d["state.name"] for d in documents}


def test_cards_in_use_are_those_of_the_jobs() -> None:
    """
    Total = allocated + idle + unusable, at the end of the simulated time.
    """
    slurm = told(10, 6)
    start, end = (datetime.fromtimestamp(at, UTC) for at in (END - 86400, END))
    rows = card_rows(fleet(stored(slurm), EVERYTHING, start, end))
    assert sum(host.cards for host in slurm.hosts) == sum(row["total"] for row in rows)
    for row in rows:
        assert row["total"] == row["allocated"] + row["idle"] + row["unusable"]
