"""What detectors look at together is asked once."""

from __future__ import annotations

from datetime import timedelta

from leadline.reports.detectors import DETECTORS
from leadline.reports.finding import COUNT, Case, groups
from leadline.reports.findings import detected, rows
from leadline.reports.once import once
from leadline.store.memory import MemoryStore
from leadline.store.plan import Plan
from leadline.store.scope import EVERYTHING, Scope
from tests.counting import CountingStore
from tests.reports.documents import NOW, job, process


def case_of(store: MemoryStore) -> Case:
    return Case(store, EVERYTHING, NOW - timedelta(days=1), NOW, NOW)


def test_the_same_question_is_passed_on_once() -> None:
    """
    Rows and documents are told again from memory; another scope or another span is asked for.
    """
    store = CountingStore()
    store.write([job(), process(3)], "create")
    memory = once(store)
    plan = Plan("process", (COUNT,), groups("host.name"))
    for _ in range(3):
        assert [1] == [row["n"] for row in memory.ask(plan, EVERYTHING)]
        assert 1 == sum(len(batch) for batch in memory.scan("job", EVERYTHING, start=None))
    assert 2 == store.count
    memory.ask(plan, Scope(users=frozenset({"nobody"})))
    memory.scan("job", EVERYTHING, end=NOW)
    assert 4 == store.count


def test_all_detectors_together_ask_less_than_each_alone() -> None:
    """
    Several detectors look at the jobs of the window and at nodes hour by hour; what they find is
    the same.
    """
    store = CountingStore()
    store.write([job(), process(3)], "create")
    together = rows(detected(case_of(store)))
    asked = store.count
    alone = [row for name in DETECTORS for row in rows(detected(case_of(store), [name]))]
    assert sorted(map(str, together)) == sorted(map(str, alone))
    assert asked <= 40 < store.count - asked
