"""
Cards by cluster and model: how many there are, are allocated, are idle, and cannot be used and why.

What a card is that no job holds is decided by `leadline.formats.nodestate.idle_or_drained` and by
what the driver says of it; where nobody asked the scheduler lately it is unknown, and not idle.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from leadline.formats import Document
from leadline.formats.gres import model as model_name
from leadline.formats.nodestate import REMOVED, idle_or_drained
from leadline.reports.nodes import Fleet, Host, fleet
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Condition, Function, Group, Op, Plan
from leadline.store.scope import Scope

RECENT = timedelta(minutes=30)
Failing = Mapping[tuple[Host, str], int]  # cards whose driver reports a fault, by node and model


@dataclass(slots=True)
class Count:
    """
    total = allocated + idle + unusable.
    """

    total: int = 0
    allocated: int = 0
    idle: int = 0
    unusable: int = 0
    why: dict[str, int] = field(default_factory=dict)

    def lost(self, cards: int, why: str) -> None:
        if cards:
            self.unusable += cards
            self.why[why] = self.why.get(why, 0) + cards


def cards_now(
    store: Store, scope: Scope, now: datetime, where: tuple[Condition, ...] = ()
) -> list[dict[str, Any]]:
    """
    Rows as `card_rows` gives them, of this moment: for pages and figures that are asked often.
    """
    found = fleet(store, scope, now - RECENT, now, where)
    return card_rows(found, failing_cards(store, scope, now, where))


def failing_cards(
    store: Store, scope: Scope, now: datetime, where: tuple[Condition, ...] = ()
) -> Failing:
    asked = (*where, Condition("gpu.failing", Op.IN, (True,)))
    by = (Group("cluster"), Group("host.name"), Group("gpu.model"))
    cards = (Aggregate("cards", Function.DISTINCT, "gpu.uuid"),)
    found: dict[tuple[Host, str], int] = {}
    for row in store.ask(Plan("gpu", cards, by, asked, now - RECENT, now), scope):
        name = str(model_name(str(row["gpu.model"])) if row["gpu.model"] else "unknown")
        key = ((str(row["cluster"]), str(row["host.name"])), name)
        found[key] = found.get(key, 0) + int(row["cards"] or 0)
    return found


def card_rows(found: Fleet, failing: Failing | None = None) -> list[dict[str, Any]]:
    """
    One row for each cluster and model, at the end of the time FOUND speaks for. `reasons` has the
    number of cards by why they cannot be used, `why` says the same in words.
    """
    counts: dict[tuple[str, str], Count] = {}
    for host in found.hosts():
        last = found.latest(host)
        models = last.get("gpu.by_model")
        if not isinstance(models, dict) or last["state.name"] == REMOVED:
            continue
        free, why = _free(found, host, last)
        for model, told in models.items():
            count = counts.setdefault((host[0], str(model)), Count())
            total, allocated = int(told.get("total", 0)), int(told.get("allocated", 0))
            count.total += total
            rest = max(0, total - allocated)
            count.allocated += total - rest
            if free == "idle":
                broken = min(rest, _failing_of(failing or {}, host, str(model), len(models)))
                count.lost(broken, "failing: the driver reports a fault")
                count.idle += rest - broken
            else:
                count.lost(rest, why)
    return [
        {
            "cluster": cluster,
            "model": model,
            "total": count.total,
            "allocated": count.allocated,
            "idle": count.idle,
            "unusable": count.unusable,
            "reasons": dict(sorted(count.why.items())),
            "why": "; ".join(f"{cards} {why}" for why, cards in sorted(count.why.items())),
        }
        for (cluster, model), count in sorted(counts.items())
    ]


def _free(found: Fleet, host: Host, last: Document) -> tuple[str, str]:
    """
    What a card is there that no job holds, and why it is not idle.
    """
    if not found.is_known(host):
        return "unknown", "unknown: nobody asked the scheduler lately"
    flags = last.get("state.flags")
    free = idle_or_drained(str(last["state.name"]), flags if isinstance(flags, list) else ())
    reason = last.get("state.reason")
    if free == "reserved" and isinstance(held := last.get("reservations"), list):
        reason = ", ".join(map(str, held))
    return free, f"{free}: {reason}" if reason else free


def _failing_of(failing: Failing, host: Host, model: str, models: int) -> int:
    """
    By the model's name; where a node has one model the driver may call it what it will.
    """
    if (host, model) in failing or models > 1:
        return failing.get((host, model), 0)
    return sum(cards for (where, _), cards in failing.items() if where == host)
