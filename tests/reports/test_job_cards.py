"""
Cards of a job: told of its processes, of the whole card, or of nobody.
"""

from __future__ import annotations

import pytest

from leadline.formats import Document
from tests.reports.test_job import advised, card, idle_card, record, samples, view

ASKED = record(**{"job.gpus": 2})


def opened(number: int = 0) -> list[Document]:
    """
    A process has the card open; its driver does not tell how busy it keeps it.
    """
    return [{k: v for k, v in one.items() if k != "gpu_seconds"} for one in card(number, 0.0)]


def whole(busy: float | None, number: int = 0) -> list[Document]:
    """
    The card itself, as its driver tells of it.
    """
    told = {} if busy is None else {"gpu_seconds": busy * 600}
    return [
        {**one, "dataset": "gpu", **told, "gpu.processes": 1}
        for one in ({k: v for k, v in c.items() if k != "gpu_seconds"} for c in card(number, 0.0))
    ]


def test_use_nobody_told_is_not_zero() -> None:
    """
    A card that was open, as under MIG, and of which nobody tells how busy it was: not measured.
    """
    seen = view(ASKED, *samples(2, 60), *opened(), *whole(None))
    assert (None, None, None) == (seen.gpu.peak, seen.gpu.mean, seen.gpu.share)
    assert "gpu" not in advised(ASKED, *samples(2, 60), *opened(), *whole(None))


def test_a_card_it_had_to_itself_speaks_for_it() -> None:
    """
    Where only the card is told of, that is the job's use as long as nobody else has it open.
    """
    seen = view(ASKED, *samples(2, 60), *opened(), *whole(0.9))
    assert (1, pytest.approx(0.9)) == (seen.gpu.peak, seen.gpu.mean)
    other = [{**one, "job.id": "fox/8", "process.entity_id": "9-1"} for one in opened()]
    shared = view(ASKED, *samples(2, 60), *opened(), *other, *whole(0.9))
    assert (None, None) == (shared.gpu.peak, shared.gpu.mean)


def test_a_short_burst_is_use() -> None:
    """
    One busy interval of twelve: the card was used, however low the mean.
    """
    cards = [*card(0, 0.05)[:1], *card(0, 0.0)[1:]]
    seen = view(ASKED, *samples(2, 60), *cards)
    assert (1, pytest.approx(0.05 / 12)) == (seen.gpu.peak, seen.gpu.mean)


def test_cards_nobody_counts_processes_on() -> None:
    """
    A busy card on the node, and a driver that does not say whose it is: nothing is known of the
    job; all cards idle: the job used none.
    """
    busy = [{k: v for k, v in one.items() if k != "gpu.processes"} for one in whole(0.9)]
    assert view(ASKED, *samples(2, 60), *busy).gpu.mean is None
    assert 0.0 == view(ASKED, *samples(2, 60), idle_card()).gpu.mean


def test_cards_of_another_clusters_node_do_not_count() -> None:
    """
    Nodes of two clusters may have one name; somebody looked at cards of the other one only.
    """
    elsewhere = {**idle_card(), "cluster": "betzy"}
    assert view(ASKED, *samples(2, 60), elsewhere).gpu.mean is None
