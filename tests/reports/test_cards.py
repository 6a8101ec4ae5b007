"""
Nodes with cards: used for something else, or taken by somebody outside any job.
"""

from __future__ import annotations

from leadline.formats import Document
from tests.reports.documents import found, node, process


def card(hour: float, busy: float | None, number: int = 0) -> Document:
    """
    One card of c1 in one hour, BUSY of it.
    """
    made = process(hour, **{"gpu.uuid": f"u{number}"})
    kept = {k: v for k, v in made.items() if not k.startswith(("process.", "user."))}
    used = {} if busy is None else {"gpu_seconds": busy * 3600}
    return {**kept, "dataset": "gpu", **used}


def held(hour: float, busy: float, **fields: object) -> Document:
    made = process(hour, **{"gpu.uuid": "u0", "process.pid": 4, **fields})
    return {**made, "dataset": "process_gpu", "gpu_seconds": busy * 3600}


def test_a_busy_node_whose_cards_lie_idle() -> None:
    """
    Three hours of CPU work on eight of ten cores beside two idle cards.
    """
    idle = [card(h + 0.5, 0.0, n) for h in range(3) for n in (0, 1)]
    busy = [node(h + 0.5, 8) for h in range(3)]
    work = [process(h + 0.5, core_seconds=7 * 3600.0) for h in range(3)]
    little = [process(h + 0.5, 1, core_seconds=900.0, **{"user.name": "bob"}) for h in range(3)]
    kind = "GPU node without GPU use"
    (one,) = found(*idle, *busy, *work, *little, kind=kind)
    assert ("alice", "c1", 6.0, "GPU hours") == (one.user, one.object, one.hours, one.unit)
    used = [card(h + 0.5, 0.3, n) for h in range(3) for n in (0, 1)]
    assert [] == found(*used, *busy, *work, kind=kind)
    unknown = [card(h + 0.5, None, n) for h in range(3) for n in (0, 1)]
    assert [] == found(*unknown, *busy, *work, kind=kind)
    free = [node(h + 0.5, 3) for h in range(3)]
    assert [] == found(*idle, *free, *work, kind=kind)
    assert [] == found(*busy, *work, kind=kind)


def test_a_gpu_hog_is_outside_any_job_and_the_cards_are_busy() -> None:
    """
    Nine tenths of the only card, without a job; within a job, or on idle cards, nobody hogs.
    """
    (hog,) = found(card(2.5, 0.95), held(2.5, 0.9), kind="GPU hog")
    assert ("alice", 0.9) == (hog.user, hog.hours)
    assert [] == found(card(2.5, 0.95), held(2.5, 0.9, **{"job.id": "fox/7"}), kind="GPU hog")
    assert [] == found(card(2.5, 0.45), held(2.5, 0.45), kind="GPU hog")
