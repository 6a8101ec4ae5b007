"""
Looks that come a little early or late are laid on the grid one by one, on every node.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta

import pytest

from leadline.formats import Document
from leadline.formats.times import format_time, parse_time
from tests.reports.test_job import GIB, card, record, samples, view


def moved(documents: list[Document], seconds: float, dice: random.Random) -> list[Document]:
    """
    The same, each up to two seconds off a node's own second.
    """

    def at(one: Document) -> datetime:
        jitter = timedelta(seconds=seconds + dice.uniform(-2, 2))
        return parse_time(str(one["@timestamp"])) + jitter

    return [{**one, "@timestamp": format_time(at(one))} for one in documents]


@pytest.mark.parametrize("phase", [0, 299, 300, 301, 450, 599])
def test_early_and_late_looks_are_one_an_interval(phase: int) -> None:
    """
    Whatever second of the interval a node looks at: no interval counts twice, none is empty.
    """
    dice = random.Random(phase)
    first = moved(samples(8, 30), phase, dice)
    second = moved(samples(8, 30, "c2"), 600 - phase, dice)
    seen = view(record(), *first, *second).profile
    assert 0 == seen.missing
    assert 60 * GIB == seen.peak(seen.memory)
    assert 16.0 == pytest.approx(seen.peak(seen.cores))


def test_two_looks_within_an_interval_do_not_add_up() -> None:
    """
    A shipper that was started again looks out of turn: memory is held once, rates are of the time.
    """
    again = samples(8, 30, ticks=range(3, 4), **{"interval.seconds": 100.0, "core_seconds": 800.0})
    seen = view(record(), *samples(8, 30), *moved(again, 60, random.Random(1))).profile
    assert 30 * GIB == seen.peak(seen.memory)
    assert 8.0 == pytest.approx(seen.peak(seen.cores))


def test_cards_lie_on_the_same_grid() -> None:
    """
    A card's looks are its node's.
    """
    dice = random.Random(3)
    both = moved([*samples(2, 30), *card(0, 0.9)], 300, dice)
    cards = [
        {**one, "@timestamp": beside["@timestamp"]}
        for one, beside in zip(both[12:], both[:12], strict=True)
    ]
    seen = view(record(**{"job.gpus": 1}), *both[:12], *cards)
    assert (0.9, 12) == (pytest.approx(seen.gpu.mean), len(seen.cards[0].series))
