"""
Why a page is empty, and what to do next: never an empty chart.
"""

from __future__ import annotations

from datetime import datetime

from leadline.query import Answer
from leadline.query.question import Question
from leadline.web.asking import desk
from leadline.web.words import ago

START = "leadline sample | leadline enrich"
DEMO = "leadline up --demo"


def newest_sample() -> datetime | None:
    """
    When the store last heard from any node.
    """
    found = [
        health.newest
        for name, health in desk().health().datasets.items()
        if name in {"process", "node", "gpu"} and health.newest
    ]
    return datetime.fromisoformat(max(found)) if found else None


def nothing_yet() -> list[str]:
    return [
        "No sample has come in yet.",
        "Samples come from `leadline ship` on each node, by way of `leadline enrich`; "
        "`leadline status` says which of them is silent.",
        f"To look around first, load a simulated month: `{DEMO}`.",
    ]


def why_empty(asked: Question, answer: Answer) -> list[str]:
    newest = newest_sample()
    if newest is None:
        return nothing_yet()
    start = answer.period.start
    told = f"The newest sample is from {_local(newest)}, {ago(newest, desk().site.clock())}."
    if start is not None and newest < start:
        return [
            f"No samples in {asked.period}.",
            f"{told} `leadline status` says why nothing came since.",
        ]
    if asked.where:
        return ["Nothing matches these filters in this period.", f"Remove one of them. {told}"]
    return ["Nothing was measured in this period.", f"Choose another one. {told}"]


def _local(moment: datetime) -> str:
    return f"{moment.astimezone(desk().site.zone):%A %d %B %Y %H:%M}"
