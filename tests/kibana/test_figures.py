"""What a panel shows is what `leadline usage` says, to the last digit that matters."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from kibana import request
from kibana.build import objects
from kibana.check import Object, searches_of
from leadline.query import ask, parse_question
from leadline.store.opensearch import OpenSearchStore
from leadline.store.scope import EVERYTHING
from tests.kibana.conftest import NOW, PREFIX
from tests.kibana.test_objects import pick

ALL = request.Range(NOW - timedelta(days=30), NOW)
LATER = NOW + timedelta(hours=1)  # every hour of the fleet is closed
HOURS = 3600.0

# Visualisation → the question that has the same answer. Its measures in the panel's order; what
# usage counts by the end of jobs and the panel by their submission comes after them, uncompared.
SAME = {
    "totals": "core_hours_used, gpu_hours_busy, users, hosts",
    "top-programs": "core_hours_used by program",
    "bottom-programs": "core_hours_used by program",
    "core-by-program": "core_hours_used by program",
    "program-table": "core_hours_used, gpu_hours_busy, users, memory_max by program",
    "top-users": "core_hours_used by user",
    "core-by-user": "core_hours_used by user",
    "user-table": "core_hours_used, gpu_hours_busy, programs, hosts by user",
    "top-groups": "core_hours_used by group",
    "top-projects": "core_hours_used by project",
    "project-table": "core_hours_used, gpu_hours_busy, users by project",
    "level1-over-time": "core_hours_used by level1",
    "level2": "core_hours_used by level2",
    "tags": "core_hours_used by tag",
    "by-cluster": "core_hours_used by cluster",
    "unmatched": "core_hours_used, users, samples by shape where program=unmatched",
    "hour-weekday": "core_hours_used by weekday, hour_of_day",
    "gpu-by-program": "gpu_hours_busy by program",
    "gpu-users": "gpu_hours_busy by user",
    "gpu-held": "gpu_hours_held, gpu_hours_busy by user",
    "command-cloud": "core_hours_used by command",
    "strays": "core_hours_used by user where stray=true",
    "metagroups": "core_hours_used by metagroup",
    "stray-over-time": "core_hours_used by host where stray=true",
    "asked-used": "core_hours_allocated, core_hours_accounted by user",
    "job-classes": "core_hours_allocated by class",
    "job-memory": "job_memory_mean by project",
    "jobs-over-time": "jobs_submitted by state",
    "job-totals": "jobs_submitted",
    "job-states": "jobs_submitted by state",
    "partition-table": "jobs_submitted, core_hours_allocated, core_hours_accounted, wait_mean"
    " by partition",
    "documents": "samples by host",
}

# The column of a table that the question answers, where it is not the first.
COLUMN = {"job-memory": 1}
# Percentiles do not add up: they are compared over the whole range, without the panel's time axis.
SPREAD = {
    "job-wait": "wait_median, wait_p90",
    "job-wall": "run_time_median, run_time_p90",
}
# What a Vega panel searches for: the question, the names of its levels, and of its figures.
VEGA = {
    "week": ("core_hours_used by weekday, hour_of_day", ("day", "hour"), ("used",)),
    "asked-used-points": (
        "core_hours_allocated, core_hours_accounted by user",
        ("user",),
        ("asked", "used"),
    ),
    "granted": ("core_hours_allocated by project", ("day", "project"), ("spent",)),
    "granted-gpu": ("gpu_hours_allocated by project", ("day", "project"), ("spent",)),
}

Figures = dict[tuple[str, ...], list[float]]


@pytest.mark.parametrize(("name", "text"), SAME.items(), ids=SAME)
def test_panel_shows_what_usage_says(filled: OpenSearchStore, name: str, text: str) -> None:
    """
    Each row of the panel has the figures of the answer from raw samples, and `others` its rest.
    """
    shown, rest = panel(filled, pick(objects(), "visualization", name))
    said, whole = told(filled, text)
    assert shown
    for key, figures in shown.items():
        column = COLUMN.get(name, 0)
        own = figures[column : column + len(said[key])]
        assert own == pytest.approx(said[key], rel=1e-6), key
    if rest is not None:
        named = sum(figures[0] for key, figures in said.items() if "None" not in key)
        assert sum(f[0] for f in shown.values()) + rest == pytest.approx(named, rel=1e-6)
    assert whole > 0


@pytest.mark.parametrize(("name", "text"), SPREAD.items(), ids=SPREAD)
def test_percentiles_are_those_of_usage(filled: OpenSearchStore, name: str, text: str) -> None:
    """
    Median and 90 % of the panel's own documents, as the engine estimates them.
    """
    one = copy.deepcopy(pick(objects(), "visualization", name))
    state = one["attributes"]["visState"]
    state["aggs"] = [agg for agg in state["aggs"] if agg["type"] == "percentiles"]
    values = search(filled, one, request.aggregated(one, [], ALL))["aggregations"]["1"]["values"]
    said, _ = told(filled, text)
    assert [part["value"] for part in values] == pytest.approx(said[()], rel=0.02)


@pytest.mark.parametrize("name", VEGA)
def test_vega_panel_shows_what_usage_says(filled: OpenSearchStore, name: str) -> None:
    """
    The search behind a Vega panel adds up to the answer, key by key.
    """
    text, levels, names = VEGA[name]
    found: Figures = {}

    def walk(part: Object, key: tuple[str, ...], left: tuple[str, ...]) -> None:
        if left:
            for bucket in part[left[0]]["buckets"]:
                own = () if "key_as_string" in bucket else (str(bucket["key"]),)
                walk(bucket, (*key, *own), left[1:])
            return
        known = found.get(key, [0.0] * len(names))
        found[key] = [k + part[n]["value"] for k, n in zip(known, names, strict=True)]

    walk(of_vega(filled, name), (), levels)
    said, _ = told(filled, text)
    assert found
    for key, figures in found.items():
        assert figures == pytest.approx(said[key], rel=1e-6, abs=1e-6), key


def test_efficiency_is_that_of_usage(filled: OpenSearchStore) -> None:
    """
    Used of allocated by partition, of the same runs.
    """
    said, _ = told(filled, "cpu_efficiency by partition")
    buckets = of_vega(filled, "efficiency")["partition"]["buckets"]
    assert {bucket["key"] for bucket in buckets} == {key for (key,) in said}
    for bucket in buckets:
        ended = bucket["ended"]
        share = 100 * ended["used"]["value"] / ended["allocated"]["value"]
        assert [share] == pytest.approx(said[bucket["key"],], rel=1e-6)


def of_vega(store: OpenSearchStore, name: str) -> Object:
    """
    What the one search of a Vega panel finds.
    """
    one = pick(objects(), "visualization", name)
    (url,) = searches_of(one["attributes"]["visState"]["params"]["spec"])
    index = url["index"].replace("leadline", PREFIX)
    found: Object = store.client.post(f"/{index}/_search", request.of_vega(url, [], ALL))
    return dict(found["aggregations"])


def told(store: OpenSearchStore, text: str) -> tuple[Figures, float]:
    """
    The rows of an answer in the panel's units, and the total of its first measure.
    """
    asked = parse_question(f"{text} during all")
    answer = ask(asked, store, EVERYTHING, LATER, zone=ZoneInfo("Europe/Oslo"), rolled=False)
    names = answer.question.measures

    def figures(row: Any) -> list[float]:
        return [(row[n] or 0) * (HOURS if "_hours_" in n else 1) for n in names]

    rows = {tuple(str(row[k]) for k in answer.question.keys): figures(row) for row in answer.rows}
    return rows or {(): figures(answer.total)}, figures(answer.total)[0]


def panel(store: OpenSearchStore, one: Object) -> tuple[Figures, float | None]:
    """
    The rows that a panel shows, points in time added up, and the first figure of its `others`.
    """
    body = request.aggregated(one, [], ALL)
    answer = search(store, one, body)
    aggs = request.enabled(one)
    metrics = [agg for agg in aggs if agg["type"] not in request.BUCKETS]
    levels = [agg for agg in aggs if agg["type"] in request.BUCKETS]
    found: Figures = {}
    whole = {"doc_count": answer["hits"]["total"]["value"], **answer.get("aggregations", {})}
    for key, figures in rows(whole, levels, metrics):
        known = found.get(key)
        found[key] = (
            figures if known is None else [a + b for a, b in zip(known, figures, strict=True)]
        )
    second = request.others(one, body, answer.get("aggregations", {}))
    if second is None:
        return found, None
    left = search(store, one, second)["aggregations"][request.OTHERS]["buckets"][""]
    return found, sum(figures[0] for _, figures in rows(left, levels[1:], metrics))


def rows(
    answer: Object, levels: list[Object], metrics: list[Object]
) -> Iterator[tuple[tuple[str, ...], list[float]]]:
    if not levels:
        yield (), [figure(answer, metric) for metric in metrics]
        return
    level, *inner = levels
    for one in answer[level["id"]]["buckets"]:
        own = () if level["type"] == "date_histogram" else (str(one["key"]),)
        for key, figures in rows(one, inner, metrics):
            yield (*own, *key), figures


def figure(answer: Object, metric: Object) -> float:
    if metric["type"] == "count":
        return float(answer["doc_count"])
    return float(answer[metric["id"]]["value"] or 0)


def search(store: OpenSearchStore, one: Object, body: Object) -> Object:
    index = request.pattern_of(one).replace("leadline", PREFIX, 1)
    answer: Object = store.client.post(f"/{index}-*/_search", body)
    return answer
