"""Reservations: one row for each time a node was held, ended when it was deleted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from leadline.formats import Document
from leadline.formats.times import format_time
from leadline.reports.reservations import reservations
from leadline.store.scope import EVERYTHING
from tests.query.conftest import stored

START = datetime(2026, 3, 2, tzinfo=UTC)
END = START + timedelta(days=2)


def at(hour: float) -> str:
    return format_time(START + timedelta(hours=hour))


def told(hour: float, name: str, begin: float = 0, end: float = 0, why: str = "n1") -> Document:
    event: Document = {
        "dataset": "event",
        "@timestamp": at(hour),
        "cluster": "fox",
        "rule.name": "slurm.reservation",
        "event.object": name,
        "event.reason": why,
        "record.version": 1,
    }
    if why != "gone":
        event |= {"event.start": at(begin), "event.end": at(end), "event.names": ["n1", "n2"]}
    return event


def found(*events: Document) -> list[tuple[str, str, str]]:
    rows = reservations(stored(events), EVERYTHING, START, END)
    return [(row["name"], row["start"], row["end"]) for row in rows]


def test_what_overlaps_the_period_is_told() -> None:
    """
    Made long before and still held; over before it, or to come after it: not.
    """
    assert [("course", at(-900), at(5))] == found(
        told(-1000, "course", -900, 5), told(-1000, "past", -900, -1), told(3, "later", 60, 70)
    )


def test_a_deleted_one_ends_then() -> None:
    """
    It was made for a week and deleted on the first day.
    """
    assert [("maint", at(1), at(4))] == found(
        told(0, "maint", 1, 160), told(4, "maint", why="gone")
    )


def test_a_change_is_no_second_one() -> None:
    """
    Longer, and of other people: the last word counts. The next day's is another.
    """
    rows = reservations(
        stored(
            [
                told(0, "daily", 1, 3, "n1; users alice"),
                told(2, "daily", 1, 5, "n1; users bob"),
                told(5, "daily", 25, 29, "n1; users bob"),
            ]
        ),
        EVERYTHING,
        START,
        END,
    )
    assert [(at(1), at(5)), (at(25), at(29))] == [(row["start"], row["end"]) for row in rows]
    assert ("n1; users bob", 2) == (rows[0]["what"], rows[0]["nodes"])
