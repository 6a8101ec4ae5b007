"""
Will it scale: what limits a job, told from what was measured, and silence about what was not.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from leadline.formats import Document
from leadline.formats.times import format_time
from leadline.reports.job import job_view
from leadline.reports.scale import Scale, scale
from leadline.reports.scale_text import scale_summary
from leadline.store.contract import Store
from leadline.store.lake import LakeStore
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING
from tests.query.conftest import stored
from tests.reports.test_job import GIB, NOW, START, card, idle_card, record, samples

TICKS = range(36)  # six hours of ten minutes


def ran(**fields: object) -> Document:
    hours = {"job.wall.seconds": 6 * 3600.0, "job.end": format_time(START + timedelta(hours=6))}
    return record(**{**hours, **fields})


def node(host: str = "c1", **fields: object) -> Document:
    return {
        "dataset": "node",
        "@timestamp": format_time(START + timedelta(minutes=5)),
        "cluster": "fox",
        "host.name": host,
        "boot.id": "b",
        "sample.uptime": 300,
        "node.cores": 64,
        "memory.total.bytes": 256 * GIB,
        **fields,
    }


def told(*documents: Document, store: Store | None = None) -> Scale:
    known = store or stored(documents)
    return scale(known, EVERYTHING, job_view(known, EVERYTHING, "fox/7", NOW))


def busy(cores: float, ticks: range = TICKS, **fields: object) -> list[Document]:
    return samples(cores, 10, ticks=ticks, **fields)


def test_all_cores_busy_may_gain_from_more() -> None:
    """
    Sixteen of sixteen cores busy all the time: cores are the limit, likely, for cores that wait
    for memory look busy too.
    """
    found = told(ran(), *busy(15.8), node())
    assert ("cores", "likely") == (found.limit, found.sure)
    cores = found.uses[0]
    assert (16, 64, 1.0, 16) == (cores.had, cores.fitted, cores.full, cores.sufficed)
    assert "memory bandwidth" in found.missing


def sized(number: int, cores: int, hours: float) -> Document:
    """
    Another run of the name, all cores busy.
    """
    return ran(
        **{
            "job.id": f"fox/{number}",
            "job.run": f"fox/{number}@1",
            "job.name": "md",
            "job.cores": cores,
            "job.wall.seconds": hours * 3600,
            "job.core_seconds.allocated": cores * hours * 3600,
            "job.core_seconds.used": 0.95 * cores * hours * 3600,
        }
    )


def test_other_sizes_confirm_it() -> None:
    """
    When runs of this name on twice the cores took half the time, it is sure; when they took the
    same with all cores busy, something else holds them up.
    """
    own = ran(**{"job.name": "md"})
    faster = told(own, sized(8, 16, 6), sized(9, 32, 3.5), *busy(15.8))
    assert ("cores", "sure") == (faster.limit, faster.sure)
    assert [(16, 2), (32, 1)] == [(size.cores, size.runs) for size in faster.sizes]
    assert "runs of this name took 06:00 on 16 cores and 03:30 on 32" in faster.evidence
    same = told(own, sized(8, 16, 6), sized(9, 32, 6), *busy(15.8))
    assert ("cores", "likely") == (same.limit, same.sure)
    assert "on more took hardly less time" in same.sentence
    assert not any("trial" in one for one in same.would_help)
    fewer = told(own, sized(9, 8, 12), *busy(15.8))
    assert ("cores", "likely") == (fewer.limit, fewer.sure)
    assert any("memory bandwidth is not measured" in one for one in fewer.evidence)


def test_what_samples_saw_too_little_of() -> None:
    """
    Half of its time, or a seventh of its CPU time: no limit is named, and why is told.
    """
    half = told(ran(), *busy(8.0, range(18)))
    assert ("not measured", None, None) == (half.limit, half.sure, half.uses[0].sufficed)
    assert ("samples saw 53 % of its time",) == half.evidence
    used = {"job.core_seconds.used": 14 * 6 * 3600.0}
    short = told(ran(**used), *busy(2.0))
    assert "samples saw 14 % of its CPU time" in short.evidence
    killed = told(ran(**used, **{"job.state": "OUT_OF_MEMORY"}), *busy(2.0))
    assert ("memory", "sure") == (killed.limit, killed.sure)


def test_cards_left_idle_are_not_asked_for_more_of() -> None:
    """
    One of two cards busy: more will not help; none used beside busy cores: told, too.
    """
    hours = {"job.wall.seconds": 7200.0, "job.end": format_time(START + timedelta(hours=2))}
    asked = ran(**hours, **{"job.gpus": 2})
    one = told(asked, *samples(2, 10), *card(0, 0.9))
    assert "leaves the others idle" in one.sentence
    assert ("1 of 2 GPUs used, busy 90 % of the time",) == one.evidence
    none = told(asked, *samples(15.9, 10), idle_card())
    assert "cores" == none.limit
    assert "2 GPUs had, none used" in none.evidence


def test_an_idle_node_is_its_limit() -> None:
    """
    All the work on one of two nodes: they do not share it, whatever the other one did not send.
    """
    both = ran(**{"job.nodes": ["c1", "c2"], "job.node.count": 2, "job.cores": 32})
    found = told(both, *busy(15.8), node(), node("c2"))
    assert ("balance", 128) == (found.limit, found.uses[0].fitted)


def test_a_serial_program() -> None:
    """
    One of sixteen cores busy: one would have sufficed, and that is sure.
    """
    found = told(ran(), *busy(1.0))
    assert ("one core", "sure", 1.0) == (found.limit, found.sure, found.uses[0].sufficed)


def test_serial_parts_bound_the_speed() -> None:
    """
    A quarter of the time on one core: never more than four times as fast.
    """
    found = told(ran(), *busy(1.0, range(9)), *busy(15.9, range(9, 36)))
    assert ("serial parts", 4.0) == (found.limit, found.speedup)
    assert "4.0 times as fast" in found.sentence


def test_fewer_threads_than_cores() -> None:
    """
    Eight of sixteen cores busy, steadily: it starts eight threads.
    """
    found = told(ran(), *busy(7.9))
    assert ("threads", "sure", 8.0) == (found.limit, found.sure, found.uses[0].sufficed)


def test_memory_comes_first() -> None:
    """
    A run that the kernel ended for its memory was limited by it, whatever its cores did.
    """
    found = told(ran(**{"job.state": "OUT_OF_MEMORY"}), *busy(15.9))
    assert ("memory", "sure") == (found.limit, found.sure)
    nearly = told(ran(**{"job.asked.memory.bytes": 10 * GIB}), *busy(15.9))
    assert "memory" == nearly.limit


def test_cards_that_work_and_cards_that_wait() -> None:
    """
    Busy cards are the limit; idle ones beside busy cores wait for those.
    """
    hours = {"job.wall.seconds": 7200.0, "job.end": format_time(START + timedelta(hours=2))}
    asked = ran(**hours, **{"job.gpus": 1})
    cards = [
        {**c, "@timestamp": s["@timestamp"]} for c, s in zip(card(0, 0.9), busy(2), strict=False)
    ]
    assert "GPUs" == told(asked, *busy(2, range(12)), *cards).limit
    slow = [{**c, "gpu_seconds": 60.0} for c in cards]
    assert "feeding" == told(asked, *busy(15.9, range(12)), *slow).limit


def test_waiting_for_files() -> None:
    """
    Half of its active processes in state D: it waits for I/O, and so do its nodes.
    """
    waiting = {"process.state": "D", "process.entity_id": "2-1"}
    found = told(
        ran(),
        *busy(4.0, **{"process.state": "R"}),
        *busy(0.0, **waiting),
        node(**{"pressure.io.percent": 60.0}),
    )
    assert ("I/O", "sure") == (found.limit, found.sure)
    assert 2 == len(found.evidence)


def test_a_shared_node_says_nothing_of_one_job() -> None:
    """
    The node waits for I/O, but another job runs there: it may be that one.
    """
    other = busy(1.0, **{"job.id": "fox/8", "process.entity_id": "9-1"})
    pressed = node(**{"pressure.io.percent": 60.0})
    # neither steady nor serial: nothing else to find
    mixed = [s for tick in TICKS for s in busy(3.0 + tick % 7, range(tick, tick + 1))]
    assert "I/O" == told(ran(), *mixed, pressed).limit
    found = told(ran(), *mixed, *other, pressed)
    assert ("nothing found", "a guess") == (found.limit, found.sure)
    assert "waiting for I/O (its nodes were shared)" in found.missing


def test_nodes_that_do_not_share_the_work() -> None:
    """
    Two nodes, one busy and one idle.
    """
    idle = samples(0.1, 1, "c2", TICKS)
    found = told(ran(**{"job.cores": 32, "job.node.count": 2}), *busy(15.5), *idle)
    assert ("balance", "sure") == (found.limit, found.sure)


def test_never_speaks_of_what_was_not_measured() -> None:
    """
    Without samples, with too few, or without CPU time, there is no verdict and no speed-up.
    """
    blind = {"core_seconds": None}
    no_cpu = [{k: v for k, v in {**s, **blind}.items() if v is not None} for s in busy(1.0)]
    accounted = ran(**{"job.core_seconds.used": 3600.0})
    for documents in ([accounted], [accounted, *no_cpu]):
        found = told(*documents)
        assert ("not measured", None, None) == (found.limit, found.sure, found.speedup)
        assert "CPU use" in found.missing
        assert not found.evidence
    short = told(ran(**{"job.wall.seconds": 200.0}), *busy(1.0, range(1)))
    assert ("not measured", None) == (short.limit, short.sure)


def test_samples_alone_know_the_node_when_the_job_was_alone() -> None:
    """
    Without accounting a job alone on its node had the node; beside others nobody knows.
    """
    alone = told(*busy(63.0), node())
    assert ("cores", 64) == (alone.limit, alone.uses[0].had)
    beside = told(*busy(31.0), *busy(1, **{"job.id": "fox/8", "process.entity_id": "9"}), node())
    assert ("not measured", None) == (beside.limit, beside.uses[0].had)
    assert "cores the job had" in beside.missing


def test_few_looks_are_a_guess() -> None:
    """
    Four intervals tell little, twelve more, and gaps cost certainty.
    """
    wall = {"job.wall.seconds": 2400.0}
    assert "a guess" == told(ran(**wall), *busy(1.0, range(4))).sure
    short = {"job.wall.seconds": 7200.0, "job.end": format_time(START + timedelta(hours=2))}
    assert "likely" == told(ran(**short), *busy(1.0, range(12))).sure
    holes = [*busy(1.0, range(18)), *busy(1.0, range(26, 50))]
    long = {"job.wall.seconds": 30000.0, "job.end": format_time(START + timedelta(minutes=500))}
    assert "likely" == told(ran(**long), *holes).sure


def test_words_for_people() -> None:
    """
    The page names limit, certainty, what would have sufficed and what is not known.
    """
    text = scale_summary(told(ran(**{"job.gpus": 1}), *busy(1.0), idle_card(), node()))
    assert "It ran on one core: more cores will not make it faster. This is sure." in text
    assert "Not measured, so nothing is said of it: " in text
    assert "cores" in text


@pytest.mark.opensearch
def test_every_store_says_the_same(opensearch_store: Store, tmp_path: Path) -> None:
    """
    Memory, lake and OpenSearch come to one verdict, figure by figure.
    """
    documents = [
        ran(**{"job.name": "md"}),
        *busy(4.0, **{"process.state": "R"}),
        *busy(0.0, **{"process.state": "D", "process.entity_id": "2-1"}),
        node(**{"pressure.io.percent": 60.0}),
    ]
    lake = LakeStore(tmp_path / "lake")
    found = []
    for store in (MemoryStore(), lake, opensearch_store):
        assert not store.write(documents, "replace").rejected
        found.append(told(store=store))
    lake.close()
    assert found[0] == found[1] == found[2]
