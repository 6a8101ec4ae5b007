"""
What goes on now: who runs what where, how busy nodes and cards are, by the samples of some minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from leadline.store.plan import Aggregate, Condition, Function, Group, Op, Plan, Row, Scalar

LOOK = timedelta(minutes=15)  # back: two samples of a shipper that looks every five minutes
REMEMBERED = timedelta(days=1)  # a node that was there and is silent
MOST = 500  # processes told, the busiest first
Ask = Callable[[Plan], list[Row]]
Found = list[dict[str, Scalar | None]]

HOST = ("cluster", "host.name")
RUNNING = (*HOST, "user.name", "program.name", "process.name", "job.id", "stray")
LAST = Aggregate("last", Function.MAX, "@timestamp")
SPAN = Aggregate("span", Function.SUM, "interval.seconds")
LOOKS = Aggregate("looks", Function.DISTINCT, "sample.time")
BUSY = Aggregate("busy", Function.SUM, "core_seconds")
GPU_BUSY = Aggregate("gpu_busy", Function.SUM, "gpu_seconds")

NODE = (
    LAST,
    SPAN,
    LOOKS,
    BUSY,
    Aggregate("cores", Function.MAX, "node.cores"),
    Aggregate("threads", Function.MAX, "node.threads"),
    Aggregate("load", Function.MAX, "load.1m"),
    Aggregate("memory", Function.MAX, "memory.used.bytes"),
    Aggregate("memory_total", Function.MAX, "memory.total.bytes"),
    Aggregate("users", Function.MAX, "users.count"),
    Aggregate("lag", Function.MAX, "shipper.lag.seconds"),
)
CARD = (
    LAST,
    SPAN,
    GPU_BUSY,
    Aggregate("memory", Function.MAX, "gpu.memory.bytes"),
    Aggregate("memory_total", Function.MAX, "gpu.memory.total.bytes"),
    Aggregate("temperature", Function.MAX, "temperature.celsius"),
    Aggregate("power", Function.MAX, "power.watts"),
    Aggregate("failing", Function.COUNT, where=(Condition("gpu.failing", Op.IN, (True,)),)),
)
PROCESS = (
    LAST,
    BUSY,
    GPU_BUSY,
    Aggregate("memory", Function.SUM, "memory.rss.bytes"),
    Aggregate("merged", Function.SUM, "process.count"),
    Aggregate("single", Function.COUNT, where=(Condition("process.count", Op.MISSING),)),
)


@dataclass(frozen=True, slots=True)
class Now:
    processes: Found
    nodes: Found
    gpus: Found


def now(named: Ask, totals: Ask, moment: datetime, cluster: str | None = None) -> Now:
    """
    NAMED answers with the asker's scope, TOTALS what carries no name: nodes and cards as wholes.
    """
    where = (Condition("cluster", Op.IN, (cluster,)),) if cluster else ()
    plan = partial(_plan, moment, where)
    hosts = {_host(row): row for row in totals(plan("node", NODE, HOST))}
    cards = totals(plan("gpu", CARD, (*HOST, "gpu.uuid", "gpu.index", "gpu.model")))
    running = named(plan("process", PROCESS, RUNNING, best="busy"))
    nodes = [_node(row, [c for c in cards if _host(c) == key]) for key, row in hosts.items()]
    before = totals(plan("node", (LAST,), HOST, back=REMEMBERED))
    nodes += [_silent(row) for row in before if _host(row) not in hosts]
    return Now([_process(row, hosts) for row in running], nodes, [_card(row) for row in cards])


def _plan(
    moment: datetime,
    where: tuple[Condition, ...],
    dataset: str,
    wanted: tuple[Aggregate, ...],
    by: tuple[str, ...],
    best: str = "",
    back: timedelta = LOOK,
) -> Plan:
    groups = tuple(map(Group, by))
    limit = MOST if best else None
    return Plan(dataset, wanted, groups, where, moment - back, moment, best=best, limit=limit)


def _host(row: Row) -> tuple[Scalar | None, Scalar | None]:
    return row["cluster"], row["host.name"]


def _process(row: Row, hosts: Mapping[tuple[Scalar | None, Scalar | None], Row]) -> Row:
    """
    Over the looks at its node, not those it was seen at: what ran for a moment is a small load.
    """
    host = hosts.get(_host(row), {})
    looks = _number(host.get("looks")) or 1.0
    return {
        "cluster": row["cluster"],
        "host": row["host.name"],
        "user": row["user.name"],
        "program": row["program.name"] or row["process.name"],
        "job": row["job.id"],
        "stray": row["stray"],
        "cores": _ratio(row["busy"], host.get("span")),
        "gpus": _ratio(row["gpu_busy"], host.get("span")),
        "memory_bytes": _ratio(row["memory"], looks),
        "processes": _ratio(_number(row["merged"]) + _number(row["single"]), looks),
        "seen": row["last"],
    }


def _node(row: Row, cards: list[Row]) -> Row:
    busy = [_ratio(card["gpu_busy"], card["span"]) for card in cards]
    known = [share for share in busy if share is not None]
    return {
        "cluster": row["cluster"],
        "host": row["host.name"],
        "cores": row["cores"] if row["cores"] is not None else row["threads"],
        "cores_busy": _ratio(row["busy"], row["span"]),
        "load": row["load"],
        "memory_bytes": row["memory"],
        "memory_total_bytes": row["memory_total"],
        "gpus": len(cards),
        "gpus_busy": sum(known) if known else None,
        "users": row["users"],
        "shipper_lag_seconds": row["lag"],
        "silent": False,
        "seen": row["last"],
    }


def _silent(row: Row) -> Row:
    """
    Of a node that does not speak nothing is known but that, and since when.
    """
    unknown = dict.fromkeys(
        ("cores", "cores_busy", "load", "memory_bytes", "memory_total_bytes", "gpus_busy", "users")
    )
    seen = {"cluster": row["cluster"], "host": row["host.name"], "seen": row["last"]}
    return {**seen, **unknown, "gpus": 0, "shipper_lag_seconds": None, "silent": True}


def _card(row: Row) -> Row:
    busy = _ratio(row["gpu_busy"], row["span"])
    return {
        "cluster": row["cluster"],
        "host": row["host.name"],
        "gpu": row["gpu.index"],
        "uuid": row["gpu.uuid"],
        "model": row["gpu.model"],
        "busy_percent": None if busy is None else 100 * busy,
        "memory_bytes": row["memory"],
        "memory_total_bytes": row["memory_total"],
        "temperature_celsius": row["temperature"],
        "power_watts": row["power"],
        "failing": bool(row["failing"]),
        "seen": row["last"],
    }


def _number(value: Scalar | None) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _ratio(over: Scalar | None, under: Scalar | None) -> float | None:
    """
    None where it was not measured, or nothing says over how long.
    """
    if not isinstance(over, int | float) or not _number(under):
        return None
    return float(over) / _number(under)
