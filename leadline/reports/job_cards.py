"""
What a job did with cards: as told of its processes, or of a card that it had to itself.

Not every driver tells how busy a process keeps a card. What nobody told is not measured, never 0.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from leadline.reports.grid import Grid
from leadline.store.contract import Store
from leadline.store.plan import Aggregate, Condition, Function, Group, Op, Plan, Row
from leadline.store.scope import EVERYTHING, Scope

Series = tuple[float | None, ...]
Place = tuple[str, str, int]  # host, card, tick

USED = 0.01  # a card that was never busier than one percent was not used


@dataclass(frozen=True, slots=True)
class Card:
    host: str
    name: str  # GPU 0, or its uuid where the number is not known
    model: str | None
    mean: float | None  # cards: 1 is the whole card, busy all the time; None: nobody told
    peak_memory: float | None
    series: Series

    @property
    def used(self) -> bool:
        return any(value is not None and value >= USED for value in self.series)


def cards_of(
    store: Store, scope: Scope, plan: Plan, grid: Grid, seen: Sequence[bool]
) -> tuple[Card, ...]:
    """
    PLAN says which job, and when; SEEN in which intervals of GRID it was seen at all.
    """
    aggregates = (
        Aggregate("gpu", Function.SUM, "gpu_seconds"),
        Aggregate("told", Function.COUNT, "gpu_seconds"),
        Aggregate("memory", Function.SUM, "gpu.memory.bytes"),
        Aggregate("interval", Function.MAX, "interval.seconds"),
        Aggregate("index", Function.MAX, "gpu.index"),
        Aggregate("model", Function.MAX, "gpu.model"),
    )
    by = (Group("host.name"), Group("gpu.uuid"), Group("@timestamp"))
    rows = store.ask(Plan("process_gpu", aggregates, by, plan.where, plan.start, plan.end), scope)
    by_card: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        by_card[str(row["host.name"]), str(row["gpu.uuid"])].append(row)
    untold = [key for key, members in by_card.items() if not all(row["told"] for row in members)]
    whole = _whole_cards(store, plan, grid, untold) if untold else {}
    found = [_card(key, members, grid, seen, whole) for key, members in by_card.items()]
    return tuple(sorted(found, key=lambda card: (card.host, card.name)))


def _card(
    key: tuple[str, str],
    rows: Sequence[Row],
    grid: Grid,
    seen: Sequence[bool],
    whole: dict[Place, float],
) -> Card:
    """
    A card's use over the job's grid; where the job was seen and did not have it open, it was idle.
    """
    host, uuid = key
    series: list[float | None] = [0.0 if there else None for there in seen]
    untold = set()
    for row in rows:
        tick = grid.tick(row)
        if not 0 <= tick < len(series):
            continue
        busy = whole.get((host, uuid, tick))
        if row["told"]:
            busy = float(row["gpu"] or 0) / float(row["interval"] or grid.interval)
        if busy is None:
            untold.add(tick)
        else:
            series[tick] = (series[tick] or 0.0) + busy
    for tick in untold:
        series[tick] = None
    known = [value for value in series if value is not None]
    memory = [float(row["memory"]) for row in rows if row["memory"] is not None]
    index, model = rows[0]["index"], rows[0]["model"]
    return Card(
        host,
        f"GPU {index}" if index is not None else uuid,
        None if model is None else str(model),
        sum(known) / len(known) if known and len(untold) <= len(known) else None,
        max(memory, default=None),
        tuple(series),
    )


def _whole_cards(
    store: Store, plan: Plan, grid: Grid, cards: Sequence[tuple[str, str]]
) -> dict[Place, float]:
    """
    How busy whole cards were while nobody but the job had them open.
    """
    (job,) = (condition for condition in plan.where if condition.field == "job.id")
    where = (
        Condition("cluster", Op.IN, (str(job.values[0]).partition("/")[0],)),
        Condition("host.name", Op.IN, tuple({host for host, _ in cards})),
        Condition("gpu.uuid", Op.IN, tuple({uuid for _, uuid in cards})),
    )
    by = (Group("host.name"), Group("gpu.uuid"), Group("@timestamp"))
    sums = (
        Aggregate("gpu", Function.SUM, "gpu_seconds"),
        Aggregate("told", Function.COUNT, "gpu_seconds"),
        Aggregate("interval", Function.SUM, "interval.seconds"),
    )
    own = (Aggregate("own", Function.COUNT, where=(job,)), Aggregate("all", Function.COUNT))
    opened = Plan("process_gpu", own, by, where, plan.start, plan.end)
    shared = {
        _place(row, grid) for row in store.ask(opened, EVERYTHING) if row["own"] != row["all"]
    }
    rows = store.ask(Plan("gpu", sums, by, where, plan.start, plan.end), EVERYTHING)
    return {
        place: float(row["gpu"] or 0) / float(row["interval"])
        for row in rows
        if row["told"] and row["interval"] and (place := _place(row, grid)) not in shared
    }


def _place(row: Row, grid: Grid) -> Place:
    return str(row["host.name"]), str(row["gpu.uuid"]), grid.tick(row)


def watched(store: Store, cluster: str, hosts: Sequence[str], plan: Plan) -> bool:
    """
    Whether a card that the job never opened would be known to be idle, on each of HOSTS: somebody
    counted who has cards open there, or none of the cards did anything. Which cards a node has is
    nobody's secret.
    """
    where = (Condition("cluster", Op.IN, (cluster,)), Condition("host.name", Op.IN, tuple(hosts)))
    aggregates = (
        Aggregate("counted", Function.COUNT, "gpu.processes"),
        Aggregate("told", Function.COUNT, "gpu_seconds"),
        Aggregate("busy", Function.SUM, "gpu_seconds"),
        Aggregate("seconds", Function.SUM, "interval.seconds"),
    )
    asked = Plan("gpu", aggregates, (Group("host.name"),), where, plan.start, plan.end)
    known = {
        str(row["host.name"])
        for row in store.ask(asked, EVERYTHING)
        if row["counted"]
        or (row["told"] and float(row["busy"] or 0) <= USED * float(row["seconds"] or 0))
    }
    return bool(hosts) and known >= set(hosts)
