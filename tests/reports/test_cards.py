"""Cards by model: the parts add up to the total, and what cannot be used says why."""

from __future__ import annotations

from datetime import timedelta

from leadline.formats import Document
from leadline.reports.cards import card_rows, cards_now
from leadline.store.scope import EVERYTHING
from tests.reports.test_nodes import DAY, START, look, looks, read, state, stored


def cards(text: str, host: str, allocated: int, **more: object) -> Document:
    by_model = {"A100": {"total": 4, "allocated": allocated}}
    return state(DAY - 7200, text, host, **{"gpu.by_model": by_model, **more})


FLEET = (
    cards("MIXED", "n1", 3),
    cards("MIXED+DRAIN", "n2", 1, **{"state.reason": "fan"}),
    cards("IDLE+RESERVED", "n3", 0, reservations=["course"]),
    cards("DOWN+NOT_RESPONDING", "n4", 0),
    cards("IDLE+POWERED_DOWN", "n5", 0),
    cards("REMOVED", "n6", 0),
)


def card(host: str, uuid: str, failing: bool = True) -> Document:
    return {
        **look(DAY - 600, host),
        "dataset": "gpu",
        "gpu.uuid": uuid,
        "gpu.model": "NVIDIA A100-SXM4-40GB",
        "gpu.failing": failing,
    }


def test_cards_are_allocated_idle_or_unusable() -> None:
    """
    Of five nodes; one that the scheduler no longer has is none.
    """
    (row,) = card_rows(read(stored(*FLEET, *looks(0, DAY))))
    assert (20, 4, 5, 11) == (row["total"], row["allocated"], row["idle"], row["unusable"])
    assert "4 down; 3 drained: fan; 4 reserved: course" == row["why"]
    assert {"down": 4, "drained: fan": 3, "reserved: course": 4} == row["reasons"]


def test_failing_cards_are_not_idle() -> None:
    """
    The driver reports a fault of two cards of a node that is open: nobody can use them.
    """
    failing = [card("n5", "u1"), card("n5", "u1"), card("n5", "u2"), card("n5", "u3", False)]
    store = stored(*FLEET, *looks(0, DAY), *failing[1:])
    (row,) = cards_now(store, EVERYTHING, START + timedelta(seconds=DAY))
    assert (20, 4, 3, 13) == (row["total"], row["allocated"], row["idle"], row["unusable"])
    assert 2 == row["reasons"]["failing: the driver reports a fault"]


def test_where_nobody_asked_lately_no_card_is_idle() -> None:
    """
    The last look was two hours ago: what is free is unknown, and counts as such.
    """
    store = stored(*FLEET, *looks(0, DAY - 7200))
    (row,) = cards_now(store, EVERYTHING, START + timedelta(seconds=DAY))
    assert (20, 0, 16) == (row["total"], row["idle"], row["unusable"])
    assert {"unknown: nobody asked the scheduler lately": 16} == row["reasons"]
