"""Grants in pictures: a dashed line at the even pace, where what is drawn is what was granted."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from leadline.query import Question, ask, measure, parse_filters, parse_period
from leadline.render.charts import draw_file
from leadline.reports.granted import with_grants
from leadline.reports.grants import Grant
from leadline.reports.kinds import KINDS
from leadline.store.memory import MemoryStore
from leadline.store.scope import EVERYTHING
from tests.web.conftest import NOW, process

UTC = ZoneInfo("UTC")
# 30 days of November: 24 hours a day.
GRANT = Grant(
    project="nn-1",
    cluster="fox",
    period=parse_period("2026-11", NOW, UTC),
    resource="core",
    hours=30 * 24.0,
    charge="used",
)
OURS = parse_filters("project=nn-1, cluster=fox")


def drawn(kind: str, asked: Question, clusters: tuple[str, ...] = ()) -> dict[str, Any]:
    store = MemoryStore()
    mine = {"project": "nn-1"}
    store.write([process(NOW - timedelta(hours=h), h % 2, **mine) for h in range(9 * 24)], "create")

    def told(question: Question) -> Any:
        return ask(question, store, EVERYTHING, NOW, zone=UTC)

    answer, first = told(asked), measure(asked.measures[0])
    spec = KINDS[kind](asked, answer, first, told)
    assert spec is not None
    return with_grants(spec, asked, answer, first, [GRANT], clusters)


def line_of(spec: dict[str, Any]) -> list[float]:
    dashed = [one for one in spec.get("layer", []) if "strokeDash" in one["mark"]]
    return [point["value"] for one in dashed for point in one["data"]["values"]]


@pytest.mark.parametrize("kind", ["area", "lines"])
def test_grant_is_a_line_at_its_even_pace(kind: str) -> None:
    """
    As much each day, the days that are only partly in the period as well.
    """
    spec = drawn(kind, Question(by=("user",), where=OURS, period="last 7 days"))
    values = line_of(spec)
    assert len(values) == 8
    assert values == pytest.approx([24.0] * 8)
    svg = draw_file(spec)
    assert "granted: nn-1" in svg
    assert "core hours used per day" in svg


def test_grant_is_drawn_however_rows_are_ordered() -> None:
    """
    A table ordered by its second column is drawn with its grant.
    """
    both = ("core_hours_used", "samples")
    asked = Question(both, ("user",), OURS, period="last 7 days", order="samples")
    assert line_of(drawn("area", asked))


def test_grant_on_one_cluster_says_nothing_of_two() -> None:
    """
    Where the question names no cluster, it is drawn only where there is no other.
    """
    asked = Question(by=("user",), where=OURS[:1], period="last 7 days")
    assert line_of(drawn("area", asked, clusters=("fox",)))
    assert not line_of(drawn("area", asked, clusters=("betzy", "fox")))


@pytest.mark.parametrize(
    ("kind", "asked"),
    [
        ("bars", Question(by=("user",), where=OURS, period="last 7 days")),
        ("area", Question(("samples",), by=("user",), where=OURS, period="last 7 days")),
        ("area", Question(by=("user",), period="last 7 days")),
        ("area", Question(by=("user",), where=parse_filters("user=alice"), period="last 7 days")),
    ],
    ids=["not over time", "not what was granted", "of everybody", "of one user"],
)
def test_no_line_where_the_grant_is_of_something_else(kind: str, asked: Question) -> None:
    """
    The grant of a project says nothing of a user, of samples, or of all projects.
    """
    assert "granted" not in str(drawn(kind, asked))
