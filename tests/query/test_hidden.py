"""
Others of what does not join: worked out from all values that no shown row holds.
"""

from __future__ import annotations

import math
import random

import pytest

from leadline.formats import Document
from leadline.store.contract import Store
from tests.any_store import STORES
from tests.query.conftest import ZONE, answer, heartbeat, sample
from tests.query.test_differential import HOSTS, slice_of
from tests.query.truth import Truth

USERS, PROGRAMS = ("a", "b", "c", None), ("VASP", "GROMACS", None)


def samples() -> list[Document]:
    dice = random.Random(8)
    found = []
    for number in range(200):
        user, program = dice.choice(USERS), dice.choice(PROGRAMS)
        named = {"user.name": user, "program.name": program, "host.name": f"c1-{number % 3}"}
        known: Document = {name: value for name, value in named.items() if value is not None}
        if number % 7:
            known["memory.rss.bytes"] = int(10 ** dice.uniform(6, 10))
        if number % 5:
            known["program.tags"] = sorted(dice.sample(["gpu", "mpi", "big"], 2))
        found.append(sample(number, **known))
    return found


def rank(values: list[int], percent: float) -> int:
    return sorted(values)[math.ceil(len(values) * percent / 100 - 1e-9) - 1]


@STORES
@pytest.mark.parametrize(
    ("by", "fields"),
    [
        (("user", "program"), ("user.name", "program.name")),
        (("program", "host", "user"), ("program.name", "host.name", "user.name")),
        (("tag", "user"), ("program.tags", "user.name")),
    ],
)
def test_others_are_of_all_values_left(
    other: Store, by: tuple[str, ...], fields: tuple[str, ...]
) -> None:
    """
    The others' percentiles and distinct counts are those of the samples no shown row has.
    """
    made = samples()
    other.write(made, "create")
    measures = "memory_median, memory_p90, processes, samples"
    found = answer(other, f"{measures} by {', '.join(by)} during all top 4 order samples")
    shown = [tuple(row[name] for name in by) for row in found.rows]
    left = [document for document in made if not any(_in(document, fields, k) for k in shown)]
    values = [int(str(d["memory.rss.bytes"])) for d in left if "memory.rss.bytes" in d]
    assert 0 < len(left) < len(made)
    assert found.others == {
        "memory_median": pytest.approx(rank(values, 50), rel=0.02),
        "memory_p90": pytest.approx(rank(values, 90), rel=0.02),
        "processes": len({d["process.entity_id"] for d in left}),
        "samples": len(left),
    }


def _in(document: Document, fields: tuple[str, ...], key: tuple[object, ...]) -> bool:
    for field, value in zip(fields, key, strict=True):
        held = document.get(field)
        if value not in (held if isinstance(held, list) else [held]):
            return False
    return True


@STORES
def test_others_by_class_and_kind(other: Store) -> None:
    """
    Classes of a number and kinds of node have others, day by day too.
    """
    made = samples()
    nodes = [
        {**heartbeat(f"c1-{n}", "2026-11-20T11:00:00.000Z"), "node.type": "thin" if n else "fat"}
        for n in range(2)
    ]
    other.write([*made, *nodes], "create")
    found = answer(
        other,
        "memory_median, samples by memory_class, node_type per day during all top 3 order samples",
    )
    kinds = {"c1-0": "fat", "c1-1": "thin"}
    shown = {(row["memory_class"], row["node_type"]) for row in found.rows}
    assert 3 == len(shown)

    def edge(document: Document) -> float | None:
        value = document.get("memory.rss.bytes")
        if value is None:
            return None
        return max((e for p in range(24, 41, 2) if (e := 2.0**p) <= int(str(value))), default=0)

    left = [d for d in made if (edge(d), kinds.get(str(d["host.name"]))) not in shown]
    values = [int(str(d["memory.rss.bytes"])) for d in left if "memory.rss.bytes" in d]
    assert found.others == {
        "memory_median": pytest.approx(rank(values, 50), rel=0.02),
        "samples": len(left),
    }
    assert [len(left)] == [row["samples"] for row in found.others_by_time]


@STORES
@pytest.mark.parametrize(
    "by", ["hour_of_day, gpu_model", "gpu_model, user, hour_of_day", "hour_of_day, node_type"]
)
def test_others_by_hour_and_set(other: Store, by: str) -> None:
    """
    A run's day is in many rows by its hours and its cards: others have the hours, of each run, in
    which no shown row has it.
    """
    dice = random.Random(11)
    kinds = [
        {**heartbeat(host, "2026-11-20T11:00:00.000Z"), "node.type": kind, "cluster": cluster}
        for host, kind in zip(HOSTS, ("thin", "fat") * 3, strict=True)
        for cluster in ("fox", "betzy")
    ]
    made = [*kinds, *(slice_of(dice, number) for number in range(120))]
    other.write(made, "replace")
    measures = "core_hours_allocated, gpu_hours_allocated"
    for text in (
        f"{measures} by {by} during all top 9",
        f"{measures} by {by} per week during all top 2",
    ):
        found = answer(other, text)
        shown = {tuple(row[name] for name in found.question.by) for row in found.rows}
        right = Truth(made, ZONE).others(found.question, shown)
        assert found.others == pytest.approx(right, rel=1e-9)
        assert all(right.values())
        if found.question.bucket:
            whole = [float(row["core_hours_allocated"] or 0) for row in found.others_by_time]
            assert sum(whole) == pytest.approx(right["core_hours_allocated"], rel=1e-9)
