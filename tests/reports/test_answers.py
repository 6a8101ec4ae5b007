"""
Answers in words: what an empty one says.
"""

from __future__ import annotations

from leadline.reports.answers import as_table, footer, headline, sentence, why_empty
from tests.query.conftest import answer, heartbeat, sample, stored


def test_no_accounted_run_is_no_lack_of_samples() -> None:
    """
    Whoever asks for runs and gets none is told where runs come from, not that nodes are silent.
    """
    store = stored([sample(1)])
    assert "No accounted run" in why_empty(answer(store, "wall_hours by user during 2020"))
    both = "wall_hours, core_hours_used by user during 2020"
    assert "No samples in this period" in why_empty(answer(store, both))


def test_nodes_are_less_than_most_only_where_most_are_more() -> None:
    """
    One silent node of three is named as such; three that were all heard for an hour are not.
    """
    hours = [f"2026-11-20T{hour:02}:30:00.000Z" for hour in range(23)]
    most = [heartbeat(host, hour) for host in ("a", "b") for hour in hours]
    day = "core_hours_used during 2026-11-20T00:00..2026-11-21T00:00"
    one = stored([*most, heartbeat("c", hours[0])])
    assert "(less than most: c " in footer(answer(one, day))[0]
    few = stored([heartbeat(host, hours[0]) for host in "abc"])
    assert "(below 90 %: " in footer(answer(few, day))[0]


def test_titles_within_a_sentence() -> None:
    """
    A GPU model keeps its capitals, an end state has none; what holds a comma is told apart.
    """
    store = stored([sample(1)])
    assert "by GPU model and end state" in headline(answer(store, "jobs by gpu_model, state"))
    found = answer(store, "memory_p90, memory_max during all")
    assert headline(found).startswith("Memory, 90 %; max memory, ")
    assert sentence(found).startswith("Memory, 90 %: ")


def test_without_capacity_chores_are_named() -> None:
    """
    Utilisation comes from what `leadline chores` makes: filters are not to blame.
    """
    store = stored([sample(1), heartbeat("c1", "2026-11-20T10:30:00.000Z")])
    found = answer(store, "cpu_utilisation by host during 2026")
    assert "filters" not in why_empty(found)
    assert "No capacity of nodes is known here: `leadline chores`" in " ".join(footer(found))


def test_the_total_is_all_of_it() -> None:
    """
    Of what adds up the total is 100 %: a dash would say that it was not measured.
    """
    store = stored([sample(1), heartbeat("c1", "2026-11-20T10:30:00.000Z")])
    assert 100.0 == as_table(answer(store, "core_hours_used by user during all")).feet[-1]["share"]
    assert None is as_table(answer(store, "memory_max by user during all")).feet[-1]["share"]
