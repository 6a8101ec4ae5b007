"""The searches that panels make: intervals, levels, others."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kibana import request
from kibana.build import objects
from kibana.check import Object
from kibana.live import check
from leadline.errors import LeadlineError
from tests.kibana.test_objects import pick

NOW = datetime(2026, 11, 21, tzinfo=UTC)


def last(**span: int) -> request.Range:
    return request.Range(NOW - timedelta(**span), NOW)


@pytest.mark.parametrize(
    ("days", "expected"),
    [(1 / 96, "30s"), (1, "30m"), (7, "3h"), (30, "12h"), (90, "1d"), (365, "1w"), (3650, "1y")],
)
def test_automatic_interval_gives_some_fifty_bars(days: float, expected: str) -> None:
    """
    The wider the range the longer the bars, and never more than a hundred of them.
    """
    when = request.Range(NOW - timedelta(days=days), NOW)
    assert expected == request.interval(when)


def test_top_is_taken_before_time_and_others_named_apart() -> None:
    """
    Terms stand outside of time; the second request leaves out what the first has named.
    """
    one = pick(objects(), "visualization", "core-by-program")
    body = request.aggregated(one, [], last(days=30))
    outer = body["aggs"]["3"]
    assert {"1": "desc"} == outer["terms"]["order"]
    assert 10000 == outer["terms"]["shard_size"]
    assert {"1", "2"} == set(outer["aggs"])
    assert "12h" == outer["aggs"]["2"]["date_histogram"]["fixed_interval"]
    second = request.others(one, body, {"3": {"buckets": [{"key": "VASP"}]}})
    assert second is not None
    rest = second["aggs"][request.OTHERS]["filters"]["filters"][""]["bool"]
    assert [{"match_phrase": {"program.name": "VASP"}}] == rest["must_not"]


def test_pie_has_its_metric_on_every_level() -> None:
    """
    A pie is drawn ring by ring, so each ring has its sum.
    """
    one = pick(objects(), "visualization", "by-cluster")
    inner = {**one["attributes"]["visState"]["aggs"][1], "id": "3"}
    one["attributes"]["visState"]["aggs"].append(inner)
    body = request.aggregated(one, [], last(days=30))
    assert {"1", "3"} == set(body["aggs"]["2"]["aggs"])
    assert {"1"} == set(body["aggs"]["2"]["aggs"]["3"]["aggs"])


def test_negated_filter_refuses() -> None:
    """
    Filters of dashboard and panel are joined; a negated one goes the other way.
    """
    clause = {"match_phrase": {"cluster": "fox"}}
    source = {"query": {"query": ""}, "filter": [{"meta": {"negate": True}, "query": clause}]}
    made = request.query([source], last(days=1))["bool"]
    assert [clause] == made["must_not"]
    assert 1 == len(made["filter"])


def test_time_that_is_not_read_is_named() -> None:
    """
    A time range in a form that nobody here reads is an error, not all time.
    """
    with pytest.raises(LeadlineError, match="yesterday"):
        request.read_range("yesterday", "now", NOW)


def engine_of(types: tuple[str, ...], failed: int) -> Object:
    kinds = {kind: {"aggregatable": True, "searchable": True} for kind in types}
    used = {name for text in map(str, objects()) for name in request.queried(text)}
    names = used | {
        agg["params"].get("field", "")
        for one in objects()
        if one["type"] == "visualization"
        for agg in one["attributes"]["visState"]["aggs"]
    }
    return {
        "fields": dict.fromkeys(names, kinds),
        "_shards": {"total": 2, "failed": failed},
        "hits": {"total": {"value": 0}, "hits": []},
    }


@pytest.mark.parametrize(
    ("types", "failed", "told"),
    [(("double",), 1, "1 shards failed"), (("double", "keyword"), 0, "is double and keyword")],
)
def test_half_an_answer_and_two_types_are_broken(
    types: tuple[str, ...], failed: int, told: str
) -> None:
    """
    An index mapped otherwise and a shard that failed are told, though the engine says 200.
    """
    answer = engine_of(types, failed)
    report = check(objects(), lambda method, path, body: (200, answer), NOW, "leadline")
    assert told in "\n".join(report.broken)
