"""
Nodes with cards that are used for something else, or whose cards somebody takes outside any job.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace

from leadline.formats.counted import counted
from leadline.reports.finding import (
    BY_HOUR,
    COUNT,
    HOUR,
    Case,
    Finding,
    amount,
    doings,
    greatest,
    groups,
    text,
    total,
)
from leadline.store.plan import Aggregate, Condition, Function, Op

HOST = groups("cluster", "host.name")
WHO = groups("cluster", "host.name", "user.name")
NO_JOB = Condition("job.id", Op.MISSING)
IDLE = 0.01  # cards busy for less than this are not used; a driver's own pulse is less

Cell = tuple[str, str, str]  # cluster, host, hour
Who = tuple[str, str, str | None]  # cluster, host, user


@dataclass(slots=True)
class Hours:
    """
    What one user did on one node in the hours that count.
    """

    cpu: float = 0.0
    cards: float = 0.0  # card seconds
    shares: dict[str, float] = field(default_factory=dict)  # of the node, by hour


def no_gpu_work(case: Case) -> list[Finding]:
    """
    Nodes with cards whose cores are busy for hours while not one card is used.

    Who is named took at least `card_cpu_share` of the node's cores in such an hour. On a node
    whose cores are mostly free nobody keeps the cards from others.
    """
    cards = _cards(case)
    rooms = _rooms(case)
    blocked = {
        cell
        for cell, (busy, seconds) in cards.items()
        if seconds and busy < IDLE * seconds and rooms.get(cell, (0.0, 0.0))[1]
        if rooms[cell][0] >= case.limits.busy_share * rooms[cell][1]
    }
    taken: dict[Who, Hours] = defaultdict(Hours)
    for row in doings(case):
        cell = str(row["cluster"]), str(row["host.name"]), str(row["@timestamp"])
        if cell in blocked:
            share = amount(row, "cpu") / rooms[cell][1]
            if share >= case.limits.card_cpu_share:
                one = taken[(cell[0], cell[1], text(row, "user.name"))]
                one.cards += cards[cell][1]
                one.shares[cell[2]] = share
    return [
        _finding(
            "GPU node without GPU use",
            who,
            one,
            f"up to {100 * max(one.shares.values()):.0f} % of the cores taken"
            f" in {counted(len(one.shares), 'busy hour')} in which no card was used",
            "run it on nodes without cards",
        )
        for who, one in taken.items()
        if len(one.shares) >= case.limits.card_hours
    ]


def gpu_hogs(case: Case) -> list[Finding]:
    """
    Somebody outside any job takes a large part of a node's cards, and the cards are busy.
    """
    cards = _cards(case)
    taken: dict[Who, Hours] = defaultdict(Hours)
    by = (*WHO, BY_HOUR)
    for row in case.ask("process_gpu", by, total("cards", "gpu_seconds"), where=(NO_JOB,)):
        cell = str(row["cluster"]), str(row["host.name"]), str(row["@timestamp"])
        busy, seconds = cards.get(cell, (0.0, 0.0))
        own = amount(row, "cards")
        if busy >= case.limits.busy_share * seconds and own >= case.limits.hog_share * seconds > 0:
            one = taken[(cell[0], cell[1], text(row, "user.name"))]
            one.cards += own
            one.shares[cell[2]] = own / seconds
    found = [
        _finding(
            "GPU hog",
            who,
            one,
            f"up to {100 * max(one.shares.values()):.0f} % of all cards"
            f" in {counted(len(one.shares), 'busy hour')}, outside any job",
            "run it as a job",
        )
        for who, one in taken.items()
        if len(one.shares) >= case.limits.hog_hours
    ]
    return [replace(one, severity="red") for one in found]


def _finding(kind: str, who: Who, one: Hours, evidence: str, remedy: str) -> Finding:
    cluster, host, user = who
    return Finding(
        kind=kind,
        cluster=cluster,
        object=host,
        user=user,
        since=min(one.shares),
        until=max(one.shares),
        evidence=evidence,
        remedy=remedy,
        hours=one.cards / HOUR,
        unit="GPU hours",
    )


def _cards(case: Case) -> dict[Cell, tuple[float, float]]:
    """
    Busy seconds of a node's cards and seconds they were watched, by hour.

    An hour in which a card's use was not measured is left out: nobody can say that it was idle.
    """
    measured = Aggregate("measured", Function.COUNT, "gpu_seconds")
    sums = total("busy", "gpu_seconds"), total("seconds", "interval.seconds")
    rows = case.ask("gpu", (*HOST, BY_HOUR), *sums, measured, COUNT)
    return {
        (str(row["cluster"]), str(row["host.name"]), str(row["@timestamp"])): (
            amount(row, "busy"),
            amount(row, "seconds"),
        )
        for row in rows
        if row["measured"] == row["n"]
    }


def _rooms(case: Case) -> dict[Cell, tuple[float, float]]:
    """
    Busy core seconds of a node, and all there were, by hour.
    """
    sums = total("cpu", "core_seconds"), total("seconds", "interval.seconds")
    cores = greatest("cores", "node.cores")
    rows = case.ask("node", (*HOST, BY_HOUR), *sums, cores, where=(NO_JOB,))
    return {
        (str(row["cluster"]), str(row["host.name"]), str(row["@timestamp"])): (
            amount(row, "cpu"),
            amount(row, "cores") * amount(row, "seconds"),
        )
        for row in rows
    }
