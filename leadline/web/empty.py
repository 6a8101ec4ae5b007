"""
Why a page is empty, and what to do next: never an empty chart.
"""

from __future__ import annotations

from datetime import datetime

from leadline.errors import StoreError
from leadline.language import _
from leadline.query import Answer
from leadline.query.question import Question
from leadline.reports.answers import not_parted
from leadline.web.asking import desk
from leadline.web.spoken import spoken_period
from leadline.web.words import ago, moment

DEMO = "leadline up --demo"


def newest_sample() -> datetime | None:
    """
    When the store last heard from any node. A store that is away is no empty one.
    """
    store = desk().health()
    if not store.ok and not store.datasets:
        raise StoreError("; ".join(store.problems))
    found = [
        health.newest
        for name, health in store.datasets.items()
        if name in {"process", "node", "gpu"} and health.newest
    ]
    return datetime.fromisoformat(max(found)) if found else None


def nothing_yet() -> list[str]:
    return [
        _("No sample has come in yet."),
        _(
            "Samples come from `leadline ship` on each node, by way of `leadline enrich`; "
            "`leadline status` says which of them is silent."
        ),
        _("To look around first, load a simulated month: `{command}`.").format(command=DEMO),
    ]


def why_empty(asked: Question, answer: Answer) -> list[str]:
    newest = newest_sample()
    if newest is None:
        return nothing_yet()
    start = answer.period.start
    since = _("The newest sample is from {when}, {ago}.").format(
        when=moment(newest.astimezone(desk().site.zone)), ago=ago(newest, desk().site.clock())
    )
    if start is not None and newest < start:
        return [
            _("No samples: {period}.").format(period=spoken_period(asked.period)),
            _("{since} `leadline status` says why nothing came since.").format(since=since),
        ]
    if kept := not_parted(answer):
        return [
            _("Samples are kept since {day}, and hourly usage does not tell this apart.").format(
                day=kept
            ),
            _("Choose a later period, or ask by user, project or program."),
        ]
    if asked.where:
        return [
            _("Nothing matches these filters in this period."),
            _("Remove one of them.") + f" {since}",
        ]
    return [_("Nothing was measured in this period."), _("Choose another one.") + f" {since}"]
