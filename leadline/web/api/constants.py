"""
What is not measured and yet belongs into a plot: grants, students, how much machine there is.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta

from werkzeug.wrappers import Response

from leadline.formats.times import format_time
from leadline.query import Question
from leadline.reports.grants import Grant, read_grants
from leadline.settings.zones import cluster_zone
from leadline.store.plan import Aggregate, Function, Group, Plan
from leadline.web.api.answers import as_json
from leadline.web.asking import desk

SEEN = timedelta(days=31)  # a node silent for longer is gone
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def constants() -> Response:
    return as_json(
        {
            "constants": {name: asdict(known) for name, known in desk().site.constants.items()},
            "grants": [_grant(one) for one in grants(desk().now)],
            "clusters": clusters(desk().now),
            "limits": asdict(desk().site.findings),
        }
    )


def grants(now: datetime) -> list[Grant]:
    """
    Every grant; of those of a project the ones of projects that the reader works for.
    """
    site = desk().site
    found = read_grants(
        site.allocations,
        now,
        lambda name: cluster_zone(site.clusters, name),
        site.periods,
        site.demo,
    )
    if desk().scope.everything or all(one.project is None for one in found):
        return list(found)
    mine = _projects()
    return [one for one in found if one.project is None or one.project in mine]


def _projects() -> set[object]:
    if desk().scope.totals_only:
        return set()
    mine = Question(("core_hours_used", "jobs"), ("project",), period="last 1 year", top=1000)
    return {row["project"] for row in desk().ask(mine).rows}


def _grant(one: Grant) -> dict[str, object]:
    return {
        "project": one.project,
        "cluster": one.cluster,
        "resource": one.resource,
        "measure": one.measure,
        "charge": one.charge,
        "hours": one.hours,
        "hours_per_day": one.hours / ((one.end - one.start) / DAY),
        "period": one.period.text,
        "from": format_time(one.start),
        "to": format_time(one.end),
        "note": one.note,
    }


def clusters(now: datetime) -> list[dict[str, object]]:
    """
    Nodes, cores, memory and cards of each cluster, as the nodes told within the last month.
    """
    end = now.replace(minute=0, second=0, microsecond=0) + HOUR
    most = (
        Aggregate("cores", Function.MAX, "node.cores"),
        Aggregate("memory", Function.MAX, "memory.total.bytes"),
    )
    counted = (Aggregate("n", Function.COUNT),)
    node, card = (Group("cluster"), Group("host.name")), (Group("cluster"), Group("gpu.model"))
    rows = desk().totals(Plan("node", most, by=node, start=end - SEEN, end=end))
    cards = desk().totals(
        Plan("gpu", counted, by=(*card, Group("gpu.uuid")), start=end - SEEN, end=end)
    )
    found: dict[str, dict[str, object]] = {}
    for row in rows:
        name = str(row["cluster"])
        one = found.setdefault(
            name, {"cluster": name, "nodes": 0, "cores": 0, "memory_bytes": 0, "gpus": {}}
        )
        one["nodes"] = _sum(one["nodes"], 1)
        one["cores"] = _sum(one["cores"], row["cores"])
        one["memory_bytes"] = _sum(one["memory_bytes"], row["memory"])
    for row in cards:
        gpus = found.get(str(row["cluster"]), {}).get("gpus")
        if isinstance(gpus, dict):
            model = str(row["gpu.model"] or "unknown")
            gpus[model] = gpus.get(model, 0) + 1
    return [found[name] for name in sorted(found)]


def _sum(so_far: object, more: object) -> int | float:
    assert isinstance(so_far, int | float)
    return so_far + (more if isinstance(more, int | float) else 0)
